/** Release requests: which amounts are accepted, what is logged, returned and queued. */

import { encodeAbiParameters, keccak256, parseAbiParameters, toHex as text } from 'viem'
import { describe, expect, it } from 'vitest'
import { impersonatedTransaction, signTransaction } from '../../../../src/chain/transaction.ts'
import { EMPTY } from '../../../../src/encoding/bytes.ts'
import { fromHex, type Hex, toFixedHex } from '../../../../src/encoding/hex.ts'
import { encodeInteger } from '../../../../src/evm/precompiles/bridge/storage/store.ts'
import type { PrecompileEnvironment } from '../../../../src/evm/precompiles/precompile.ts'
import { CELL } from '../../../../src/state/bridge-cells.ts'
import { freshBridge } from './calls.ts'

const BRIDGE: Hex = '0x0000000000000000000000000000000001000006'
const COW = fromHex('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
const SATOSHI = 10n ** 10n

/** The reference node's record of peg-outs by `cow` (bridge-cells.json): hash of the key, and the address in the log. */
const KEY_HASH = 'f7ee9ab7297134a0ccc76f3d50e94def17488f2c'
const ADDRESS = 'n47u2xVMrzaVpgGDK5TJjZHKggM7r8CdAm'

function payment(value: bigint) {
  const unsigned = { nonce: 0n, gasPrice: 0n, gasLimit: 50_000n, to: BRIDGE, value, data: EMPTY, chainId: 33 }
  return signTransaction(unsigned, COW)
}

function byTransaction(value: bigint): Partial<PrecompileEnvironment> {
  const transaction = payment(value)
  return { isTop: true, isLocal: false, caller: transaction.from, value, transaction }
}

const topic = (signature: string) => keccak256(text(signature))

function rejected(sender: Hex, wei: bigint, reason: bigint) {
  return {
    topics: [topic('release_request_rejected(address,uint256,int256)'), toFixedHex(BigInt(sender), 32)],
    data: encodeAbiParameters(parseAbiParameters('uint256, int256'), [wei, reason]),
  }
}

describe('a release request of a transaction', () => {
  it('is queued from 250,000 satoshi on', () => {
    const bridge = freshBridge()
    const value = 250_000n * SATOSHI + 7n
    const env = byTransaction(value)
    expect(bridge.raw('0x', env)).toBe('0x')
    const { hash, from } = payment(value)
    expect(bridge.logs).toEqual([
      {
        topics: [topic('release_request_received(address,string,uint256)'), toFixedHex(BigInt(from), 32)],
        data: encodeAbiParameters(parseAbiParameters('string, uint256'), [ADDRESS, value]),
      },
    ])
    expect(bridge.cell('releaseRequestQueue')).toBe('0xc0')
    expect(bridge.cell('releaseRequestQueueWithTxHash')).toBe(`0xf83a94${KEY_HASH}8303d090a0${hash.slice(2)}`)
    expect(bridge.transfers).toEqual([])
    expect(bridge.call('getQueuedPegoutsCount')).toBe(1n)
  })

  it('below 250,000 satoshi is refunded', () => {
    const bridge = freshBridge()
    const value = 250_000n * SATOSHI - 1n
    const env = byTransaction(value)
    expect(bridge.raw('0x', env)).toBe('0x')
    expect(bridge.logs).toEqual([rejected(payment(value).from, value, 1n)])
    expect(bridge.transfers).toEqual([[payment(value).from, value]])
    expect(bridge.storage.cells.size).toBe(0)
  })

  it('is rejected with another reason when the fee determines the minimum', () => {
    const bridge = freshBridge()
    // 344 virtual bytes: 344,000 satoshi and a fifth.
    bridge.storage.setBytes(CELL.feePerKb, encodeInteger(1_000_000n))
    const least = 412_800n * SATOSHI
    bridge.raw('0x', byTransaction(least - SATOSHI))
    bridge.raw('0x', byTransaction(least))
    expect(bridge.logs).toHaveLength(2)
    expect(bridge.logs[0]).toEqual(rejected(payment(0n).from, least - SATOSHI, 3n))
    expect(bridge.call('getQueuedPegoutsCount')).toBe(1n)
  })

  it('raises the estimate of the next fee by one output', () => {
    const bridge = freshBridge()
    expect(bridge.call('getEstimatedFeesForNextPegOutEvent')).toBe(34_400n)
    bridge.raw('0x', byTransaction(10n ** 18n))
    expect(bridge.call('getEstimatedFeesForNextPegOutEvent')).toBe(37_600n)
  })

  it('fails without a signature to derive the address from', () => {
    const unsigned = { ...payment(10n ** 18n), to: BRIDGE }
    const from: Hex = `0x${'22'.repeat(20)}`
    const transaction = impersonatedTransaction(unsigned, from)
    const bridge = freshBridge()
    expect(bridge.raw('0x', { ...byTransaction(10n ** 18n), caller: from, transaction })).toBe('failure')
    expect(bridge.raw('0x', { isTop: true, value: 10n ** 18n })).toBe('failure')
  })
})

describe('a release request of a contract', () => {
  it('is rejected, and its value stays', () => {
    const bridge = freshBridge({ isLocal: false })
    expect(bridge.raw('0x', { value: 5n })).toBe('0x')
    expect(bridge.logs).toEqual([rejected(bridge.env.caller, 5n, 2n)])
    expect(bridge.transfers).toEqual([])
  })
})
