/** Transactions that are sent under a condition (EIP-7796). */
import { Transaction, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../../src/index.ts'
import { B, COW_KEY } from '../../../support/fake-chain.ts'

const wallet = new Wallet(`0x${Buffer.from(COW_KEY).toString('hex')}`)
const CONTRACT = '0x00000000000000000000000000000000c0de0001'
const word = (digits: string) => `0x${digits.padStart(64, '0')}`

let node: Node
let raw: string
let root: string
const ask = (method: string, ...params: unknown[]) => node.request({ method, params })

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await ask('hardhat_setCode', CONTRACT, '0x00')
  await ask('hardhat_setStorageAt', CONTRACT, '0x1', word('2a'))
  await ask('evm_mine', 2_000_000_000)
  await ask('evm_setNextBlockTimestamp', 2_000_000_010)
  root = ((await ask('eth_getProof', CONTRACT, [], 'latest')) as { storageHash: string }).storageHash
  raw = await wallet.signTransaction({ type: 0, nonce: 0, gasPrice: 1, gasLimit: 21_000, chainId: 33, to: B })
})
afterAll(() => node.close())

/** keccak-256 of an empty string in RLP, as in the Yellow Paper. */
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

describe('eth_sendRawTransactionConditional', () => {
  it.each([
    [{ blockNumberMin: '0x3' }, 'block number 2 is below 3'],
    [{ blockNumberMax: 1 }, 'block number 2 is above 1'],
    [{ timestampMin: 2_000_000_011 }, 'timestamp 2000000010 is below 2000000011'],
    [{ timestampMax: 2_000_000_009 }, 'timestamp 2000000010 is above 2000000009'],
    [{ knownAccounts: { [CONTRACT]: { '0x1': word('2b') } } }, `slot 1 of ${CONTRACT} has a different value`],
    [{ knownAccounts: { [B]: word('1') } }, `the storage root of ${B} is ${EMPTY_ROOT}`],
  ])('refuses %j', async (condition, reason) => {
    await expect(ask('eth_sendRawTransactionConditional', raw, condition)).rejects.toMatchObject({
      code: -32010,
      message: `transaction condition is not met: ${reason}`,
    })
    expect(await ask('txpool_status')).toEqual({ pending: 0, queued: 0 })
  })

  it('sends when all conditions hold', async () => {
    const condition = {
      blockNumberMin: 2,
      blockNumberMax: 2,
      timestampMin: '0x77359400',
      timestampMax: null,
      knownAccounts: {
        [CONTRACT]: { '0x1': '0x2a', '0x2': '0x0' },
        [CONTRACT.toUpperCase().replace('X', 'x')]: root,
      },
    }
    expect(await ask('eth_sendRawTransactionConditional', raw, condition)).toBe(Transaction.from(raw).hash)
    expect(await ask('txpool_status')).toEqual({ pending: 1, queued: 0 })
  })

  it('accepts at most a thousand lookups', async () => {
    const slots = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`0x${i.toString(16)}`, '0x0']))
    await expect(
      ask('eth_sendRawTransactionConditional', raw, { knownAccounts: { [B]: slots } }),
    ).rejects.toMatchObject({
      code: -32602,
      message: 'Invalid condition.knownAccounts: expected at most 1000 storage roots and slots.',
    })
  })
})
