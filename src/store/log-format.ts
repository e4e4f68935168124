/**
 * The bytes of a write-ahead log's files. A file (segment) begins with a header; records follow. A batch is one record,
 * or several of which the last one commits it. Every byte is covered by a checksum, and records count up from one to
 * the next over all files, so that damage and missing records can be told from an interrupted write.
 */
import { crc32 } from 'node:zlib'
import type { Files, ReadableFile } from './files.ts'
import { sizeOfOperation, writeOperation } from './operation-record.ts'
import type { Operation } from './table.ts'

const MAGIC = Buffer.from('TANDEMWL')
const VERSION = 2
/**
 * Magic (8 bytes), version (4), number of the file (4), sequence of its first record (6), sequence after which it holds all
 * changes (6), CRC-32 of these (4).
 */
export const SEGMENT_HEADER_BYTES = 32
/**
 * Kind (1), sequence (6), records before it that may not be on the medium (4), length (4), CRC-32 of the rest, CRC-32
 * of these.
 */
const HEADER_BYTES = 23
/** The end of each record: an interrupted write leaves zeros, never this. */
const TRAILER = 0xff
const KIND = { piece: 0x70, commit: 0x63 } as const
/** Bytes of a record of a batch that has several; a longer operation has a record of its own. */
const PIECE_BYTES = 256 << 10
/** Bytes that are read at once. */
const WINDOW_BYTES = 256 << 10

/** The name of a file. */
export const segmentName = (number: number): string => `${String(number).padStart(10, '0')}.wal`

/** The numbers of the files among names, ascending. */
export function segmentNumbers(names: readonly string[], extension: 'wal' | 'log' = 'wal'): number[] {
  return names
    .filter((name) => /^\d{10}\.\w+$/.test(name) && name.endsWith(`.${extension}`))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b)
}

/** Names in a folder, none where it is missing. */
export function namesIn(files: Files, folder: string): readonly string[] {
  try {
    return files.list(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** Does a folder have the file of a number, of this format or the one before? */
export function hasSegment(files: Files, folder: string, number: number): boolean {
  const names = namesIn(files, folder)
  return [...segmentNumbers(names), ...segmentNumbers(names, 'log')].includes(number)
}

/** What the header of a file says beside its number. */
export interface SegmentStart {
  /** Sequence of the first record. */
  readonly first: number
  /**
   * The file, with those that follow, holds all changes after this sequence: the one before `first`, or an earlier one
   * in a file begun after a failure, whose first batch repeats what the database lacked.
   */
  readonly base: number
}

/** The header of a file. */
export function encodeSegmentHeader(number: number, { first, base }: SegmentStart): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
  header.set(MAGIC)
  header.writeUInt32LE(VERSION, 8)
  header.writeUInt32LE(number, 12)
  header.writeUIntLE(first, 16, 6)
  header.writeUIntLE(base, 22, 6)
  header.writeUInt32LE(crc32(header.subarray(0, 28)), 28)
  return header
}

/** Puts batches together as records, in memory that it uses again. */
export class RecordEncoder {
  readonly #scratch: Buffer

  /** A batch with more than `pieceBytes` becomes several records. */
  constructor(pieceBytes = PIECE_BYTES) {
    this.#scratch = Buffer.allocUnsafe(HEADER_BYTES + pieceBytes + 1)
  }

  /**
   * Encodes a batch whose first record has the sequence `first`; `unsynced` records before it may not be on the medium.
   * `write` gets one record after the other, each valid until it returns. The result is the sequence of the last
   * record.
   */
  encode(
    operations: Iterable<Operation>,
    first: number,
    unsynced: number,
    write: (record: Buffer) => void,
  ): number {
    let [record, at, sequence] = [this.#scratch, HEADER_BYTES, first]
    const end = (kind: number) => {
      record[at] = TRAILER
      const whole = record.subarray(0, at + 1)
      whole[0] = kind
      whole.writeUIntLE(sequence, 1, 6)
      whole.writeUInt32LE(unsynced + sequence - first, 7)
      whole.writeUInt32LE(whole.length - HEADER_BYTES, 11)
      whole.writeUInt32LE(crc32(whole.subarray(HEADER_BYTES)), 15)
      whole.writeUInt32LE(crc32(whole.subarray(0, 19)), 19)
      write(whole)
    }
    for (const operation of operations) {
      const size = sizeOfOperation(operation)
      if (at + size + 1 > record.length) {
        if (at > HEADER_BYTES) {
          end(KIND.piece)
          sequence++
        }
        const needed = HEADER_BYTES + size + 1
        record = needed > this.#scratch.length ? Buffer.allocUnsafe(needed) : this.#scratch
        at = HEADER_BYTES
      }
      at = writeOperation(operation, record, at)
    }
    end(KIND.commit)
    return sequence
  }
}

/** A whole record. */
export interface LogRecord {
  readonly sequence: number
  /** The record with this sequence, and all before it, were on the medium or acknowledged when this one was written. */
  readonly durable: number
  /** It is the last one of its batch. */
  readonly commits: boolean
  /** Its operations; valid until the next call of the reader. */
  readonly operations: Buffer
  /** Where it ends in the file. */
  readonly end: number
}

/**
 * Why there is no whole record at a position: the file ends there or within it, or its bytes are not those that were
 * written.
 */
export type NoRecord = 'end' | 'cut off' | 'damaged'

/** Reads a file of the log through a window of fixed size. */
export class SegmentReader {
  readonly #file: ReadableFile
  readonly #window = Buffer.allocUnsafe(WINDOW_BYTES)
  #start = 0
  #length = 0

  constructor(file: ReadableFile) {
    this.#file = file
  }

  get size(): number {
    return this.#file.size
  }

  /** Bytes within the file; valid until the next call. Throws when the file has become shorter. */
  #bytes(from: number, length: number): Buffer {
    const skipped = from - this.#start
    if (skipped >= 0 && skipped + length <= this.#length) {
      return this.#window.subarray(skipped, skipped + length)
    }
    const isLong = length > this.#window.length
    const target = isLong ? Buffer.allocUnsafe(length) : this.#window
    let read = 0
    while (read < length) {
      const count = this.#file.read(target.subarray(read), from + read)
      if (count === 0) throw new Error('the write-ahead log became shorter while it was read')
      read += count
    }
    if (isLong) return target
    this.#start = from
    this.#length = read
    return target.subarray(0, length)
  }

  /** Where the file begins; `undefined` when the header is damaged or incomplete. */
  start(number: number): SegmentStart | undefined {
    if (this.size < SEGMENT_HEADER_BYTES) return undefined
    const header = this.#bytes(0, SEGMENT_HEADER_BYTES)
    const start = { first: header.readUIntLE(16, 6), base: header.readUIntLE(22, 6) }
    return header.equals(encodeSegmentHeader(number, start)) ? start : undefined
  }

  /** The record at a position. */
  record(at: number): LogRecord | NoRecord {
    const rest = this.size - at
    if (rest === 0) return 'end'
    if (rest < HEADER_BYTES) return 'cut off'
    const header = this.#bytes(at, HEADER_BYTES)
    const kind = header[0]
    if (crc32(header.subarray(0, 19)) !== header.readUInt32LE(19)) return 'damaged'
    if (kind !== KIND.piece && kind !== KIND.commit) return 'damaged'
    const sequence = header.readUIntLE(1, 6)
    const durable = sequence - header.readUInt32LE(7) - 1
    const length = header.readUInt32LE(11)
    const checksum = header.readUInt32LE(15)
    if (rest < HEADER_BYTES + length) return 'cut off'
    const body = this.#bytes(at + HEADER_BYTES, length)
    if (crc32(body) !== checksum) return 'damaged'
    const operations = body.subarray(0, length - 1)
    return { sequence, durable, commits: kind === KIND.commit, operations, end: at + HEADER_BYTES + length }
  }

  /** The next position from `from` on at which a whole record with a greater sequence begins. */
  nextRecord(from: number, sequence: number): number | undefined {
    for (let at = from; at + HEADER_BYTES < this.size; at++) {
      const kind = this.#bytes(at, 7)
      if (kind[0] !== KIND.piece && kind[0] !== KIND.commit) continue
      if (kind.readUIntLE(1, 6) <= sequence) continue
      const record = this.record(at)
      if (typeof record === 'object') return at
    }
    return undefined
  }

  /** Where the damaged record at a position ends, or its header where nothing else is known of it. */
  extent(at: number): number {
    const header = this.#bytes(at, HEADER_BYTES)
    const isWhole = crc32(header.subarray(0, 19)) === header.readUInt32LE(19)
    return at + HEADER_BYTES + (isWhole ? header.readUInt32LE(11) : 0)
  }

  /**
   * Does a disk sector between two positions hold only zeros? A write that a crash of the machine interrupted ends so;
   * a record begins and ends with other bytes.
   */
  hasUnwrittenSector(from: number, to: number): boolean {
    const SECTOR = 512
    for (let at = from; at < to; ) {
      const end = Math.min(to, (Math.floor(at / SECTOR) + 1) * SECTOR)
      if (this.#bytes(at, end - at).every((byte) => byte === 0)) return true
      at = end
    }
    return false
  }
}
