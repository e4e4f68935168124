import { describe, expect, it } from 'vitest'
import type { ExecutedBlock } from '../../src/chain/block.ts'
import { ZERO_BLOOM } from '../../src/chain/bloom.ts'
import type { Log, Receipt } from '../../src/chain/receipt.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { BlockStore } from '../../src/store/block-store.ts'
import { openStore, type Store } from '../../src/store/level.ts'
import { blockOf, CONFIG, ENGINES, inDirectory, NO_PARENT, transfer } from './store-cases.ts'

const genesis = blockOf(NO_PARENT, 0, 0)
const one = blockOf(genesis.hash, 1, 1, [transfer(0), transfer(1)])
const sibling = blockOf(genesis.hash, 1, 2, [transfer(0)])
const two = blockOf(one.hash, 2, 3, [], [sibling.block.header])

const logOf = (byte: number): Log => ({
  address: toHex(new Uint8Array(20).fill(byte)),
  topics: [toHex(new Uint8Array(32).fill(byte)), toHex(new Uint8Array(32))].slice(byte % 2),
  data: new Uint8Array(byte * 40).fill(byte),
})
const receiptOf = (logs: readonly Log[]): Receipt => ({
  succeeded: true,
  type: 0,
  cumulativeGasUsed: 50_000n,
  gasUsed: 25_000n,
  logsBloom: ZERO_BLOOM,
  logs,
})

async function extendBy(store: Store, blocks: BlockStore, block: ExecutedBlock): Promise<void> {
  await store.batch([...blocks.put(block), ...blocks.extend(block), blocks.putHead(block.hash)])
}

/** One block after another, each with a transaction and receipts with these logs. */
function chainOf(count: number, logs: readonly Log[]): ExecutedBlock[] {
  const chain: ExecutedBlock[] = []
  for (let number = 1; number <= count; number++) {
    const parent = chain.at(-1)?.hash ?? genesis.hash
    chain.push({ ...blockOf(parent, number, number, [transfer(0)]), receipts: [receiptOf(logs)] })
  }
  return chain
}

describe.each(ENGINES)('a block store in $name', ({ withStore }) => {
  it('keeps fewer decoded blocks when their logs are larger', () =>
    withStore(async (store) => {
      const kept = async (chain: readonly ExecutedBlock[]) => {
        const blocks = await BlockStore.open(store, CONFIG)
        for (const block of chain) await store.batch(blocks.put(block))
        // From the last one on: a block that is read takes the place of others.
        return chain.toReversed().filter((block) => blocks.get(block.hash) === block).length
      }
      const megabyte = { ...logOf(1), data: new Uint8Array(1 << 20) }
      expect(await kept(chainOf(40, []))).toBe(40)
      expect(await kept(chainOf(40, [megabyte]))).toBe(23)
      expect(
        await kept(
          chainOf(
            40,
            Array.from({ length: 2_000 }, () => logOf(1)),
          ),
        ),
      ).toBe(11)
    }))

  it('is empty at first', () =>
    withStore(async (store) => {
      const blocks = await BlockStore.open(store, CONFIG)
      expect(blocks.head()).toBeUndefined()
      expect(blocks.get(one.hash)).toBeUndefined()
      expect(blocks.header(one.hash)).toBeUndefined()
      expect(blocks.canonicalHash(0)).toBeUndefined()
      expect(blocks.hashesAt(0)).toEqual([])
      expect(blocks.transactionLocation(transfer(0).hash)).toBeUndefined()
      expect(blocks.pool.entries).toEqual([])
    }))

  it('replaces the state root of a block, in memory and on disk', () =>
    withStore(async (store) => {
      const writer = await BlockStore.open(store, CONFIG)
      for (const block of [genesis, one]) await extendBy(store, writer, block)
      const amended: ExecutedBlock = { ...one, postState: `0x${'ed'.repeat(32)}` }
      const writes = writer.amend(amended)
      expect(writer.get(one.hash)).toBe(one)
      await store.batch(writes)
      expect(writer.get(one.hash)).toBe(amended)
      expect((await BlockStore.open(store, CONFIG)).get(one.hash)).toEqual(amended)
    }))

  it('returns complete blocks, from memory and from their bytes', () =>
    withStore(async (store) => {
      const writer = await BlockStore.open(store, CONFIG)
      for (const block of [genesis, one, two]) await extendBy(store, writer, block)
      const reader = await BlockStore.open(store, CONFIG)
      for (const block of [genesis, one, two]) {
        expect(writer.get(block.hash)).toBe(block)
        expect(reader.header(block.hash)).toEqual(block.block.header)
        const read = reader.get(block.hash)
        expect(read).toEqual(block)
        expect(reader.get(block.hash)).toBe(read)
        expect(read?.block.header).toBe(reader.header(block.hash))
      }
      expect(reader.head()).toBe(two.hash)
    }))

  it('gives log queries the transactions and logs of a block, and none of a deleted block', () =>
    withStore(async (store) => {
      const [transactions, log] = [[transfer(0), transfer(1)], logOf(1)]
      const receipts = [receiptOf([log, logOf(2)]), receiptOf([logOf(3)])]
      const block = { ...one, block: { ...one.block, transactions }, receipts }
      const writer = await BlockStore.open(store, CONFIG)
      await extendBy(store, writer, genesis)
      await extendBy(store, writer, block)
      expect(writer.logBlock(block.hash, 1)).toBe(block)
      const reader = await BlockStore.open(store, CONFIG)
      expect(reader.logBlock(block.hash, 1, () => false)).toBeUndefined()
      const read = reader.logBlock(block.hash, 1)
      expect(read?.hash).toBe(block.hash)
      expect(read?.block.header.number).toBe(1)
      expect(read?.block.transactions.map(({ hash }) => hash)).toEqual(transactions.map(({ hash }) => hash))
      const shown = read?.receipts.map(({ logs }) =>
        logs.map(({ address, topics, data }) => ({ address, topics, data: Uint8Array.from(data) })),
      )
      expect(shown).toEqual(receipts.map(({ logs }) => logs))
      expect(reader.logBlock(block.hash, 1)).toBe(read)
      await store.batch([...reader.forgetHeight(1), reader.putHead(genesis.hash)])
      expect(reader.logBlock(block.hash, 1)).toBeUndefined()
      expect(reader.logBlock(two.hash, 2)).toBeUndefined()
    }))

  it('reads one transaction of a block without reading the others', () =>
    withStore(async (store) => {
      const transactions = [transfer(0), transfer(1), transfer(2)] as const
      const unreadable = { ...transactions[1], raw: Uint8Array.of(0xff) }
      const block = { ...one.block, transactions: [transactions[0], unreadable, transactions[2]] }
      const writer = await BlockStore.open(store, CONFIG)
      await extendBy(store, writer, { ...one, block })
      expect(writer.transaction(one.hash, 2)).toBe(transactions[2])
      const reader = await BlockStore.open(store, CONFIG)
      expect(reader.transaction(one.hash, 0)).toEqual(transactions[0])
      expect(reader.transaction(one.hash, 2)).toEqual(transactions[2])
      const storage = expect.objectContaining({ kind: 'storage' })
      expect(() => reader.transaction(one.hash, 1)).toThrow(storage)
      expect(() => reader.get(one.hash)).toThrow(storage)
      expect(reader.transaction(two.hash, 0)).toBeUndefined()
    }))

  it('returns undefined beyond the last transaction of a block', () =>
    withStore(async (store) => {
      await extendBy(store, await BlockStore.open(store, CONFIG), one)
      const reader = await BlockStore.open(store, CONFIG)
      const { transactions } = one.block
      for (const [at, transaction] of transactions.entries()) {
        expect(reader.transaction(one.hash, at)).toEqual(transaction)
      }
      expect(reader.transaction(one.hash, transactions.length)).toBeUndefined()
    }))

  it('hides changes of a batch until it is written', () =>
    withStore(async (store) => {
      const blocks = await BlockStore.open(store, CONFIG)
      const writes = [...blocks.put(genesis), ...blocks.extend(genesis)]
      expect(blocks.get(genesis.hash)).toBeUndefined()
      await store.batch(writes)
      expect(blocks.get(genesis.hash)).toBe(genesis)
    }))

  it('finds transactions of canonical blocks only', () =>
    withStore(async (store) => {
      const blocks = await BlockStore.open(store, CONFIG)
      await extendBy(store, blocks, genesis)
      await store.batch(blocks.put(sibling))
      expect(blocks.transactionLocation(transfer(0).hash)).toBeUndefined()
      await extendBy(store, blocks, one)
      expect(blocks.transactionLocation(transfer(1).hash)).toEqual({ blockHash: one.hash, index: 1 })
      expect(blocks.hashesAt(1)).toEqual([sibling.hash, one.hash])
      expect(blocks.hashesAt(2 ** 48 + 1)).toEqual([])
      expect(blocks.canonicalHash(1)).toBe(one.hash)

      await store.batch([...blocks.retract(one), ...blocks.extend(sibling)])
      expect(blocks.transactionLocation(transfer(0).hash)).toEqual({ blockHash: sibling.hash, index: 0 })
      expect(blocks.transactionLocation(transfer(1).hash)).toBeUndefined()
      expect(blocks.canonicalHash(1)).toBe(sibling.hash)
      expect(blocks.get(one.hash)).toBe(one)
    }))

  it('deletes all blocks of a height completely, and no others', () =>
    withStore(async (store) => {
      const blocks = await BlockStore.open(store, CONFIG)
      await extendBy(store, blocks, genesis)
      await store.batch(blocks.put(sibling))
      await extendBy(store, blocks, one)
      await store.batch([...blocks.retract(one), ...blocks.forgetHeight(1), blocks.putHead(genesis.hash)])
      expect(blocks.get(one.hash)).toBeUndefined()
      expect(blocks.header(one.hash)).toBeUndefined()
      expect(blocks.canonicalHash(1)).toBeUndefined()
      expect(blocks.get(sibling.hash)).toBeUndefined()
      expect(blocks.hashesAt(1)).toEqual([])
      expect(blocks.transactionLocation(transfer(0).hash)).toBeUndefined()
      expect(blocks.get(genesis.hash)).toBe(genesis)
      expect(blocks.hashesAt(0)).toEqual([genesis.hash])
    }))

  it('lists a height once, however often a block is put', () =>
    withStore(async (store) => {
      const blocks = await BlockStore.open(store, CONFIG)
      await store.batch(blocks.put(one))
      await store.batch(blocks.put(one))
      expect(blocks.hashesAt(1)).toEqual([one.hash])
    }))

  it('keeps the pool in order of arrival', () =>
    withStore(async (store) => {
      const blocks = await BlockStore.open(store, CONFIG)
      const waiting = [3, 1, 2, 0].map((nonce) => transfer(nonce))
      for (const transaction of waiting) await store.batch([blocks.pool.put(transaction)])
      await store.batch([blocks.pool.drop(transfer(1).hash)])
      const again = await BlockStore.open(store, CONFIG)
      expect(again.pool.entries).toEqual([transfer(3), transfer(2), transfer(0)])
      await store.batch([again.pool.put(transfer(4))])
      const once = await BlockStore.open(store, CONFIG)
      expect(once.pool.entries.map(({ nonce }) => nonce)).toEqual([3n, 2n, 0n, 4n])
    }))

  it('refuses a chain with another genesis', () =>
    withStore(async (store) => {
      const blocks = await BlockStore.open(store, CONFIG)
      blocks.requireGenesis(one.hash)
      await extendBy(store, blocks, genesis)
      blocks.requireGenesis(genesis.hash)
      expect(() => blocks.requireGenesis(one.hash)).toThrowError(
        expect.objectContaining({ kind: 'database' }),
      )
    }))
})

it('prunes old blocks in memory, not on disk', () =>
  inDirectory(async (dataDir) => {
    const store = await openStore({ dataDir, chain: CONFIG.name, chainId: CONFIG.chainId })
    const blocks = await BlockStore.open(store, CONFIG)
    await extendBy(store, blocks, one)
    for (let i = 0; i < 1600; i++) await store.batch(blocks.put(blockOf(one.hash, 2 + i, i)))
    const read = blocks.get(one.hash)
    expect(read).not.toBe(one)
    expect(read).toEqual(one)
    await store.close()
  }))
