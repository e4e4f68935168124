/** Block overrides under the names that geth, Erigon, reth and Anvil read. */
import { describe, expect, it } from 'vitest'
import { BlockOverridesObject } from '../../../src/rpc/wire/block-overrides.ts'
import { N } from '../../support/fake-chain.ts'
import { refusals } from '../../support/refusals.ts'

const HASH = `0x${'12'.repeat(32)}`

describe('BlockOverridesObject', () => {
  it.each([
    [{ number: '0x64' }, { number: 100 }],
    [{ number: 100 }, { number: 100 }],
    [{ blockNumber: '100' }, { number: 100 }],
    [{ time: '0x64' }, { timestamp: 100 }],
    [{ timestamp: 100 }, { timestamp: 100 }],
    [{ gasLimit: '0x5208' }, { gasLimit: 21_000n }],
    [{ feeRecipient: N }, { coinbase: N }],
    [{ coinbase: N }, { coinbase: N }],
    [{ difficulty: '0x5' }, { difficulty: 5n }],
    [{ prevRandao: HASH }, { difficulty: BigInt(HASH) }],
    [{ random: HASH }, { difficulty: BigInt(HASH) }],
    [{ prevRandao: HASH, difficulty: '0x0' }, { difficulty: BigInt(HASH) }],
    [{ baseFeePerGas: '0x7' }, { minimumGasPrice: 7n }],
    [{ baseFee: '0x7' }, { minimumGasPrice: 7n }],
    [
      { blockHash: { 2: HASH, '0x3': HASH } },
      {
        blockHashes: new Map([
          [2, HASH],
          [3, HASH],
        ]),
      },
    ],
    [{ number: null, blobBaseFee: null, other: 1 }, {}],
    [{}, {}],
  ])('reads %j', (sent, values) => {
    expect(BlockOverridesObject.read(sent, 'blockOverrides')).toEqual(values)
  })

  const amount = (member: string) =>
    `Invalid parameter.${member}: expected a number, in hex with 0x or in decimal digits.`
  refusals(BlockOverridesObject, [
    [null, 'Invalid parameter: expected an object.'],
    [[], 'Invalid parameter: expected an object.'],
    [
      { number: '0xzz' },
      `Invalid parameter.number: expected a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
    ],
    [{ time: -1 }, 'Invalid parameter.time: expected a whole number from 0 to 8640000000000.'],
    [{ gasLimit: 'zz' }, amount('gasLimit')],
    [
      { gasLimit: `0x${'f'.repeat(20)}` },
      `Invalid parameter.gasLimit: expected gas up to ${Number.MAX_SAFE_INTEGER}.`,
    ],
    [{ feeRecipient: '0x12' }, 'Invalid parameter.feeRecipient: expected an address.'],
    [{ coinbase: 5 }, 'Invalid parameter.coinbase: expected an address.'],
    [{ difficulty: {} }, amount('difficulty')],
    [{ prevRandao: 'zz' }, amount('prevRandao')],
    [{ baseFeePerGas: '-1' }, amount('baseFeePerGas')],
    [{ blockHash: [] }, 'Invalid parameter.blockHash: expected an object.'],
    [{ blockHash: { zz: HASH } }, 'Invalid parameter.blockHash key zz: expected a block number.'],
    [{ blockHash: { 2: '0x12' } }, 'Invalid parameter.blockHash.2: expected 32 bytes in hex.'],
    [{ blobBaseFee: '0x1' }, 'parameter.blobBaseFee is not supported'],
    [{ beaconRoot: HASH }, 'parameter.beaconRoot is not supported'],
    [{ withdrawals: [] }, 'parameter.withdrawals is not supported'],
    [{ time: 1, timestamp: 1 }, 'parameter.time and parameter.timestamp name the same field'],
    [{ coinbase: N, feeRecipient: N }, 'parameter.feeRecipient and parameter.coinbase name the same field'],
  ])
})
