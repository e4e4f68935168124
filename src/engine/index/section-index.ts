/** Finds the canonical blocks that contain given terms without looking at the others, section by section. */
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Logger } from '../../logger.ts'
import { Lru } from '../../store/lru.ts'
import type { Table } from '../../store/table.ts'
import type { SectionRecord } from '../../store/tables.ts'
import type { Store } from '../../store/write-behind.ts'
import type { Blockchain } from '../blockchain.ts'
import type { Breather } from '../breather.ts'
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
  candidates(clauses: Clauses, from: number, to: number, breathe: Breather): AsyncIterable<readonly number[]>
  /** The chain has moved. */
  follow(update: ChainUpdate): void
}

/** Rows of the section that holds the head. */
interface Open {
  readonly start: number
  readonly rows: GrowingRows
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
  const finished = new Lru<number, Finished>(CACHE_BYTES, ({ size }) => size)
  let open: Open | undefined

  function add(rows: GrowingRows, block: Standing): void {
    rows.add((mark) => contents(block, mark))
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

  function extend(block: Standing): void {
    const { number } = block.header
    if (number % SECTION_BLOCKS === 0) open = { start: number, rows: new GrowingRows() }
    if (open === undefined || open.start + open.rows.count !== number) return
    add(open.rows, block)
    if (open.rows.count === SECTION_BLOCKS) finish(open.start / SECTION_BLOCKS, block.hash, open.rows)
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
  async function build(section: number, breathe: Breather): Promise<Rows> {
    const start = section * SECTION_BLOCKS
    for (;;) {
      const rows = new GrowingRows()
      let previous: Hex | undefined
      while (rows.count < SECTION_BLOCKS && start + rows.count <= blockchain.head.block.header.number) {
        const block = standing(start + rows.count)
        if (previous !== undefined && block.header.parentHash !== previous) break
        add(rows, block)
        previous = block.hash
        const pause = breathe()
        if (pause !== undefined) await pause
      }
      // The chain has become shorter than the caller saw it.
      if (previous === undefined) return rows
      if (blockchain.hashAt(start + rows.count - 1) !== previous) continue
      if (rows.count < SECTION_BLOCKS && start + rows.count <= blockchain.head.block.header.number) continue
      if (rows.count === SECTION_BLOCKS) return finish(section, previous, rows)
      open = { start, rows }
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
    extend({ hash: blockchain.head.hash, header: blockchain.head.block.header })
  }

  return {
    async *candidates(clauses, from, to, breathe) {
      for (let section = Math.floor(from / SECTION_BLOCKS); section * SECTION_BLOCKS <= to; section++) {
        const start = section * SECTION_BLOCKS
        const [first, last] = [Math.max(from, start), Math.min(to, start + SECTION_BLOCKS - 1)]
        const rows =
          ready(section, last) ??
          (last - first < FEW_BLOCKS ? few(start, first, last) : await build(section, breathe))
        yield positionsWhere(rows, clauses, first - start, last - start).map((position) => start + position)
      }
    },
    follow({ removed, added }) {
      const lowest = removed.at(-1)?.block.header.number
      if (lowest !== undefined && open !== undefined) {
        if (lowest < open.start) open = undefined
        else if (lowest < open.start + open.rows.count) open.rows.truncate(lowest - open.start)
      }
      for (const { hash, block } of added) extend({ hash, header: block.header })
    },
  }
}
