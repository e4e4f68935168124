/** Transactions, blocks and reorganisations under chaos, on a served node. */
import { afterEach, describe, expect, it } from 'vitest'
import { sublistLimits } from '../../src/chain/config.ts'
import type { ChaosPlanInput } from '../../src/chaos/plan.ts'
import { toQuantity } from '../../src/encoding/hex.ts'
import {
  ALWAYS,
  calmResult,
  disturbedNode,
  FROZEN,
  PATIENT,
  RECEIVER,
  transfer,
} from '../support/disturbed-node.ts'
import { COW } from '../support/noting-chain.ts'
import { replayFromGenesis } from '../support/replay.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { BAD_DAY } from './survivor.ts'

let served: ServedNode
afterEach(() => served.close())

/** Opens a node on which the plan is set after some blocks. */
async function disturbed(plan: ChaosPlanInput | string, blocks = 0): Promise<void> {
  served = await disturbedNode(plan, blocks)
}

/** Gas that the transactions of a block can use: that of its sequential list (RSKIP-144). */
function gasOf({ gasLimit, number }: { gasLimit: string; number: string }): bigint {
  return sublistLimits(served.node.engine.config, BigInt(gasLimit), Number(number)).sequential
}

describe('blocks and transactions', () => {
  const height = async () => Number(await served.call('evm_chaos').then(() => served.call('eth_blockNumber')))

  it('are late by some calls', async () => {
    await disturbed({ blocks: { late: { ...ALWAYS, calls: 2 } } })
    await served.call('eth_sendRawTransaction', await transfer(0))
    expect([await height(), await height(), await height()]).toEqual([0, 0, 1])
  })

  it('are empty, or full', async () => {
    await disturbed({ blocks: { full: { ...ALWAYS, transactions: 1 } } })
    await served.call('evm_setAutomine', false)
    for (const nonce of [0, 1, 2]) await served.call('eth_sendRawTransaction', await transfer(nonce))
    await served.call('evm_setAutomine', true)
    // Automining that is switched on takes all of the pool, as evm_mine does.
    expect((await served.call('eth_getBlockByNumber', 'latest', false)).transactions).toHaveLength(4)
    await served.call('evm_setChaos', { blocks: { empty: ALWAYS } })
    await served.call('eth_sendRawTransaction', await transfer(3))
    expect((await served.call('eth_getBlockByNumber', 'latest', false)).transactions).toHaveLength(1)
    await served.call('evm_setChaos', null)
    expect((await served.call('eth_getBlockByNumber', 'latest', false)).transactions).toHaveLength(2)
  })

  it('are in another order within a block; those of one sender stay in order', async () => {
    await disturbed({ blocks: { late: { ...ALWAYS, calls: 6 } }, transactions: { reordered: ALWAYS } })
    const senders = (await calmResult(served, 'eth_accounts')).slice(0, 3)
    const byPrice: string[] = []
    for (let i = 0; i < 6; i++) {
      const transaction = { from: senders[i % 3], to: RECEIVER, gasPrice: toQuantity(BigInt(100 - i)) }
      byPrice.push(await served.call('eth_sendTransaction', transaction))
    }
    for (let i = 0; i < 3; i++) await served.call('eth_chainId')
    const { transactions } = await calmResult(served, 'eth_getBlockByNumber', '0x1', true)
    const mined: { hash: string; from: string; nonce: string }[] = transactions.slice(0, -1)
    expect(mined.map(({ hash }) => hash).toSorted()).toEqual(byPrice.toSorted())
    expect(mined.map(({ hash }) => hash)).not.toEqual(byPrice)
    for (const sender of senders) {
      expect(mined.filter(({ from }) => from === sender).map(({ nonce }) => nonce)).toEqual(['0x0', '0x1'])
    }
    expect((await served.call('evm_chaos')).counts).toEqual({ 'late-block': 1, 'reordered-block': 1 })
  })

  it('are replaced as deep as the plan says, with the replaced ones as uncles', async () => {
    await disturbed({ reorganisations: { ...ALWAYS, depth: 3, calls: 1 } }, 2)
    const depths: number[] = []
    served.node.engine.events.on('chain', ({ removed }) => depths.push(removed.length))
    await served.call('evm_mine', { blocks: 3 })
    const hashes = async () =>
      Promise.all(
        ['0x2', '0x3', '0x4', '0x5'].map(async (number) =>
          calmResult(served, 'eth_getBlockByNumber', number, false),
        ),
      )
    const before = await hashes()
    for (let i = 0; i < 3; i++) await served.call('eth_chainId')
    const after = await hashes()
    expect(Math.max(...depths)).toBe(3)
    // What was there before chaos was set stays.
    expect(after[0].hash).toBe(before[0].hash)
    for (const i of [1, 2, 3]) expect(after[i].hash).not.toBe(before[i].hash)
    const head = await calmResult(served, 'eth_getBlockByNumber', 'latest', false)
    expect(after.flatMap(({ uncles }) => uncles).concat(head.uncles)).not.toEqual([])
  })

  it('are full: what the taken transactions leave of the gas is used up, and the others wait', async () => {
    await disturbed({ blocks: { full: { ...ALWAYS, transactions: 1 } } })
    const hashes = new Map<number, string>()
    // The last one makes the others runnable.
    for (const nonce of [2, 1, 0]) {
      hashes.set(nonce, await served.call('eth_sendRawTransaction', await transfer(nonce)))
    }
    const read = async (number: string) => await calmResult(served, 'eth_getBlockByNumber', number, true)
    const first = await read('0x1')
    const [taken, filling, remasc] = first.transactions
    expect(taken.hash).toBe(hashes.get(0))
    expect(first.transactions).toHaveLength(3)
    expect(BigInt(first.gasUsed)).toBe(gasOf(first))
    expect(filling).toMatchObject({ to: null, gasPrice: first.minimumGasPrice })
    expect(filling.from).not.toBe(COW)
    expect(remasc.value).toBe('0x0')
    const receipt = await calmResult(served, 'eth_getTransactionReceipt', filling.hash)
    expect(receipt).toMatchObject({ status: '0x0', gasUsed: filling.gas })
    for (let i = 0; i < 5; i++) await served.call('eth_chainId')
    expect((await read('0x2')).transactions[0].hash).toBe(hashes.get(1))
    expect((await read('0x3')).transactions[0].hash).toBe(hashes.get(2))
    expect((await served.call('evm_chaos')).counts).toEqual({ 'full-block': 3 })
    // What filled a block does not come back with the transactions of a replaced one.
    await served.call('evm_reorg', { depth: 3 })
    const { pending } = await served.call('txpool_content')
    expect(Object.keys(pending)).toEqual([COW.slice(2)])
  })

  it('are full where gas has a price too', async () => {
    served = await servedNode(FROZEN)
    await served.call('anvil_setMinGasPrice', '0x7')
    await served.call('evm_setChaos', { blocks: { full: { ...ALWAYS, transactions: 0 } } })
    await served.call('eth_sendTransaction', { from: COW, to: RECEIVER, gasPrice: '0x7' })
    const block = await calmResult(served, 'eth_getBlockByNumber', '0x1', true)
    expect(BigInt(block.gasUsed)).toBe(gasOf(block))
    expect(block.minimumGasPrice).toBe('0x7')
    expect(block.transactions).toHaveLength(2)
    expect(block.transactions[0]).toMatchObject({ gasPrice: '0x7', gas: block.gasUsed })
  })

  it('leave a chain that follows from its genesis', async () => {
    served = await servedNode(FROZEN)
    const { latency: _, connections: __, statuses: ___, ...plan } = BAD_DAY
    await served.call('evm_setChaos', plan, '3')
    for (let i = 0; i < 20; i++) {
      await served.call('eth_sendTransaction', { from: COW, to: RECEIVER, value: '0x1' })
      await served.call('eth_blockNumber')
    }
    const { counts } = await served.call('evm_chaos')
    for (const name of ['full-block', 'reorganisation', 'forgotten'])
      expect(counts[name], name).toBeGreaterThan(0)
    await served.call('evm_setChaos', null)
    expect(await replayFromGenesis(served.node)).toBeGreaterThan(5)
  })

  it('are forgotten by the pool, and can be sent again', async () => {
    await disturbed({ transactions: { forgotten: ALWAYS } })
    const raw = await transfer(0)
    const hash = await served.call('eth_sendRawTransaction', raw)
    expect(await served.call('eth_getTransactionByHash', hash)).toBeNull()
    await served.call('evm_setChaos', null)
    expect(await served.call('eth_sendRawTransaction', raw)).toBe(hash)
    expect((await served.call('eth_getTransactionReceipt', hash)).status).toBe('0x1')
  })

  it('are never mined while others are', async () => {
    await disturbed({ transactions: { neverMined: ALWAYS } })
    const hash = await served.call('eth_sendRawTransaction', await transfer(0))
    expect(await height()).toBe(1)
    expect((await served.call('eth_getTransactionByHash', hash)).blockNumber).toBeNull()
  })

  it.each(['repriced', 'cancelled'] as const)('are %s by their sender', async (by) => {
    await disturbed({ transactions: { replaced: { ...ALWAYS, by, calls: 1 } } })
    const hash = await served.call('eth_sendRawTransaction', await transfer(0))
    await height()
    await served.call('eth_chainId')
    await served.call('eth_chainId')
    await served.call('eth_chainId')
    expect(await served.call('eth_getTransactionByHash', hash)).toBeNull()
    await served.call('evm_setChaos', null)
    expect(await served.call('eth_getTransactionCount', COW, 'latest')).toBe('0x1')
    expect(await served.call('eth_getBalance', RECEIVER)).toBe(by === 'repriced' ? '0x1' : '0x0')
  })

  it('are replaced by a branch with uncles; lost transactions do not come back', async () => {
    await disturbed({ reorganisations: { ...ALWAYS, depth: 1, calls: 0, lost: 1 } }, 2)
    const hash = await served.call('eth_sendRawTransaction', await transfer(0))
    expect(await served.call('eth_getTransactionReceipt', hash)).toBeNull()
    expect(await height()).toBeGreaterThanOrEqual(4)
    const blocks = await Promise.all(
      ['0x3', '0x4'].map((number) => served.call('eth_getBlockByNumber', number, false)),
    )
    expect(blocks.flatMap(({ uncles }) => uncles)).toHaveLength(1)
    expect((await served.call('evm_chaos')).counts).toMatchObject({
      reorganisation: 1,
      'lost-transaction': 1,
    })
    await served.call('evm_setChaos', null)
    expect(await served.call('eth_getTransactionByHash', hash)).toBeNull()
  })

  it('come back after a reorganisation unless they are lost', async () => {
    await disturbed({ reorganisations: { probability: 0.5, depth: 1, calls: 0 } }, 2)
    const hashes = []
    for (let nonce = 0; nonce < 6; nonce++) {
      hashes.push(await served.call('eth_sendRawTransaction', await transfer(nonce)))
      await served.call('eth_chainId')
      await served.call('eth_chainId')
    }
    expect((await served.call('evm_chaos')).counts.reorganisation).toBeGreaterThan(0)
    await served.call('evm_setChaos', null)
    for (const hash of hashes)
      expect((await served.call('eth_getTransactionReceipt', hash)).status).toBe('0x1')
  })

  it('are late under mining on a timer too, and evm_mine always mines', async () => {
    await disturbed({ blocks: { late: { ...ALWAYS, calls: 10_000 } } })
    await served.call('evm_setIntervalMining', 5)
    await expect.poll(async () => (await served.call('evm_chaos')).counts['late-block'], PATIENT).toBe(1)
    expect(await height()).toBe(0)
    await served.call('evm_mine')
    expect(await height()).toBe(1)
  })
})
