/**
 * The write-ahead log beside the database: each batch is appended to a file before it is acknowledged, and read back after a
 * crash. Appending is one synchronous write into the operating system, a tenth of the time that LevelDB's answer takes.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { NodeError } from '../errors.ts'
import { type AppendedFile, diskFiles, type Files, readWhole, writeWhole } from './files.ts'
import type { Operation } from './table.ts'

/** Bytes after which a new file is begun. */
const SEGMENT_BYTES = 4 << 20
/** Length and checksum, each 4 bytes, in front of a record. */
export const HEADER_BYTES = 8
/** In front of a key and of a value: its length, 4 bytes. A value of this length is a deletion. */
const LENGTH_BYTES = 4
const DELETED = 0xffff_ffff

const nameOf = (number: number): string => `${String(number).padStart(10, '0')}.log`

/** Where records are put together; it grows to the largest and is written out before the next one. */
let scratch = Buffer.allocUnsafe(1 << 16)

/** One batch as a record: header, then length-prefixed keys and values. Valid until the next call. */
export function encodeRecord(operations: readonly Operation[]): Buffer {
  let size = HEADER_BYTES
  for (const operation of operations) {
    size += 2 * LENGTH_BYTES + operation.key.length + (operation.type === 'put' ? operation.value.length : 0)
  }
  if (scratch.length < size) scratch = Buffer.allocUnsafe(2 * size)
  const record = scratch.subarray(0, size)
  let at = HEADER_BYTES
  for (const operation of operations) {
    at = record.writeUInt32LE(operation.key.length, at)
    record.set(operation.key, at)
    at += operation.key.length
    at = record.writeUInt32LE(operation.type === 'put' ? operation.value.length : DELETED, at)
    if (operation.type === 'put') {
      record.set(operation.value, at)
      at += operation.value.length
    }
  }
  record.writeUInt32LE(size - HEADER_BYTES, 0)
  record.writeUInt32LE(crc32(record.subarray(HEADER_BYTES)), 4)
  return record
}

/** The operations of a record without its header. */
export function decodeRecord(body: Buffer): Operation[] {
  const operations: Operation[] = []
  for (let at = 0; at < body.length; ) {
    const keyEnd = at + LENGTH_BYTES + body.readUInt32LE(at)
    const key = new Uint8Array(body.subarray(at + LENGTH_BYTES, keyEnd))
    const length = body.readUInt32LE(keyEnd)
    at = keyEnd + LENGTH_BYTES
    if (length === DELETED) {
      operations.push({ type: 'del', key })
      continue
    }
    operations.push({ type: 'put', key, value: new Uint8Array(body.subarray(at, at + length)) })
    at += length
  }
  return operations
}

/** A record in a file: its body, `undefined` when the checksum is another; where it ends. `undefined` when it is cut off. */
function recordAt(
  bytes: Buffer,
  at: number,
): { readonly body: Buffer | undefined; readonly end: number } | undefined {
  if (at + HEADER_BYTES > bytes.length) return undefined
  const end = at + HEADER_BYTES + bytes.readUInt32LE(at)
  if (end > bytes.length) return undefined
  const body = bytes.subarray(at + HEADER_BYTES, end)
  return { body: crc32(body) === bytes.readUInt32LE(at + 4) ? body : undefined, end }
}

/** How a file ends: with a whole record, within one, or with a whole record behind a damaged one. */
type SegmentEnd = 'whole' | 'cut off' | 'damaged'

/** The whole records at the beginning of a file. */
function readSegment(files: Files, path: string): { operations: Operation[]; end: SegmentEnd } {
  const bytes = readWhole(files, path)
  const operations: Operation[] = []
  let at = 0
  for (;;) {
    const record = recordAt(bytes, at)
    if (record?.body === undefined) {
      // The death of the machine can leave zeros, which are a record of length 0.
      const next = record === undefined ? undefined : recordAt(bytes, record.end)?.body
      const isFollowed = next !== undefined && next.length > 0
      return { operations, end: at === bytes.length ? 'whole' : isFollowed ? 'damaged' : 'cut off' }
    }
    operations.push(...decodeRecord(record.body))
    at = record.end
  }
}

/** Numbers of the files of a log, oldest first. */
function segmentsIn(files: Files, folder: string): number[] {
  return files
    .list(folder)
    .filter((name) => /^\d{10}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b)
}

/** Throws `database` when a file is damaged, or one before the last is cut off. */
function readSegments(files: Files, folder: string, numbers: readonly number[]): Operation[] {
  const left: Operation[] = []
  for (const number of numbers) {
    const path = join(folder, nameOf(number))
    const { operations, end } = readSegment(files, path)
    if (end === 'damaged' || (end === 'cut off' && number !== numbers.at(-1))) {
      throw new NodeError('database', `The write-ahead log ${path} is damaged. It is left as it is.`)
    }
    for (const operation of operations) left.push(operation)
  }
  return left
}

/** Does the folder of a log have the file of this number? */
export function hasSegment(folder: string, number: number): boolean {
  return existsSync(join(folder, nameOf(number)))
}

/** What the log of a folder holds, in the order of writing; nothing is changed. Throws `database` as `open` does. */
export function readWriteAheadLog(folder: string): readonly Operation[] {
  return existsSync(folder) ? readSegments(diskFiles, folder, segmentsIn(diskFiles, folder)) : []
}

/** An open write-ahead log. One process at a time; whoever opens it holds the database's lock. */
export class WriteAheadLog {
  readonly #files: Files
  readonly #folder: string
  readonly #fsync: boolean
  /** Numbers of the files that exist, oldest first; the last one is written to. */
  #segments: number[]
  #file: AppendedFile
  #size = 0

  private constructor(files: Files, folder: string, fsync: boolean, number: number) {
    this.#files = files
    this.#folder = folder
    this.#fsync = fsync
    this.#segments = [number]
    this.#file = files.create(join(folder, nameOf(number)))
  }

  /**
   * Opens the log of a folder, made when it is missing. What an earlier process left goes to `replay`, all in one
   * list in the order of writing, and is removed once that has resolved. A record that was cut off at the very end was
   * never acknowledged and is dropped; damage anywhere else throws `database`.
   */
  static async open(
    folder: string,
    fsync: boolean,
    replay: (operations: Operation[]) => Promise<void>,
    files: Files = diskFiles,
  ): Promise<WriteAheadLog> {
    files.makeFolder(folder)
    const numbers = segmentsIn(files, folder)
    const left = readSegments(files, folder, numbers)
    if (left.length > 0) await replay(left)
    const log = new WriteAheadLog(files, folder, fsync, (numbers.at(-1) ?? 0) + 1)
    for (const number of numbers) files.remove(join(folder, nameOf(number)))
    return log
  }

  /** Number of the first file whose batches may not be removed yet. */
  get first(): number {
    return this.#segments[0] as number
  }

  /** Writes a batch. It survives the death of this process from then on; with `fsync`, that of the machine once it resolves. */
  append(operations: readonly Operation[]): Promise<void> | undefined {
    const record = encodeRecord(operations)
    try {
      writeWhole(this.#file, record)
    } catch (error) {
      // Half a record in the middle would hide what comes behind it.
      this.#file.truncate(this.#size)
      throw error
    }
    this.#size += record.length
    return this.#fsync ? this.#file.sync() : undefined
  }

  /** Begins a new file when the present one is large; the files before it, to be dropped once the database has their batches. */
  retire(): readonly number[] {
    if (this.#size < SEGMENT_BYTES) return []
    const retired = this.#segments
    const next = (retired.at(-1) as number) + 1
    this.#file.close()
    this.#file = this.#files.create(join(this.#folder, nameOf(next)))
    this.#segments = [next]
    this.#size = 0
    return retired
  }

  /** Removes retired files. */
  drop(retired: readonly number[]): void {
    for (const number of retired) this.#files.remove(join(this.#folder, nameOf(number)))
  }

  /** Ends the log; the database has everything. */
  close(): void {
    this.#file.close()
    this.drop(this.#segments)
  }
}
