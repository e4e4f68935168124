/**
 * The checksums of the blocks of LevelDB's tables (LevelDB, doc/table_format.md). LevelDB can verify them on reads, but
 * `classic-level` has no option for that: a changed byte of a key makes an entry look absent.
 */
import { basename } from 'node:path'
import { createCRC32 } from 'hash-wasm'
import { diskFiles, type Files, type ReadableFile } from './files.ts'

const FOOTER_BYTES = 48
const MAGIC = Buffer.from('57fb808b247547db', 'hex')
/** After each block: how it is compressed, and its checksum. */
const TRAILER_BYTES = 5
/** After each key in a table: a sequence number and what was done with the key. */
const KEY_SUFFIX_BYTES = 8
/** Bytes that are read at once, and after which a check may pause. */
const WINDOW_BYTES = 1 << 20

/** Where a block is in its file. */
interface Handle {
  readonly offset: number
  readonly size: number
}

/** CRC-32C of bytes, an unsigned number. */
export type Checksum = (bytes: Uint8Array) => number

/** The polynomial of CRC-32C; that of `node:zlib` is another. */
const CASTAGNOLI = 0x82f63b78

/** Loads the function; `undefined` where the process has no WebAssembly. */
export async function createChecksum(): Promise<Checksum | undefined> {
  const hasher = await createCRC32(CASTAGNOLI).catch(() => undefined)
  return hasher && ((bytes) => Buffer.from(hasher.init().update(bytes).digest('binary')).readUInt32BE())
}

/** The checksum as LevelDB stores it: rotated, with a constant added. */
function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}

/** Reads numbers of seven bits a byte, the lowest first. */
class Varints {
  readonly #bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  next(): number {
    let [value, scale] = [0, 1]
    for (;;) {
      const byte = this.#bytes[this.at++] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 0x80
    }
  }

  handle(): Handle {
    return { offset: this.next(), size: this.next() }
  }
}

/** An entry of a block that lists others. */
interface Listed {
  /** No key of the block is greater. */
  readonly last: Buffer
  readonly handle: Handle
  /** The entry itself; complete, since an index shares no bytes between its keys. */
  readonly bytes: Buffer
}

/** The entries of a block's list; none of a compressed block, which this node does not write. */
function entriesIn(block: Buffer): Listed[] {
  const size = block.length - TRAILER_BYTES
  if (block[size] !== 0) return []
  const end = size - 4 - 4 * block.readUInt32LE(size - 4)
  const entries: Listed[] = []
  let key = Buffer.alloc(0)
  const entry = new Varints(block, 0)
  while (entry.at < end) {
    const start = entry.at
    const shared = entry.next()
    const keyBytes = entry.next()
    const valueBytes = entry.next()
    const value = entry.at + keyBytes
    key = Buffer.concat([key.subarray(0, shared), block.subarray(entry.at, value)])
    const last = key.subarray(0, Math.max(0, key.length - KEY_SUFFIX_BYTES))
    entry.at = value + valueBytes
    const bytes = Buffer.from(block.subarray(start, entry.at))
    entries.push({ last, handle: new Varints(block, value).handle(), bytes })
  }
  return entries
}

/** Reads a table in order through a window. */
class TableReader {
  readonly #file: ReadableFile
  readonly #checksum: Checksum
  /** What windows are read into: new memory for each took longer than the reading. */
  #memory = Buffer.alloc(0)
  #window = this.#memory
  #start = 0

  constructor(file: ReadableFile, checksum: Checksum) {
    this.#file = file
    this.#checksum = checksum
  }

  get size(): number {
    return this.#file.size
  }

  /** Fewer bytes where the file ends. Valid until the next call. */
  bytes(from: number, length: number): Buffer {
    const skipped = from - this.#start
    if (skipped < 0 || skipped + length > this.#window.length) {
      const wanted = Math.max(0, Math.min(this.size - from, Math.max(length, WINDOW_BYTES)))
      if (this.#memory.length < wanted) this.#memory = Buffer.allocUnsafe(wanted)
      const window = this.#memory.subarray(0, wanted)
      const read = wanted === 0 ? 0 : this.#file.read(window, from)
      this.#window = window.subarray(0, read)
      this.#start = from
    }
    const at = from - this.#start
    return this.#window.subarray(at, at + length)
  }

  /** A block with its trailer; `undefined` where its checksum is wrong. */
  block({ offset, size }: Handle): Buffer | undefined {
    const length = size + TRAILER_BYTES
    if (offset + length > this.size) return undefined
    const bytes = this.bytes(offset, length)
    if (bytes.length < length) return undefined
    return masked(this.#checksum(bytes.subarray(0, size + 1))) === bytes.readUInt32LE(size + 1)
      ? bytes
      : undefined
  }
}

/** Keys from `from` to `to`, both included. */
export interface DamagedKeys {
  readonly from: Uint8Array
  /** `undefined` is the last key of the database. */
  readonly to: Uint8Array | undefined
}

/** A block of a table whose checksum is wrong. */
export interface DamagedBlock {
  /** Name of the file. */
  readonly table: string
  readonly offset: number
  /** Is it the end of the file, without which the table is not a whole one? LevelDB may have been ended while it wrote it. */
  readonly isFooter: boolean
  /** Names the file and the byte. */
  readonly problem: string
  /** The keys that it may hold: all, where it is one that lists others. */
  readonly keys: DamagedKeys
}

const NO_BYTES = new Uint8Array()
const ALL_KEYS: DamagedKeys = { from: NO_BYTES, to: undefined }

/** Damage at an offset, and how many bytes were read since the last result. */
interface Checked {
  readonly bytes: number
  readonly damage?: { readonly offset: number; readonly isFooter?: boolean; readonly keys: DamagedKeys }
}

/** Checks the blocks of a table, those that list others first; where the index is damaged, what it names is not read. */
function* checkBlocks(table: TableReader): Generator<Checked> {
  const at = table.size - FOOTER_BYTES
  const footer = Buffer.from(at < 0 ? NO_BYTES : table.bytes(at, FOOTER_BYTES))
  if (!footer.subarray(-MAGIC.length).equals(MAGIC)) {
    yield { bytes: FOOTER_BYTES, damage: { offset: Math.max(0, at), isFooter: true, keys: ALL_KEYS } }
    return
  }
  const place = new Varints(footer, 0)
  const [metaindex, index] = [place.handle(), place.handle()]
  const lists = [metaindex, index].map((handle) => {
    const block = table.block(handle)
    return { handle, entries: block && entriesIn(block) }
  })
  for (const { handle, entries } of lists) {
    const isDamaged = entries === undefined
    yield { bytes: handle.size, ...(isDamaged && { damage: { offset: handle.offset, keys: ALL_KEYS } }) }
  }
  let from: Uint8Array = NO_BYTES
  for (const { last, handle } of lists[1]?.entries ?? []) {
    const isDamaged = table.block(handle) === undefined
    const damage = { offset: handle.offset, keys: { from, to: last } }
    yield { bytes: handle.size, ...(isDamaged && { damage }) }
    from = last
  }
  // The filter: without its bits a key of any block looks absent.
  for (const { handle } of lists[0]?.entries ?? []) {
    const isDamaged = table.block(handle) === undefined
    yield { bytes: handle.size, ...(isDamaged && { damage: { offset: handle.offset, keys: ALL_KEYS } }) }
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Checks one table; yields whenever about a megabyte was read, with the damage that was found since. */
function* checkTable(
  folder: string,
  name: string,
  checksum: Checksum,
  files: Files,
): Generator<DamagedBlock[]> {
  const file = files.openForReading(`${folder}/${name}`)
  try {
    let [found, read]: [DamagedBlock[], number] = [[], 0]
    for (const { bytes, damage } of checkBlocks(new TableReader(file, checksum))) {
      if (damage !== undefined) {
        const what = damage.isFooter === true ? 'the footer is not one' : 'the checksum of a block is wrong'
        const problem = `${basename(folder)}/${name}, at byte ${damage.offset}: ${what}`
        found.push({ table: name, problem, isFooter: false, ...damage })
      }
      read += bytes
      if (read < WINDOW_BYTES) continue
      yield found
      ;[found, read] = [[], 0]
    }
    yield found
  } finally {
    file.close()
  }
}

/**
 * Checks tables of LevelDB's folder; one that was merged into another meanwhile is skipped. Yields after about a
 * megabyte, and at the end of each table, with the damaged blocks that were found since. Throws the file system's
 * errors.
 */
export function* checkTables(
  folder: string,
  names: Iterable<string>,
  checksum: Checksum,
  files: Files = diskFiles,
): Generator<DamagedBlock[]> {
  for (const name of names) {
    try {
      yield* checkTable(folder, name, checksum, files)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
}

function withTrailer(contents: Buffer, checksum: Checksum): Buffer {
  const block = Buffer.concat([contents, Buffer.alloc(TRAILER_BYTES)])
  block.writeUInt32LE(masked(checksum(block.subarray(0, contents.length + 1))), contents.length + 1)
  return block
}

/** The contents of a block that lists others, and of an empty one: entries, where they begin, and how many there are. */
function listOf(entries: readonly Buffer[]): Buffer {
  const starts = entries.length === 0 ? [0] : []
  let at = 0
  for (const entry of entries) {
    starts.push(at)
    at += entry.length
  }
  const numbers = Buffer.alloc(4 * starts.length + 4)
  for (const [i, start] of [...starts, starts.length].entries()) numbers.writeUInt32LE(start, 4 * i)
  return Buffer.concat([...entries, numbers])
}

/**
 * The bytes of a table, as many as before, whose index lacks the blocks at some offsets; where its filter is damaged, it has
 * none. `undefined` where the footer or the index is damaged.
 */
export function withoutBlocks(
  bytes: Buffer,
  offsets: readonly number[],
  checksum: Checksum,
): Buffer | undefined {
  const table = Buffer.from(bytes)
  const at = table.length - FOOTER_BYTES
  if (at < 0 || offsets.includes(at)) return undefined
  const place = new Varints(table, at)
  let [metaindex, index] = [place.handle(), place.handle()]
  if (offsets.includes(index.offset)) return undefined
  const block = table.subarray(index.offset, index.offset + index.size + TRAILER_BYTES)
  const entries = entriesIn(block)
  const kept = entries.filter(({ handle }) => !offsets.includes(handle.offset))
  const isFilterDamaged = offsets.length > entries.length - kept.length
  if (isFilterDamaged) {
    // In the place of the list with the filter's name, which is longer and is in front of the index.
    const empty = withTrailer(listOf([]), checksum)
    metaindex = { offset: index.offset - empty.length, size: empty.length - TRAILER_BYTES }
    table.set(empty, metaindex.offset)
  }
  const list = withTrailer(listOf(kept.map(({ bytes: entry }) => entry)), checksum)
  table.fill(0, index.offset, at)
  table.set(list, index.offset)
  index = { offset: index.offset, size: list.length - TRAILER_BYTES }
  table.fill(0, at, table.length - MAGIC.length)
  table.set(Buffer.concat([metaindex, index].map(encodedHandle)), at)
  return table
}

function encodedHandle({ offset, size }: Handle): Buffer {
  return Buffer.from([offset, size].flatMap(varint))
}

function varint(value: number): number[] {
  const rest = Math.floor(value / 0x80)
  return rest === 0 ? [value] : [(value % 0x80) | 0x80, ...varint(rest)]
}
