/** Finds the canonical blocks that contain given terms without reading the others, section by section. */
import { LRUCache } from 'lru-cache'
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Logger } from '../../logger.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { SectionRecord } from '../../store/records.ts'
import type { Table } from '../../store/table.ts'
import type { Store } from '../../store/write-behind.ts'
import type { Blockchain } from '../blockchain/blockchain.ts'
import type { EventLoopYield } from '../event-loop.ts'
import type { ChainUpdate, HeightChunks } from '../model.ts'
import {
  type Clauses,
  GrowingRows,
  type Mark,
  positionsWhere,
  type Rows,
  readRows,
  SECTION_BLOCKS,
} from './section.ts'

/** Bytes of cached finished sections. */
const CACHE_BYTES = 16 << 20
/** Below this many blocks, an unbuilt section is scanned instead of built. */
const SCAN_BLOCKS = 32

/** A canonical block as it is indexed. */
export interface IndexedBlock {
  readonly hash: Hex
  readonly header: Header
}

interface Parts {
  readonly blockchain: Pick<Blockchain, 'head' | 'headerAt' | 'hashAt'>
  readonly store: Pick<Store, 'batch'>
  /** Finished sections by number; height divided by `SECTION_BLOCKS`. */
  readonly table: Table<number, SectionRecord>
  /** Marks what a block contains. */
  readonly contents: (block: IndexedBlock, mark: Mark) => void
  readonly logger: Logger
  /** Heights of the first block that is indexed, and of the lowest one that exists. */
  readonly bounds: Pick<BlockStore, 'first' | 'lowest'>
}

/** The section that holds the head, and the hash of each block in it. */
interface Open {
  readonly start: number
  readonly rows: GrowingRows
  readonly hashes: Hex[]
}

/** A finished section, valid while its last block is canonical. */
interface Finished {
  readonly last: Hex
  readonly rows: Rows
  readonly size: number
}

function emptySection(start: number): Open {
  return { start, rows: new GrowingRows(), hashes: [] }
}

/**
 * An index of the canonical chain. It grows with each block, writes each section to disk once that is full, and builds
 * missing sections at the first query that needs them: opening a chain costs nothing.
 */
export class SectionIndex {
  readonly #parts: Parts
  readonly #finished = new LRUCache<number, Finished>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ size }) => Math.max(1, size),
  })
  #open: Open | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    if (this.#headHeight > 0) return
    this.#open = emptySection(0)
    this.#catchUp()
  }

  /**
   * Heights from `from` to `to` (not above the head) whose blocks satisfy the clauses, ascending, one chunk for each
   * section that has such blocks. A chunk reflects the chain at the time it is yielded: a caller that awaits in between
   * checks whether the chain has changed. `yieldIfDue` is called between blocks when a section must be built.
   */
  async *candidates(clauses: Clauses, from: number, to: number, yieldIfDue: EventLoopYield): HeightChunks {
    const firstHeight = this.#parts.bounds.first
    yield* this.#unindexed(from, to)
    const lowest = Math.max(from, firstHeight)
    for (let section = Math.floor(lowest / SECTION_BLOCKS); section * SECTION_BLOCKS <= to; section++) {
      const start = section * SECTION_BLOCKS
      this.#catchUp()
      const [first, last] = [Math.max(lowest, start), Math.min(to, start + SECTION_BLOCKS - 1)]
      const isShort = last - first < SCAN_BLOCKS || start < firstHeight
      const rows =
        this.#ready(section, last) ??
        (isShort ? this.#scan(start, first, last) : await this.#build(section, yieldIfDue))
      const positions = positionsWhere(rows, clauses, first - start, last - start)
      if (positions.length > 0) yield positions.map((position) => start + position)
    }
  }

  /** Applies a chain update. */
  follow({ added }: ChainUpdate): void {
    const first = added.find(({ block }) => block.header.number % SECTION_BLOCKS === 0)
    if (this.#open === undefined && first !== undefined) {
      this.#open = emptySection(first.block.header.number)
    }
    this.#catchUp()
  }

  get #headHeight(): number {
    return this.#parts.blockchain.head.block.header.number
  }

  /** The heights of a fork's blocks below its first one: there is no index of them, so all of them may match. */
  *#unindexed(from: number, to: number): Generator<readonly number[]> {
    const { first, lowest } = this.#parts.bounds
    for (let height = Math.max(from, lowest); height <= to && height < first; height += SECTION_BLOCKS) {
      const end = Math.min(to + 1, first, height + SECTION_BLOCKS)
      yield Array.from({ length: end - height }, (_, index) => height + index)
    }
  }

  #add(rows: GrowingRows, block: IndexedBlock): void {
    rows.add((mark) => this.#parts.contents(block, mark))
  }

  #blockAt(height: number): IndexedBlock {
    const block = this.#parts.blockchain.headerAt(height)
    if (block === undefined) throw new Error(`the block at height ${height} is missing from the store`)
    return block
  }

  /** Stores a full section in place of one of the same number on another branch. */
  #finish(section: number, last: Hex, rows: GrowingRows): Rows {
    const { store, table, logger } = this.#parts
    const encoded = rows.encode()
    const read = readRows(encoded)
    this.#finished.set(section, { last, rows: read, size: encoded.length })
    store
      .batch([table.put(section, { last, rows: encoded })])
      .catch((error) =>
        logger.warn('a section of an index was not written; it is built again when needed', { error }),
      )
    return read
  }

  /**
   * Updates the open section to the current head: the head changes before its update is emitted, and a query in between
   * must not see removed blocks.
   */
  #catchUp(): void {
    const { blockchain, bounds } = this.#parts
    // A loaded chain may begin in the middle of a section, and above the one that was open.
    if (this.#open !== undefined && this.#open.start < bounds.first) this.#open = undefined
    if (this.#open === undefined) return
    const { start, rows, hashes } = this.#open
    while (hashes.length > 0 && blockchain.hashAt(start + hashes.length - 1) !== hashes.at(-1)) hashes.pop()
    rows.truncate(hashes.length)
    const head = this.#headHeight
    if (head < start) this.#open = undefined
    for (let open = this.#open; open !== undefined && open.start + open.rows.count <= head; ) {
      const block = this.#blockAt(open.start + open.rows.count)
      this.#add(open.rows, block)
      open.hashes.push(block.hash)
      if (open.rows.count < SECTION_BLOCKS) continue
      this.#finish(open.start / SECTION_BLOCKS, block.hash, open.rows)
      open = emptySection(open.start + SECTION_BLOCKS)
      this.#open = open
    }
  }

  /** The record of a section; a damaged one counts as missing, because it can be made again. */
  #stored(section: number): SectionRecord | undefined {
    try {
      return this.#parts.table.get(section)
    } catch (error) {
      this.#parts.logger.warn('a section of an index is damaged; it is built again', { error })
      return undefined
    }
  }

  /** The rows of a section up to a height in it, if they are in memory or on disk. */
  #ready(section: number, upTo: number): Rows | undefined {
    const { blockchain, bounds } = this.#parts
    const open = this.#open
    const start = section * SECTION_BLOCKS
    if (open?.start === start && start + open.rows.count > upTo) return open.rows
    if (start < bounds.first) return undefined
    const last = blockchain.hashAt(start + SECTION_BLOCKS - 1)
    if (last === undefined) return undefined
    const known = this.#finished.get(section)
    if (known?.last === last) return known.rows
    const record = this.#stored(section)
    if (record?.last !== last) return undefined
    const rows = readRows(record.rows)
    this.#finished.set(section, { last, rows, size: record.rows.length })
    return rows
  }

  /** Builds a section from its blocks, and again when the chain changed meanwhile. */
  async #build(section: number, yieldIfDue: EventLoopYield): Promise<Rows> {
    for (;;) {
      const built = emptySection(section * SECTION_BLOCKS)
      const isLinked = await this.#fill(built, yieldIfDue)
      const { start, rows, hashes } = built
      const last = hashes.at(-1)
      // The chain has become shorter since the query began.
      if (last === undefined) return rows
      if (!isLinked || this.#parts.blockchain.hashAt(start + rows.count - 1) !== last) continue
      if (rows.count === SECTION_BLOCKS) return this.#finish(section, last, rows)
      this.#open = built
      return rows
    }
  }

  /** Adds the blocks of a section; false, and ends, when one is not the child of the one before. */
  async #fill({ start, rows, hashes }: Open, yieldIfDue: EventLoopYield): Promise<boolean> {
    while (rows.count < SECTION_BLOCKS && start + rows.count <= this.#headHeight) {
      const block = this.#blockAt(start + rows.count)
      const isLinked = rows.count === 0 || block.header.parentHash === hashes.at(-1)
      this.#add(rows, block)
      hashes.push(block.hash)
      const wait = yieldIfDue()
      if (wait !== undefined) await wait
      if (!isLinked) return false
    }
    return true
  }

  /** Rows of some heights only. */
  #scan(start: number, from: number, to: number): Rows {
    const rows = new GrowingRows(from - start)
    const last = Math.min(to, this.#headHeight)
    for (let height = from; height <= last; height++) this.#add(rows, this.#blockAt(height))
    return rows
  }
}
