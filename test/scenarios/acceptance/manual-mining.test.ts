/** Acceptance checks of the chain's RPC by their numbers, over HTTP: a node that mines on request. */
import { Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { A, A_KEY, B, callsTo, LOG2 } from './calls.ts'

let t: ServedNode
const { error, transfer } = callsTo(() => t)

afterEach(() => t.close())

describe('a node that mines on request', () => {
  beforeEach(async () => {
    t = await servedNode({ mining: 'manual' })
  })
  const sign = (fields: object) =>
    new Wallet(A_KEY).signTransaction({
      type: 0,
      to: B,
      gasLimit: 21000,
      chainId: 33,
      gasPrice: 0,
      ...fields,
    })

  it('58, 105, 106, 114, 130, 136, 193: the pool', async () => {
    const raw = await sign({ nonce: 0, gasPrice: 0x64 })
    const first = await t.call('eth_sendRawTransaction', raw)
    expect(await t.call('eth_getTransactionCount', A, 'pending')).toBe('0x1')
    expect(await t.call('eth_getTransactionCount', A, 'latest')).toBe('0x0')
    expect(await error('eth_sendRawTransaction', [raw])).toEqual({
      code: -32010,
      message: 'pending transaction with same hash already exists',
    })
    expect(await error('eth_sendRawTransaction', [await sign({ nonce: 0, gasPrice: 0x8b })])).toEqual({
      code: -32010,
      message: 'gas price not enough to bump transaction',
    })
    const second = await t.call('eth_sendRawTransaction', await sign({ nonce: 0, gasPrice: 0x8c }))
    expect(await t.call('eth_getTransactionByHash', first)).toBeNull()
    expect(await t.call('eth_getTransactionByHash', second)).toMatchObject({
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    })
    expect(await t.call('eth_getTransactionReceipt', second)).toBeNull()
    const queued = await t.call('eth_sendRawTransaction', await sign({ nonce: 5 }))
    expect(await t.call('eth_getTransactionByHash', queued)).toBeNull()
    const waiting = await t.call('eth_pendingTransactions')
    expect(waiting.map((one: { hash: string }) => one.hash)).toEqual([second])
    expect((await t.call('eth_getBlockByNumber', 'pending')).transactions).toContain(second)
    expect(await t.call('eth_getBlockTransactionCountByNumber', 'pending')).toBe('0x1')
    await t.call('evm_mine')
    expect((await t.call('eth_getTransactionReceipt', second)).status).toBe('0x1')

    for (const nonce of [1, 2]) {
      await t.call('eth_sendTransaction', { from: A, data: LOG2, gas: '0x20000', nonce: `0x${nonce}` })
    }
    await t.call('evm_mine')
    const indexes = (await t.call('eth_getLogs', {})).map((log: { logIndex: string }) => log.logIndex)
    expect(indexes).toEqual(['0x0', '0x1', '0x2', '0x3'])

    const snapshot = await t.call('evm_snapshot')
    await t.call('evm_mine')
    const pooled = await t.call('eth_sendRawTransaction', await sign({ nonce: 3 }))
    expect(await t.call('evm_revert', snapshot)).toBe(true)
    expect(await t.call('eth_getTransactionByHash', pooled)).toBeNull()
  })

  it('197: timestamps strictly increase, and the next one can be set exactly', async () => {
    await t.call('evm_mine', { blocks: 5 })
    const times: number[] = []
    for (let n = 1; n <= 5; n++)
      times.push(Number((await t.call('eth_getBlockByNumber', `0x${n}`)).timestamp))
    expect([...times].sort((a, b) => a - b)).toEqual(times)
    expect(new Set(times).size).toBe(5)
    const next = (times[4] as number) + 5000
    await t.call('evm_setNextBlockTimestamp', next)
    await t.call('evm_mine')
    expect(Number((await t.call('eth_getBlockByNumber', 'latest')).timestamp)).toBe(next)
    expect((await error('evm_setNextBlockTimestamp', [next])).code).toBe(-32602)
    await t.call('evm_setAutomine', true)
    await transfer()
    expect(await t.call('eth_blockNumber')).toBe('0x7')
  })
})
