/** Finds the canonical blocks that contain given terms without looking at the others, section by section. */
import { LRUCache } from 'lru-cache'
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Logger } from '../../logger.ts'
import type { Table } from '../../store/table.ts'
import type { SectionRecord } from '../../store/tables.ts'
import type { Store } from '../../store/write-behind.ts'
import type { Blockchain } from '../blockchain/blockchain.ts'
import type { EventLoopYield } from '../event-loop.ts'
import type { ChainUpdate } from '../events.ts'
import {
  type Clauses,
  GrowingRows,
  type Mark,
  positionsWhere,
  type Rows,
  readRows,
  SECTION_BLOCKS,
} from './section.ts'

/** Bytes of finished sections kept at hand. */
const CACHE_BYTES = 16 << 20
/** So few blocks of a section that is not at hand are looked at one by one. */
const FEW_BLOCKS = 32

/** A block on the chain. */
export interface Standing {
  readonly hash: Hex
  readonly header: Header
}

interface Parts {
  readonly blockchain: Pick<Blockchain, 'head' | 'headerAt' | 'hashAt'>
  readonly store: Pick<Store, 'batch'>
  /** Finished sections by number; height divided by `SECTION_BLOCKS`. */
  readonly table: Table<number, SectionRecord>
  /** Marks what a block contains. */
  readonly contents: (block: Standing, mark: Mark) => void
  readonly logger: Logger
}

/** An index of the canonical chain. */
export interface SectionIndex {
  /**
   * Heights from `from` to `to` (not above the head) whose blocks satisfy the clauses, ascending, in portions. Each is
   * what the chain holds when its portion is handed out: a caller that lets others run in between looks whether the chain
   * has moved. `breathe` is asked between blocks when a section must be built.
   */
  candidates(
    clauses: Clauses,
    from: number,
    to: number,
    breathe: EventLoopYield,
  ): AsyncIterable<readonly number[]>
  /** The chain has moved. */
  follow(update: ChainUpdate): void
}

/** Rows of the section that holds the head, and the hash of each block in them. */
interface Open {
  readonly start: number
  readonly rows: GrowingRows
  readonly hashes: Hex[]
}

/** A finished section is good for one chain only: the one that its last block ends. */
interface Finished {
  readonly last: Hex
  readonly rows: Rows
  readonly size: number
}

/**
 * Makes an index. It grows with each block, keeps each section on disk once that is full, and builds what is missing when
 * it is first asked for: opening a chain costs nothing.
 */
export function createSectionIndex({ blockchain, store, table, contents, logger }: Parts): SectionIndex {
  const finished = new LRUCache<number, Finished>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ size }) => Math.max(1, size),
  })
  let open: Open | undefined

  function add(rows: GrowingRows, block: Standing): void {
    rows.add((mark) => contents(block, mark))
  }

  function opened(start: number): Open {
    return { start, rows: new GrowingRows(), hashes: [] }
  }

  function standing(height: number): Standing {
    const block = blockchain.headerAt(height)
    if (block === undefined) throw new Error(`the block at height ${height} is missing from the store`)
    return block
  }

  /** Keeps a full section. What another chain's section of this number said is overwritten. */
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
   * Brings the open section to where the head is now: the head moves before anybody hears of it, and who asks in between
   * must not be answered from what stood there before.
   */
  function catchUp(): void {
    if (open === undefined) return
    const { start, rows, hashes } = open
    while (hashes.length > 0 && blockchain.hashAt(start + hashes.length - 1) !== hashes.at(-1)) hashes.pop()
    rows.truncate(hashes.length)
    const head = blockchain.head.block.header.number
    if (head < start) open = undefined
    while (open !== undefined && open.start + open.rows.count <= head) {
      const block = standing(open.start + open.rows.count)
      add(open.rows, block)
      open.hashes.push(block.hash)
      if (open.rows.count < SECTION_BLOCKS) continue
      finish(open.start / SECTION_BLOCKS, block.hash, open.rows)
      open = opened(open.start + SECTION_BLOCKS)
    }
  }

  /** The rows of a section up to a height of it, if they are at hand or on disk. */
  function ready(section: number, upTo: number): Rows | undefined {
    const start = section * SECTION_BLOCKS
    if (open?.start === start && start + open.rows.count > upTo) return open.rows
    const last = blockchain.hashAt(start + SECTION_BLOCKS - 1)
    if (last === undefined) return undefined
    const known = finished.get(section)
    if (known?.last === last) return known.rows
    const record = table.get(section)
    if (record?.last !== last) return undefined
    const rows = readRows(record.rows)
    finished.set(section, { last, rows, size: record.rows.length })
    return rows
  }

  /** Builds a section from the blocks themselves; starts again when they change meanwhile. */
  async function build(section: number, breathe: EventLoopYield): Promise<Rows> {
    for (;;) {
      const built = opened(section * SECTION_BLOCKS)
      const { start, rows, hashes } = built
      let linked = true
      while (
        linked &&
        rows.count < SECTION_BLOCKS &&
        start + rows.count <= blockchain.head.block.header.number
      ) {
        const block = standing(start + rows.count)
        linked = rows.count === 0 || block.header.parentHash === hashes.at(-1)
        add(rows, block)
        hashes.push(block.hash)
        const pause = breathe()
        if (pause !== undefined) await pause
      }
      const last = hashes.at(-1)
      // The chain has become shorter than the caller saw it.
      if (last === undefined) return rows
      if (!linked || blockchain.hashAt(start + rows.count - 1) !== last) continue
      if (rows.count === SECTION_BLOCKS) return finish(section, last, rows)
      open = built
      return rows
    }
  }

  /** Rows of some heights only. */
  function few(start: number, from: number, to: number): Rows {
    const rows = new GrowingRows(from - start)
    const last = Math.min(to, blockchain.head.block.header.number)
    for (let height = from; height <= last; height++) add(rows, standing(height))
    return rows
  }

  if (blockchain.head.block.header.number === 0) {
    open = opened(0)
    catchUp()
  }

  return {
    async *candidates(clauses, from, to, breathe) {
      for (let section = Math.floor(from / SECTION_BLOCKS); section * SECTION_BLOCKS <= to; section++) {
        const start = section * SECTION_BLOCKS
        catchUp()
        const [first, last] = [Math.max(from, start), Math.min(to, start + SECTION_BLOCKS - 1)]
        const rows =
          ready(section, last) ??
          (last - first < FEW_BLOCKS ? few(start, first, last) : await build(section, breathe))
        yield positionsWhere(rows, clauses, first - start, last - start).map((position) => start + position)
      }
    },
    follow({ added }) {
      const first = added.find(({ block }) => block.header.number % SECTION_BLOCKS === 0)
      if (open === undefined && first !== undefined) open = opened(first.block.header.number)
      catchUp()
    },
  }
}
