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
  /** Heights of the first block that is indexed, and of the lowest one that there is. */
  readonly bounds: Pick<BlockStore, 'first' | 'lowest'>
}

/** An index of the canonical chain. */
export interface SectionIndex {
  /**
   * Heights from `from` to `to` (not above the head) whose blocks satisfy the clauses, ascending, one chunk for each
   * section that has such blocks. A chunk reflects the chain at the time it is yielded: a caller that awaits in between
   * checks whether the chain has changed. `yieldIfDue` is called between blocks when a section must be built.
   */
  candidates(clauses: Clauses, from: number, to: number, yieldIfDue: EventLoopYield): HeightChunks
  /** Applies a chain update. */
  follow(update: ChainUpdate): void
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

/**
 * Makes an index. It grows with each block, writes each section to disk once that is full, and builds missing sections at
 * the first query that needs them: opening a chain costs nothing.
 */
export function createSectionIndex(parts: Parts): SectionIndex {
  const { blockchain, store, table, contents, logger, bounds } = parts
  const finished = new LRUCache<number, Finished>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ size }) => Math.max(1, size),
  })
  let open: Open | undefined

  function add(rows: GrowingRows, block: IndexedBlock): void {
    rows.add((mark) => contents(block, mark))
  }

  function emptySection(start: number): Open {
    return { start, rows: new GrowingRows(), hashes: [] }
  }

  function blockAt(height: number): IndexedBlock {
    const block = blockchain.headerAt(height)
    if (block === undefined) throw new Error(`the block at height ${height} is missing from the store`)
    return block
  }

  /** Stores a full section in place of one of the same number on another branch. */
  function finish(section: number, last: Hex, rows: GrowingRows): Rows {
    const encoded = rows.encode()
    const read = readRows(encoded)
    finished.set(section, { last, rows: read, size: encoded.length })
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
  function catchUp(): void {
    // A loaded chain may begin in the middle of a section, and above the one that was open.
    if (open !== undefined && open.start < bounds.first) open = undefined
    if (open === undefined) return
    const { start, rows, hashes } = open
    while (hashes.length > 0 && blockchain.hashAt(start + hashes.length - 1) !== hashes.at(-1)) hashes.pop()
    rows.truncate(hashes.length)
    const head = blockchain.head.block.header.number
    if (head < start) open = undefined
    while (open !== undefined && open.start + open.rows.count <= head) {
      const block = blockAt(open.start + open.rows.count)
      add(open.rows, block)
      open.hashes.push(block.hash)
      if (open.rows.count < SECTION_BLOCKS) continue
      finish(open.start / SECTION_BLOCKS, block.hash, open.rows)
      open = emptySection(open.start + SECTION_BLOCKS)
    }
  }

  /** The record of a section; a damaged one counts as missing, for it can be made again. */
  function stored(section: number): SectionRecord | undefined {
    try {
      return table.get(section)
    } catch (error) {
      logger.warn('a section of an index is damaged; it is built again', { error })
      return undefined
    }
  }

  /** The rows of a section up to a height in it, if they are in memory or on disk. */
  function ready(section: number, upTo: number): Rows | undefined {
    const start = section * SECTION_BLOCKS
    if (open?.start === start && start + open.rows.count > upTo) return open.rows
    if (start < bounds.first) return undefined
    const last = blockchain.hashAt(start + SECTION_BLOCKS - 1)
    if (last === undefined) return undefined
    const known = finished.get(section)
    if (known?.last === last) return known.rows
    const record = stored(section)
    if (record?.last !== last) return undefined
    const rows = readRows(record.rows)
    finished.set(section, { last, rows, size: record.rows.length })
    return rows
  }

  /** Builds a section from its blocks; starts again when the chain changes meanwhile. */
  async function build(section: number, yieldIfDue: EventLoopYield): Promise<Rows> {
    for (;;) {
      const built = emptySection(section * SECTION_BLOCKS)
      const { start, rows, hashes } = built
      let linked = true
      while (
        linked &&
        rows.count < SECTION_BLOCKS &&
        start + rows.count <= blockchain.head.block.header.number
      ) {
        const block = blockAt(start + rows.count)
        linked = rows.count === 0 || block.header.parentHash === hashes.at(-1)
        add(rows, block)
        hashes.push(block.hash)
        const wait = yieldIfDue()
        if (wait !== undefined) await wait
      }
      const last = hashes.at(-1)
      // The chain has become shorter since the query began.
      if (last === undefined) return rows
      if (!linked || blockchain.hashAt(start + rows.count - 1) !== last) continue
      if (rows.count === SECTION_BLOCKS) return finish(section, last, rows)
      open = built
      return rows
    }
  }

  /** Rows of some heights only. */
  function scan(start: number, from: number, to: number): Rows {
    const rows = new GrowingRows(from - start)
    const last = Math.min(to, blockchain.head.block.header.number)
    for (let height = from; height <= last; height++) add(rows, blockAt(height))
    return rows
  }

  if (blockchain.head.block.header.number === 0) {
    open = emptySection(0)
    catchUp()
  }

  return {
    async *candidates(clauses, from, to, yieldIfDue) {
      // A fork has no index of the blocks below its first one, so that all of them may match.
      const firstHeight = bounds.first
      for (
        let height = Math.max(from, bounds.lowest);
        height <= to && height < firstHeight;
        height += SECTION_BLOCKS
      ) {
        const end = Math.min(to + 1, firstHeight, height + SECTION_BLOCKS)
        yield Array.from({ length: end - height }, (_, index) => height + index)
      }
      const lowest = Math.max(from, firstHeight)
      for (let section = Math.floor(lowest / SECTION_BLOCKS); section * SECTION_BLOCKS <= to; section++) {
        const start = section * SECTION_BLOCKS
        catchUp()
        const [first, last] = [Math.max(lowest, start), Math.min(to, start + SECTION_BLOCKS - 1)]
        const isShort = last - first < SCAN_BLOCKS || start < firstHeight
        const rows =
          ready(section, last) ?? (isShort ? scan(start, first, last) : await build(section, yieldIfDue))
        const positions = positionsWhere(rows, clauses, first - start, last - start)
        if (positions.length > 0) yield positions.map((position) => start + position)
      }
    },
    follow({ added }) {
      const first = added.find(({ block }) => block.header.number % SECTION_BLOCKS === 0)
      if (open === undefined && first !== undefined) open = emptySection(first.block.header.number)
      catchUp()
    },
  }
}
