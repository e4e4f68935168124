/** Blocks, receipts and lookups by hash, height and transaction; and the writes of a chain move. */
import { LRUCache } from 'lru-cache'
import type { ExecutedBlock } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Header } from '../chain/header.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { AccountIndex } from './account-index.ts'
import { type LogBlock, storedLogBlock } from './log-block.ts'
import { stateAfterBlock, type TransactionLocation, transactionInBody } from './records.ts'
import { StoredPool } from './stored-pool.ts'
import { type Change, hashKey, heightKey, type KeyValueReader, type Write } from './table.ts'
import { type ChainTables, chainTables, META, PREFIX } from './tables.ts'

/** Blocks kept decoded, in kilobytes of memory, roughly: up to 1,536 empty ones, fewer the more they hold. */
const BLOCK_CACHE_WEIGHT = 24_576
const BLOCK_WEIGHT = 16
const KILOBYTE = 1024
/** Bytes of the receipts of blocks that are kept for queries for logs. */
const LOG_CACHE_BYTES = 4 << 20
const HEADER_CACHE_COUNT = 1_536
const HEIGHT_CACHE_COUNT = 64

const NO_HASHES: readonly Hex[] = []

/** A transaction and a log weigh as one, and more by the bytes that they carry. A heavier block is not kept. */
function weightOf({ block, receipts }: ExecutedBlock): number {
  let weight = BLOCK_WEIGHT + block.transactions.length
  let bytes = 0
  for (const { raw } of block.transactions) bytes += raw.length
  for (const { logs } of receipts) {
    weight += logs.length
    for (const { data } of logs) bytes += data.length
  }
  return weight + Math.floor(bytes / KILOBYTE)
}

/** Blocks that the store does not hold because they were before its first one; all of them are canonical. */
export interface BlockHistory {
  /** Number of the first block of the store. */
  readonly above: number
  block(hash: Hex): ExecutedBlock | undefined
  header(hash: Hex): Header | undefined
  hashAt(height: number): Hex | undefined
  transactionLocation(hash: Hex): TransactionLocation | undefined
}

/** The chain's part of the database. Reads are synchronous; writes are described and take effect with their batch. */
export class BlockStore {
  readonly #tables: ChainTables
  /** Finds canonical transactions by account. */
  readonly accounts: AccountIndex
  /** Transactions that wait. */
  readonly pool: StoredPool
  readonly #blocks = new LRUCache<Hex, ExecutedBlock>({
    maxSize: BLOCK_CACHE_WEIGHT,
    sizeCalculation: weightOf,
  })
  readonly #logBlocks = new LRUCache<Hex, LogBlock>({ maxSize: LOG_CACHE_BYTES })
  readonly #headers = new LRUCache<Hex, Header>({ max: HEADER_CACHE_COUNT })
  /** The builder looks through the last few for uncles each time. */
  readonly #heights = new LRUCache<number, readonly Hex[]>({ max: HEIGHT_CACHE_COUNT })
  readonly #history: BlockHistory | undefined
  /** No block is known above this height; there may be none at it either. */
  #highest = -1
  /** Number of the block that a loaded chain begins with; 0 where the chain was not loaded. */
  #loadedFirst = 0

  private constructor(tables: ChainTables, accounts: AccountIndex, history: BlockHistory | undefined) {
    this.#history = history
    this.#tables = tables
    this.accounts = accounts
    this.pool = new StoredPool(tables.pool)
  }

  /** Reads what must be in memory before the first block: the pool, and the greatest height. */
  static async open(
    reader: KeyValueReader,
    config: ChainConfig,
    history?: BlockHistory,
  ): Promise<BlockStore> {
    const blocks = new BlockStore(chainTables(reader, config), new AccountIndex(reader), history)
    await blocks.reload()
    return blocks
  }

  /** Reads the pool and the greatest height again, after the database was changed by others. */
  async reload(): Promise<void> {
    await this.pool.reload()
    this.#loadedFirst = this.#readLoadedFirst()
    const head = this.head()
    const number = head === undefined ? undefined : this.#tables.headers.get(head)?.header.number
    let highest = number ?? -1
    if (number !== undefined) {
      for await (const [height] of this.#tables.heights.range(number)) highest = height
    }
    this.#highest = highest
  }

  /** Forgets what is cached of these entries, which were changed by others; `undefined` is every entry. */
  invalidate(changes?: readonly Change[]): void {
    if (changes === undefined) {
      for (const cache of [this.#blocks, this.#logBlocks, this.#headers, this.#heights]) cache.clear()
    }
    if (changes?.some(({ prefix }) => prefix === PREFIX.meta)) this.#loadedFirst = this.#readLoadedFirst()
    for (const { prefix, key, type } of changes ?? []) {
      if (prefix === PREFIX.headers) {
        const hash = hashKey.decode(key)
        this.#blocks.delete(hash)
        this.#logBlocks.delete(hash)
        this.#headers.delete(hash)
      } else if (prefix === PREFIX.heights) {
        const height = heightKey.decode(key)
        this.#heights.delete(height)
        if (type === 'put') this.#highest = Math.max(this.#highest, height)
      }
    }
  }

  /** A known block, canonical or not. */
  get(hash: Hex): ExecutedBlock | undefined {
    const recent = this.#blocks.get(hash)
    if (recent !== undefined) return recent
    const record = this.#tables.headers.get(hash)
    if (record === undefined) return this.#history?.block(hash)
    const body = this.#tables.bodies.get(hash)
    const receipts = this.#tables.receipts.get(hash)
    if (body === undefined || receipts === undefined)
      throw new Error(`block ${hash} is incomplete in the store`)
    // The header that was handed out before carries its memoised hash.
    const header = this.#headers.get(hash) ?? record.header
    const executed: ExecutedBlock = {
      hash,
      block: { header, ...body },
      receipts,
      totalDifficulty: record.totalDifficulty,
      postState: record.postState,
    }
    this.#remember(executed)
    return executed
  }

  /** The transaction at an index of a block; one that is not at hand is not decoded for it. `undefined` beyond the end. */
  transaction(hash: Hex, index: number): Transaction | undefined {
    const isRecent = this.#blocks.has(hash)
    const read = (bytes: Uint8Array) => transactionInBody(bytes, index)
    const stored = isRecent ? undefined : this.#tables.bodies.part(hash, read)
    return stored ?? this.get(hash)?.block.transactions[index]
  }

  /**
   * The block of this hash and number as a query for logs reads it; one that is not at hand is not decoded. `undefined`
   * also where `mayMatch` is false for the receipts of one that is not at hand.
   */
  logBlock(
    hash: Hex,
    number: number,
    mayMatch: (receipts: Uint8Array) => boolean = () => true,
  ): LogBlock | undefined {
    const recent = this.#blocks.get(hash)
    if (recent !== undefined) return recent
    const known = this.#logBlocks.get(hash)
    if (known !== undefined) return known
    const receipts = this.#tables.receipts.bytes(hash)
    if (receipts === undefined) return this.#history?.block(hash)
    if (!mayMatch(receipts)) return undefined
    const whole = <T>(part: T | undefined): T => {
      if (part === undefined) throw new Error(`block ${hash} is incomplete in the store`)
      return part
    }
    const read = storedLogBlock(hash, number, receipts, {
      body: () => whole(this.#tables.bodies.bytes(hash)),
      timestamp: () => whole(this.header(hash)).timestamp,
    })
    this.#logBlocks.set(hash, read, { size: receipts.length })
    return read
  }

  /** Its header alone, without reading the rest. */
  header(hash: Hex): Header | undefined {
    const recent = this.#headers.get(hash)
    if (recent !== undefined) return recent
    const header = this.#tables.headers.get(hash)?.header
    if (header === undefined) return this.#history?.header(hash)
    this.#headers.set(hash, header)
    return header
  }

  /** Root of the state after a known block; one that is not at hand is not decoded. */
  stateRoot(hash: Hex): Hex | undefined {
    const recent = this.#blocks.get(hash)?.postState ?? this.#tables.headers.part(hash, stateAfterBlock)
    return recent ?? this.#history?.block(hash)?.postState
  }

  /** Number of the first block that the store holds: 0, or where a fork or a loaded chain began. */
  get first(): number {
    return this.#history?.above ?? this.#loadedFirst
  }

  /** Number of the lowest block that can be read: `first`, or 0 on a fork, which has the blocks below of its upstream. */
  get lowest(): number {
    return this.#history === undefined ? this.#loadedFirst : 0
  }

  #readLoadedFirst(): number {
    const hash = this.#tables.meta.get(META.loadedGenesis)
    return (hash === undefined ? undefined : this.#tables.headers.get(hash)?.header.number) ?? 0
  }

  /** The canonical block at a height; `undefined` above the head. */
  canonicalHash(height: number): Hex | undefined {
    if (this.#history !== undefined && height < this.#history.above) return this.#history.hashAt(height)
    return this.#tables.canonical.get(height)
  }

  /** All known blocks at a height, canonical and siblings, in order of arrival. */
  hashesAt(height: number): readonly Hex[] {
    if (height > this.#highest) return NO_HASHES
    const recent = this.#heights.get(height)
    if (recent !== undefined) return recent
    const found = this.#tables.heights.get(height) ?? NO_HASHES
    this.#heights.set(height, found)
    return found
  }

  /**
   * Roots of the states that the blocks at a height need: the one in each header, which is the root of a state where
   * the header has the unified trie's, and that of the state after the block.
   */
  rootsAt(height: number): readonly Hex[] {
    return (this.#tables.heights.get(height) ?? NO_HASHES).flatMap((hash) => {
      const record = this.#tables.headers.get(hash)
      return record === undefined ? [] : [record.header.stateRoot, record.postState]
    })
  }

  /** Where a transaction of the canonical chain stands. */
  transactionLocation(hash: Hex): TransactionLocation | undefined {
    return this.#tables.transactions.get(hash) ?? this.#history?.transactionLocation(hash)
  }

  /** Tip of the canonical chain; `undefined` in a new database. */
  head(): Hex | undefined {
    return this.#tables.meta.get(META.head)
  }

  /**
   * Throws `database` when this database holds a chain that began with another block, unless it was loaded from a file:
   * then the result is its genesis.
   */
  requireGenesis(hash: Hex): ExecutedBlock | undefined {
    const found = this.canonicalHash(this.first)
    if (found === undefined || found === hash) return undefined
    if (this.#tables.meta.get(META.loadedGenesis) === found) return this.get(found)
    throw new NodeError(
      'database',
      `The database holds a chain that began with block ${found}, not ${hash}: ` +
        'it was made with another genesis or other funded accounts. Start with the options of its first start, or choose another data directory.',
    )
  }

  /** Adds a side block. One batch may put only one block of a height. */
  put(executed: ExecutedBlock): Write[] {
    return this.#put(executed, this.hashesAt(executed.block.header.number))
  }

  /** Adds a block at a height that an earlier step of the batch forgets. */
  putAlone(executed: ExecutedBlock): Write[] {
    return this.#put(executed, NO_HASHES)
  }

  #put(executed: ExecutedBlock, siblings: readonly Hex[]): Write[] {
    const { hash, block, receipts, totalDifficulty, postState } = executed
    const { header, transactions, uncles } = block
    const writes: Write[] = [
      this.#tables.headers.put(hash, { header, totalDifficulty, postState }),
      this.#tables.bodies.put(hash, { transactions, uncles }),
      this.#tables.receipts.put(hash, receipts),
      ...this.accounts.put(executed),
      { type: 'after', run: () => this.#remember(executed) },
    ]
    if (!siblings.includes(hash)) {
      const all = [...siblings, hash]
      writes.push(this.#tables.heights.put(header.number, all), {
        type: 'after',
        run: () => {
          this.#heights.set(header.number, all)
          this.#highest = Math.max(this.#highest, header.number)
        },
      })
    }
    return writes
  }

  /** Gives a known block another state after it. */
  amend(executed: ExecutedBlock): Write[] {
    const { hash, block, totalDifficulty, postState } = executed
    return [
      this.#tables.headers.put(hash, { header: block.header, totalDifficulty, postState }),
      { type: 'after', run: () => this.#remember(executed) },
    ]
  }

  /** Makes a block the canonical one of its height, and adds the lookups of its transactions. */
  extend(executed: ExecutedBlock): Write[] {
    const { hash, block } = executed
    const writes = [this.#tables.canonical.put(block.header.number, hash), ...this.accounts.extend(executed)]
    for (const [index, transaction] of block.transactions.entries()) {
      writes.push(this.#tables.transactions.put(transaction.hash, { blockHash: hash, index }))
    }
    return writes
  }

  /** Undoes `extend`. In a batch that does both, retract first: branches may share transactions. */
  retract(executed: ExecutedBlock): Write[] {
    const { block } = executed
    return [
      ...this.accounts.retract(executed),
      this.#tables.canonical.del(block.header.number),
      ...block.transactions.map((transaction) => this.#tables.transactions.del(transaction.hash)),
    ]
  }

  /** Undoes `put` for all blocks of a height. */
  forgetHeight(height: number): Write[] {
    const hashes = this.hashesAt(height)
    return [
      ...hashes.flatMap((hash) => [
        this.#tables.headers.del(hash),
        this.#tables.bodies.del(hash),
        this.#tables.receipts.del(hash),
        this.accounts.forget(hash),
      ]),
      this.#tables.heights.del(height),
      {
        type: 'after',
        run: () => {
          for (const hash of hashes) {
            this.#blocks.delete(hash)
            this.#logBlocks.delete(hash)
            this.#headers.delete(hash)
          }
          this.#heights.delete(height)
        },
      },
    ]
  }

  /** Moves the tip. */
  putHead(hash: Hex): Write {
    return this.#tables.meta.put(META.head, hash)
  }

  /** Notes that the chain was loaded from a file and began with this block, whatever the settings are. */
  putLoadedGenesis({ hash, block }: ExecutedBlock): Write[] {
    return [
      this.#tables.meta.put(META.loadedGenesis, hash),
      {
        type: 'after',
        run: () => {
          this.#loadedFirst = block.header.number
        },
      },
    ]
  }

  #remember(executed: ExecutedBlock): void {
    this.#blocks.set(executed.hash, executed)
    this.#headers.set(executed.hash, executed.block.header)
  }
}
