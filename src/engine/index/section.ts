/** One section of an index: for each term a bitmap of the blocks that contain it, and queries over these rows. */

/** Number of heights in a section; it starts at a multiple of this. */
export const SECTION_BLOCKS = 1024
const ROW_BYTES = SECTION_BLOCKS / 8
/** Maximum number of set bits of a row that is encoded as a list of two-byte positions instead of a bitmap. */
const MAX_LISTED = ROW_BYTES / 2 - 1

/**
 * A query in conjunctive form: a block matches when every clause holds. A clause holds when one of its items does, an
 * item when the block contains all of its terms. The empty query matches every block.
 */
export type Clauses = readonly (readonly (readonly number[])[])[]

/** The rows of a section. */
export interface Rows {
  /** Bitmap of the blocks that contain a term, the first block in the lowest bit of the first byte. Read-only. */
  row(term: number): Uint8Array | undefined
}

/** Receives the terms of a block, possibly with repetitions. */
export type Mark = (term: number) => void

/** Rows that grow block by block and are truncated when blocks are removed. Terms are below 2^32. */
export class GrowingRows implements Rows {
  readonly #slots = new Map<number, number>()
  #bytes = new Uint8Array(ROW_BYTES * 16)
  #count: number

  /** @param count number of blocks at the start of the section to skip; no row contains them. */
  constructor(count = 0) {
    this.#count = count
  }

  /** Number of blocks added, skipped ones included. */
  get count(): number {
    return this.#count
  }

  /** Adds the next block; `contents` marks its terms. */
  add(contents: (mark: Mark) => void): void {
    const at = this.#count >> 3
    const bit = 1 << (this.#count & 7)
    contents((term) => {
      const byte = this.#slotOf(term) * ROW_BYTES + at
      this.#bytes[byte] = (this.#bytes[byte] ?? 0) | bit
    })
    this.#count++
  }

  /** Removes all but the first `count` blocks. */
  truncate(count: number): void {
    if (count >= this.#count) return
    const at = count >> 3
    const kept = (1 << (count & 7)) - 1
    for (const slot of this.#slots.values()) {
      const start = slot * ROW_BYTES
      this.#bytes[start + at] = (this.#bytes[start + at] ?? 0) & kept
      this.#bytes.fill(0, start + at + 1, start + ROW_BYTES)
    }
    this.#count = count
  }

  row(term: number): Uint8Array | undefined {
    const slot = this.#slots.get(term)
    return slot === undefined ? undefined : this.#rowAt(slot)
  }

  /**
   * The encoding that `readRows` reads: number of rows, then term and end offset of each in order of terms (four bytes
   * each, little-endian), then the rows: bitmaps, or for few blocks their positions (two bytes each).
   */
  encode(): Uint8Array {
    const terms: number[] = []
    const rows: Uint8Array[] = []
    for (const [term, slot] of [...this.#slots].sort(([a], [b]) => a - b)) {
      const row = this.#rowAt(slot)
      const positions = positionsIn(row)
      if (positions.length === 0) continue
      terms.push(term)
      rows.push(positions.length > MAX_LISTED ? row : listed(positions))
    }
    const start = 4 + terms.length * 8
    const bytes = new Uint8Array(rows.reduce((length, row) => length + row.length, start))
    const view = new DataView(bytes.buffer)
    view.setUint32(0, terms.length, true)
    let end = start
    for (const [i, term] of terms.entries()) {
      const row = rows[i] as Uint8Array
      bytes.set(row, end)
      end += row.length
      view.setUint32(4 + i * 8, term, true)
      view.setUint32(8 + i * 8, end, true)
    }
    return bytes
  }

  #rowAt(slot: number): Uint8Array {
    return this.#bytes.subarray(slot * ROW_BYTES, (slot + 1) * ROW_BYTES)
  }

  #slotOf(term: number): number {
    const known = this.#slots.get(term)
    if (known !== undefined) return known
    const slot = this.#slots.size
    this.#slots.set(term, slot)
    if ((slot + 1) * ROW_BYTES > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    return slot
  }
}

function listed(positions: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(positions.length * 2)
  const view = new DataView(bytes.buffer)
  for (const [i, position] of positions.entries()) view.setUint16(i * 2, position, true)
  return bytes
}

/** Rows over the bytes that `encode` wrote; a row is decoded when it is read. */
export function readRows(bytes: Uint8Array): Rows {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const count = view.getUint32(0, true)
  const endAt = (i: number) => (i < 0 ? 4 + count * 8 : view.getUint32(8 + i * 8, true))
  return {
    row(term) {
      let low = 0
      let high = count
      while (low < high) {
        const middle = (low + high) >> 1
        if (view.getUint32(4 + middle * 8, true) < term) low = middle + 1
        else high = middle
      }
      if (low === count || view.getUint32(4 + low * 8, true) !== term) return undefined
      const [start, end] = [endAt(low - 1), endAt(low)]
      if (end - start === ROW_BYTES) return bytes.subarray(start, end)
      const row = new Uint8Array(ROW_BYTES)
      for (let at = start; at < end; at += 2) {
        const position = view.getUint16(at, true)
        row[position >> 3] = (row[position >> 3] ?? 0) | (1 << (position & 7))
      }
      return row
    },
  }
}

/** Adds the positions of the set bits of a byte of a row that lie from `first` to `last`, both included. */
function addPositions(positions: number[], byte: number, at: number, first: number, last: number): void {
  for (let bit = 0; bit < 8; bit++) {
    const position = at * 8 + bit
    if ((byte >> bit) & 1 && position >= first && position <= last) positions.push(position)
  }
}

/** The set bits of a row, ascending. */
function positionsIn(row: Uint8Array): number[] {
  const positions: number[] = []
  for (let at = 0; at < ROW_BYTES; at++) {
    const byte = row[at] ?? 0
    if (byte !== 0) addPositions(positions, byte, at, 0, SECTION_BLOCKS - 1)
  }
  return positions
}

/** A row that is combined with others word by word. */
interface Bitmap {
  readonly bytes: Uint8Array
  readonly words: Uint32Array
}

function bitmap(): Bitmap {
  const bytes = new Uint8Array(ROW_BYTES)
  return { bytes, words: new Uint32Array(bytes.buffer) }
}

/** Of the query that is evaluated: the blocks of all clauses, of a clause, of an item, and of a term. */
const found = bitmap()
const any = bitmap()
const all = bitmap()
const one = bitmap()

function intersect(into: Bitmap, other: Bitmap): void {
  const [a, b] = [into.words, other.words]
  for (let i = 0; i < a.length; i++) a[i] = (a[i] ?? 0) & (b[i] ?? 0)
}

function unite(into: Bitmap, other: Bitmap): void {
  const [a, b] = [into.words, other.words]
  for (let i = 0; i < a.length; i++) a[i] = (a[i] ?? 0) | (b[i] ?? 0)
}

/** Puts the blocks that contain all terms into `all`; false when a term is in no block of the section. */
function readAll(rows: Rows, terms: readonly number[]): boolean {
  let isFirst = true
  for (const term of terms) {
    const row = rows.row(term)
    if (row === undefined) return false
    if (isFirst) all.bytes.set(row)
    else {
      one.bytes.set(row)
      intersect(all, one)
    }
    isFirst = false
  }
  return terms.length > 0
}

/** Puts the blocks for which a clause holds into `any`; false when it is known that there are none. */
function readAny(rows: Rows, items: Clauses[number]): boolean {
  let isFirst = true
  for (const terms of items) {
    if (!readAll(rows, terms)) continue
    if (isFirst) any.words.set(all.words)
    else unite(any, all)
    isFirst = false
  }
  return !isFirst
}

/** Positions in the section, from `first` to `last`, of the blocks for which the clauses hold; ascending. */
export function positionsWhere(rows: Rows, clauses: Clauses, first: number, last: number): number[] {
  if (clauses.length === 0) found.words.fill(0xffff_ffff)
  let isFirst = true
  for (const clause of clauses) {
    if (!readAny(rows, clause)) return []
    if (isFirst) found.words.set(any.words)
    else intersect(found, any)
    isFirst = false
  }
  const positions: number[] = []
  for (let word = first >> 5; word <= last >> 5; word++) {
    if (found.words[word] === 0) continue
    for (let at = word * 4; at < word * 4 + 4; at++) {
      addPositions(positions, found.bytes[at] ?? 0, at, first, last)
    }
  }
  return positions
}
