/** What callers over HTTP see of a chain that forks, grows uncles and reorganises on purpose. */
import { Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeBlock } from '../../src/chain/block.ts'
import { toHex } from '../../src/encoding/hex.ts'
import type { ChainUpdate } from '../../src/engine/model.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { saying } from '../support/refusals.ts'
import { replayFromGenesis } from '../support/replay.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const COW = new Wallet('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const COINBASE = `0x${'c0'.repeat(20)}`
const hex = (number: number) => `0x${number.toString(16)}`
/** Logs its input with a topic of its own. */
const LOGGER = Buffer.from(
  deployer(assemble('CALLDATASIZE PUSH1 0 PUSH1 0 CALLDATACOPY 7 CALLDATASIZE PUSH1 0 LOG1 STOP')),
).toString('hex')

let served: ServedNode
const updates: ChainUpdate[] = []
beforeEach(async () => {
  served = await servedNode({ mining: 'manual' })
  updates.length = 0
  served.node.engine.events.on('chain', (update) => updates.push(update))
})
afterEach(() => served.close())

const call = (method: string, ...params: unknown[]) => served.call(method, ...params)
const head = () => call('eth_getBlockByNumber', 'latest', false)
const mine = (options?: unknown) => call('evm_mine', ...(options === undefined ? [] : [options]))
const nonceOf = async (address: string, tag: string) =>
  Number(await call('eth_getTransactionCount', address, tag))

function signed(nonce: number, to: string | null = BOB, data = '0x', value = 1) {
  return COW.signTransaction({
    type: 0,
    chainId: 33,
    nonce,
    value,
    data,
    gasLimit: 200_000,
    gasPrice: 0,
    ...(to !== null && { to }),
  })
}
const send = async (...args: Parameters<typeof signed>): Promise<string> =>
  call('eth_sendRawTransaction', await signed(...args))

async function branchOf(count: number, ofNode = served): Promise<string[]> {
  const { engine } = ofNode.node
  const hashes: string[] = []
  for (let number = engine.queries.head().block.header.number; hashes.length < count; number--) {
    hashes.unshift((await ofNode.call('eth_getBlockByNumber', hex(number), false)).hash)
  }
  return hashes
}

describe('evm_reorg', () => {
  it('replaces the last blocks by one more empty block, in one update', async () => {
    await mine({ blocks: 5 })
    const left = (await branchOf(3)).reverse()
    updates.length = 0
    const { removed, added } = await call('evm_reorg', { depth: 3 })
    expect(removed).toEqual(left)
    expect(added).toEqual(await branchOf(4))
    expect(updates).toHaveLength(1)
    expect(updates[0]?.removed.map(({ hash }) => hash)).toEqual(removed)
    expect(updates[0]?.added.map(({ hash }) => hash)).toEqual(added)
    expect(await head()).toMatchObject({ number: '0x6', uncles: [], totalDifficulty: '0x7' })
    // The old branch remains as side blocks.
    const old = await call('eth_getBlockByHash', left[0], false)
    expect(old).toMatchObject({ hash: left[0], number: '0x5' })
    await replayFromGenesis(served.node)
  })

  it('returns transactions to the pool, and removes their receipts and lookups', async () => {
    await mine()
    const first = await send(0)
    await mine()
    const second = await send(1)
    await mine()
    const waiting = await send(2)
    await call('evm_reorg', { depth: 2 })
    for (const hash of [first, second]) {
      expect(await call('eth_getTransactionReceipt', hash)).toBeNull()
      expect(await call('eth_getTransactionByHash', hash)).toMatchObject({ blockHash: null })
    }
    expect(await nonceOf(COW.address, 'latest')).toBe(0)
    expect(await nonceOf(COW.address, 'pending')).toBe(3)
    expect(await call('eth_getBalance', BOB, 'latest')).toBe(await call('eth_getBalance', BOB, '0x0'))
    await mine()
    const { hash, transactions } = await head()
    expect(transactions.slice(0, 3)).toEqual([first, second, waiting])
    expect(await call('eth_getTransactionReceipt', second)).toMatchObject({ blockHash: hash })
    await replayFromGenesis(served.node)
  })

  it('replaces a block with uncles by as many empty blocks as its weight requires', async () => {
    await mine({ blocks: 3 })
    await call('evm_reorg', { depth: 3 })
    await mine()
    const { uncles, number } = await head()
    expect(uncles.length).toBeGreaterThan(0)
    const { removed, added } = await call('evm_reorg', { depth: 1 })
    expect(removed).toHaveLength(1)
    // It weighed one, and one more for each uncle.
    expect(added).toHaveLength(uncles.length + 2)
    expect(Number((await head()).number)).toBe(Number(number) + uncles.length + 1)
  })

  it('mines given transactions with given timestamps and miners, and drops transactions that they invalidate', async () => {
    await mine({ timestamp: 1_000_000_000 })
    const lost = await send(0)
    const kept = await send(1)
    await mine({ timestamp: 1_000_000_010 })
    const instead = await signed(0, BOB, '0x', 5)
    const { added } = await call('evm_reorg', {
      depth: 1,
      blocks: [
        { transactions: [instead], timestamp: hex(1_000_000_020), coinbase: COINBASE },
        { timestamp: 1_000_000_030 },
      ],
    })
    const block = await call('eth_getBlockByHash', added[0], true)
    expect(block).toMatchObject({ timestamp: hex(1_000_000_020), miner: COINBASE, number: '0x2' })
    expect(block.transactions[0]).toMatchObject({ value: '0x5', nonce: '0x0' })
    expect((await head()).timestamp).toBe(hex(1_000_000_030))
    expect(await call('eth_getTransactionByHash', lost)).toBeNull()
    expect(await call('eth_getTransactionByHash', kept)).toMatchObject({ blockHash: null })
    await mine()
    expect((await head()).transactions[0]).toBe(kept)
    await replayFromGenesis(served.node)
  })

  it('includes the replaced blocks as uncles where the rules allow it', async () => {
    await mine({ blocks: 3 })
    const [replaced] = await branchOf(2)
    // Its child cannot be one: its parent is no ancestor.
    const { added } = await call('evm_reorg', { depth: 2, blocks: [{}, {}], uncles: true })
    const top = await head()
    expect(top).toMatchObject({ hash: added[1], number: '0x3', uncles: [replaced] })
    expect(top.cumulativeDifficulty).toBe('0x2')
    expect(top.totalDifficulty).toBe('0x5')
    expect(await call('eth_getUncleCountByBlockNumber', 'latest')).toBe('0x1')
    const uncle = await call('eth_getUncleByBlockHashAndIndex', top.hash, '0x0')
    expect(uncle).toMatchObject({ hash: replaced, number: '0x2', transactions: [] })
    expect(await call('eth_getUncleByBlockNumberAndIndex', 'latest', '0x1')).toBeNull()
    await replayFromGenesis(served.node)
  })

  it('refuses a branch that would not be heavier, or that cannot be built, and changes nothing', async () => {
    await mine()
    const taken = await send(0)
    await mine({ blocks: 2 })
    const before = await head()
    updates.length = 0
    const LIGHT = 'this branch would not be heavier than the 2 blocks that it replaces'
    const parent = Number((await call('eth_getBlockByNumber', '0x2', false)).timestamp)
    const refused: [unknown, string][] = [
      [{ depth: 2, blocks: [{}, {}] }, `blocks: ${LIGHT}`],
      [{ depth: 1, blocks: [] }, `blocks: ${LIGHT.replace('2 blocks', '1 block')}`],
      [{ depth: 0 }, 'depth: expected at least one block to replace'],
      [{ depth: 4 }, 'depth: a chain of height 3 does not have 4 blocks to replace'],
      [
        { depth: 1, blocks: [{ timestamp: 1 }, {}] },
        `blocks[0].timestamp: 1 must be greater than the parent's ${parent}`,
      ],
      [
        { depth: 1, blocks: [{}, { transactions: [await signed(7)] }] },
        "blocks[1].transactions[0]: nonce 7 is not the account's 1",
      ],
    ]
    for (const [options, words] of refused) {
      await expect(call('evm_reorg', options)).rejects.toThrow(saying(`-32602 ${words}`))
    }
    expect(await head()).toEqual(before)
    expect(updates).toEqual([])
    expect((await call('eth_getBlocksByNumber', '0x2')).length).toBe(1)
    expect(await call('eth_getTransactionReceipt', taken)).toMatchObject({ blockNumber: '0x2' })
  })

  it('updates logs with the chain', async () => {
    const deployment = await send(0, null, `0x${LOGGER}`, 0)
    await mine()
    const { contractAddress } = await call('eth_getTransactionReceipt', deployment)
    await send(1, contractAddress, '0xaa', 0)
    await mine()
    const filter = { address: contractAddress, fromBlock: '0x0', toBlock: 'latest' }
    const [before, ...rest] = await call('eth_getLogs', filter)
    expect(before).toMatchObject({ data: '0xaa', blockNumber: '0x2' })
    expect(rest).toEqual([])
    const planned = [{ transactions: [await signed(1, contractAddress, '0xbb', 0)] }, {}]
    await call('evm_reorg', { depth: 1, blocks: planned })
    const [after] = await call('eth_getLogs', filter)
    expect(after).toMatchObject({ data: '0xbb', blockNumber: '0x2', removed: false })
    expect(after.blockHash).not.toBe(before.blockHash)
    // By hash the log of the other branch can still be read.
    expect(await call('eth_getLogs', { blockHash: before.blockHash })).toMatchObject([{ data: '0xaa' }])
    await call('evm_reorg', { depth: 2 })
    expect(await call('eth_getLogs', filter)).toEqual([])
  })

  it('keeps only the snapshots below the fork', async () => {
    await mine({ blocks: 2 })
    const low = await call('evm_snapshot')
    const lowHead = await head()
    await mine({ blocks: 2 })
    const high = await call('evm_snapshot')
    await call('evm_reorg', { depth: 1 })
    expect(await call('evm_revert', high)).toBe(false)
    expect(await call('evm_revert', low)).toBe(true)
    expect((await head()).hash).toBe(lowHead.hash)
    // Side blocks above it are deleted too, so the next block has no uncles to include.
    expect(await call('eth_getBlocksByNumber', '0x4')).toEqual([])
    await mine({ blocks: 3 })
    expect((await head()).uncles).toEqual([])
    await replayFromGenesis(served.node)
  })
})

describe('siblings', () => {
  it('are mined on a parent, remain side blocks, and become uncles of the next block', async () => {
    await mine({ blocks: 2 })
    const top = await head()
    const sent = await send(0)
    updates.length = 0
    expect(await mine({ parent: top.parentHash })).toBeNull()
    expect((await head()).hash).toBe(top.hash)
    expect(updates).toEqual([])
    const known = await call('eth_getBlocksByNumber', '0x2')
    expect(known).toHaveLength(2)
    const sibling = known.find(({ hash }: { hash: string }) => hash !== top.hash).hash
    // What a sibling mines is mined there only.
    expect(await call('eth_getTransactionReceipt', sent)).toBeNull()
    expect((await call('eth_getBlockByNumber', 'pending', false)).uncles).toEqual([sibling])
    await mine()
    expect(await head()).toMatchObject({ uncles: [sibling], totalDifficulty: '0x5' })
    expect(await call('eth_getTransactionReceipt', sent)).toMatchObject({ blockNumber: '0x3' })
    await mine()
    expect((await head()).uncles).toEqual([])
    await replayFromGenesis(served.node)
  })

  it('become canonical when more of them are mined', async () => {
    await mine({ blocks: 3 })
    const base = (await branchOf(3))[0]
    await mine({ parent: base, blocks: 3 })
    expect(await head()).toMatchObject({ number: '0x4' })
    // The second of them names the first that it replaces, and so weighs more at the same height.
    expect(updates.map(({ removed, added }) => [removed.length, added.length])).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
      [2, 2],
      [0, 1],
    ])
    await replayFromGenesis(served.node)
  })

  it('need a known parent, and a later timestamp than the parent', async () => {
    await mine({ timestamp: 2_000_000_000 })
    const { hash } = await head()
    const parent = `0x${'12'.repeat(32)}`
    await expect(mine({ parent })).rejects.toThrow(saying(`-32602 parent: block ${parent} is unknown`))
    await expect(mine({ parent: hash, timestamp: 1_999_999_999 })).rejects.toThrow(
      saying("-32602 timestamp 1999999999 must be greater than the parent's 2000000000"),
    )
  })

  it('are included within seven generations, ten at a time, lowest first', async () => {
    await mine()
    const base = (await head()).hash
    await mine({ blocks: 1 })
    for (let i = 0; i < 12; i++) await mine({ parent: base })
    await mine({ blocks: 3 })
    const uncles = (
      await Promise.all(['0x3', '0x4', '0x5'].map((at) => call('eth_getBlockByNumber', at, false)))
    ).map((block) => block.uncles)
    expect(uncles.map(({ length }) => length)).toEqual([10, 2, 0])
    expect(uncles[0]).toEqual([...uncles[0]].sort())
    expect(new Set(uncles.flat()).size).toBe(12)
    await replayFromGenesis(served.node)
  })

  it('are too old after six further heights', async () => {
    await mine({ blocks: 3 })
    const [base] = await branchOf(2)
    const other = await servedNode({ mining: 'manual' })
    // The other node makes a sibling of block 3 that this one receives too late.
    for (const hash of await branchOf(3)) await importInto(other, hash)
    await other.call('evm_mine', { parent: base })
    const sibling = (await other.call('eth_getBlocksByNumber', '0x3')).at(-1).hash
    await mine({ blocks: 6 })
    const raw = rawBlock(other, sibling)
    expect(await call('evm_importBlock', await raw)).toMatchObject({ result: 'IMPORTED_NOT_BEST' })
    await mine()
    expect(await head()).toMatchObject({ number: '0xa', uncles: [] })
    await other.close()
  })
})

async function rawBlock(from: ServedNode, hash: string): Promise<string> {
  const { engine } = from.node
  const view = await engine.queries.block({ hash: hash as `0x${string}` })
  if (view === undefined) throw new Error(`no block ${hash}`)
  return toHex(encodeBlock(view.executed.block, engine.config))
}

const importInto = async (other: ServedNode, hash: string) =>
  other.call('evm_importBlock', await rawBlock(served, hash))

describe('evm_importBlock', () => {
  it('takes blocks of another node, once each, parents first', async () => {
    await send(0)
    await mine({ blocks: 2 })
    const [one, two] = await branchOf(2)
    const other = await servedNode({ mining: 'manual' })
    await expect(importInto(other, two as string)).rejects.toThrow(
      saying(`-32000 block 2: the parent ${one} is unknown`),
    )
    const refused = { error: { data: { rule: 'parentHash', height: 2, found: one } } }
    expect(await other.reply('evm_importBlock', [await rawBlock(served, two as string)])).toMatchObject(
      refused,
    )
    expect(await importInto(other, one as string)).toEqual({
      result: 'IMPORTED_BEST',
      hash: one,
      number: '0x1',
    })
    expect(await importInto(other, one as string)).toEqual({ result: 'EXIST', hash: one, number: '0x1' })
    expect(await importInto(other, two as string)).toMatchObject({ result: 'IMPORTED_BEST' })
    expect(await other.call('eth_getBlockByNumber', 'latest', true)).toEqual(
      await call('eth_getBlockByNumber', 'latest', true),
    )
    await replayFromGenesis(other.node)
    await other.close()
  })
})
