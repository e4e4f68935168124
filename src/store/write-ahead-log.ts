/**
 * The write-ahead log beside the database: each batch is appended to a file before it is acknowledged, and read back
 * after a crash. Appending is one synchronous write to the operating system, which takes a tenth of the time of a
 * LevelDB batch.
 */
import { join } from 'node:path'
import { type AppendedFile, type Files, writeWhole } from './files.ts'
import {
  encodeSegmentHeader,
  RecordEncoder,
  SEGMENT_HEADER_BYTES,
  type SegmentStart,
  segmentName,
} from './log-format.ts'
import type { Operation } from './table.ts'
import type { FlushedLog } from './tables.ts'

/** Bytes after which a new file is begun. */
const SEGMENT_BYTES = 4 << 20

/** Where a log is, and whether a batch waits for the medium. */
export interface LogOptions {
  readonly files: Files
  /** It exists. */
  readonly folder: string
  readonly fsync: boolean
  /** Bytes after which a new file is begun, and of a record of a batch that has several; those of the format unless given. */
  readonly segmentBytes?: number | undefined
  readonly pieceBytes?: number | undefined
}

/** A file that is written to, or whose records are not yet on the medium. */
class Segment {
  readonly number: number
  readonly path: string
  readonly #folder: string
  readonly #files: Files
  readonly #file: AppendedFile
  size = SEGMENT_HEADER_BYTES
  /** Bytes that were written when it was synced last. */
  syncedSize = SEGMENT_HEADER_BYTES
  #isNameSynced = false

  /** Makes the file of a number, and removes it when it throws, as far as the disk allows. */
  constructor({ files, folder }: LogOptions, number: number, start: SegmentStart) {
    this.number = number
    this.path = join(folder, segmentName(number))
    this.#folder = folder
    this.#files = files
    this.#file = files.create(this.path)
    try {
      writeWhole(this.#file, encodeSegmentHeader(number, start))
    } catch (error) {
      this.discard()
      throw error
    }
  }

  write(record: Buffer): void {
    writeWhole(this.#file, record)
    this.size += record.length
  }

  async sync(): Promise<void> {
    const { size } = this
    await this.#file.sync()
    if (!this.#isNameSynced) await this.#files.syncFolder(this.#folder)
    this.#isNameSynced = true
    this.syncedSize = size
  }

  /** Cuts off what was written after a size. A failing disk may keep it: the sequences of the records show what counts. */
  cutOff(size: number): void {
    try {
      this.#file.truncate(size)
      this.size = size
    } catch {
      // The next file begins with the sequence of what is taken back.
    }
  }

  close(): void {
    this.#file.close()
  }

  discard(): void {
    try {
      this.close()
      this.#files.remove(this.path)
    } catch {
      // It holds no batch that counts.
    }
  }
}

/** A batch that waits for the medium. */
interface Waiting {
  readonly sequence: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** An open write-ahead log. One process at a time; whoever opens it holds the database's lock. */
export class WriteAheadLog {
  readonly #options: LogOptions
  readonly #encoder: RecordEncoder
  #current: Segment
  /** Files before the present one that are open because they are not synced. */
  #unsynced: Segment[] = []
  /** Files that exist, oldest first, with the sequence of the last record; the present one has no last one yet. */
  #paths: { readonly number: number; readonly path: string; last: number }[]
  /** Of the last file that was begun, or could not be. */
  #number: number
  #sequence: number
  /** Of the last record that is on the medium; unused without `fsync`. */
  #durable: number
  #waiting: Waiting[] = []
  #syncing: Promise<void> | undefined
  #hasFailed = false

  /** Begins a log after another's end, without any older file. Throws the file system's errors. */
  constructor(options: LogOptions, { sequence, segment }: FlushedLog) {
    this.#options = options
    this.#encoder = new RecordEncoder(options.pieceBytes)
    this.#sequence = sequence
    this.#durable = sequence
    this.#number = segment
    this.#current = this.#begin(sequence)
    const { number, path } = this.#current
    this.#paths = [{ number, path, last: Number.POSITIVE_INFINITY }]
  }

  /** Number of the first file that holds or will hold records after a sequence, once it survives a crash of the machine. */
  async firstBehind(flushed: number): Promise<number> {
    const { files, folder } = this.#options
    await files.syncFolder(folder)
    return this.#paths.find(({ last }) => last > flushed)?.number ?? this.#current.number
  }

  /** Is there a file for `drop`? */
  hasRetired(flushed: number): boolean {
    return this.#paths.some(({ last }) => last <= flushed)
  }

  /** Begins a file with all changes after a sequence. A number is used once: a file that failed may still be there. */
  #begin(base: number): Segment {
    this.#number++
    return new Segment(this.#options, this.#number, { first: this.#sequence + 1, base })
  }

  /** Resolves when no batch waits for the medium any more, whether it has arrived there or was refused. */
  async settled(): Promise<void> {
    await this.#syncing
  }

  /** Of the last record that was written, and the file that is written to. */
  get end(): FlushedLog {
    return { sequence: this.#sequence, segment: this.#current.number }
  }

  /**
   * Writes a batch. It survives a crash of this process from then on; with `fsync`, one of the machine once it
   * resolves. Batches resolve in the order of writing. After an error, thrown or rejected, the batches concerned are
   * not in the log, and it takes no more until `resume`.
   */
  append(operations: readonly Operation[]): Promise<void> | undefined {
    if (this.#hasFailed) throw new Error('the write-ahead log has failed')
    const segment = this.#current
    const { size } = segment
    const { fsync } = this.#options
    const unsynced = fsync ? this.#sequence - this.#durable : 0
    // The number of a record that could not be taken back is never used again.
    const write = (record: Buffer) => {
      this.#sequence++
      segment.write(record)
    }
    try {
      this.#encoder.encode(operations, this.#sequence + 1, unsynced, write)
    } catch (error) {
      this.#hasFailed = true
      segment.cutOff(size)
      throw error
    }
    return fsync ? this.#synced() : undefined
  }

  #synced(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ sequence: this.#sequence, resolve, reject })
      this.#syncing ??= this.#sync()
    })
  }

  /** Syncs until no batch waits; those that come meanwhile share the next sync. A failed one refuses all that wait. */
  async #sync(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const through = this.#sequence
        const before = this.#unsynced
        for (const segment of [...before, this.#current]) await segment.sync()
        this.#durable = through
        this.#unsynced = this.#unsynced.filter((segment) => !before.includes(segment))
        for (const segment of before) segment.close()
        while ((this.#waiting[0]?.sequence ?? Number.POSITIVE_INFINITY) <= through) {
          this.#waiting.shift()?.resolve()
        }
      }
    } catch (error) {
      this.#hasFailed = true
      if (this.#unsynced.length === 0) this.#current.cutOff(this.#current.syncedSize)
      for (const { reject } of this.#waiting.splice(0)) reject(error)
    } finally {
      this.#syncing = undefined
    }
  }

  /** Begins a new file when the present one is large. */
  retire(): void {
    const old = this.#current
    const { fsync, segmentBytes = SEGMENT_BYTES } = this.#options
    if (old.size < segmentBytes || this.#hasFailed) return
    try {
      this.#current = this.#begin(this.#sequence)
    } catch {
      // The present file stays in use; the next batch reports a full disk.
      return
    }
    this.#follow(this.#current, this.#sequence)
    if (fsync && this.#durable < this.#sequence) this.#unsynced = [...this.#unsynced, old]
    else old.close()
  }

  /** Notes that a file takes the records after a sequence. */
  #follow(next: Segment, before: number): void {
    const last = this.#paths.at(-1)
    if (last !== undefined) last.last = before
    const { number, path } = next
    this.#paths.push({ number, path, last: Number.POSITIVE_INFINITY })
  }

  /** Removes the files that hold no record after a sequence, which the database has. */
  drop(flushed: number): void {
    for (let [oldest] = this.#paths; oldest !== undefined && oldest.last <= flushed; [oldest] = this.#paths) {
      this.#options.files.remove(oldest.path)
      this.#paths.shift()
    }
  }

  /**
   * Resumes after a failure, when no batch waits for the medium: `operations` are all that the database may lack after
   * the sequence `flushed`. They are written to a new file, with `fsync` to the medium, since the contents of earlier
   * files are unknown; those are retired. Throws the file system's errors, and can be tried again.
   */
  async resume(operations: readonly Operation[], flushed: number): Promise<void> {
    const { fsync } = this.#options
    const next = this.#begin(flushed)
    const before = this.#sequence
    const write = (record: Buffer) => {
      this.#sequence++
      next.write(record)
    }
    try {
      this.#encoder.encode(operations, before + 1, 0, write)
      if (fsync) await next.sync()
    } catch (error) {
      next.discard()
      throw error
    }
    for (const segment of [...this.#unsynced, this.#current]) segment.close()
    this.#unsynced = []
    this.#current = next
    this.#follow(next, before)
    this.#durable = this.#sequence
    this.#hasFailed = false
  }

  /** Ends the log. Its files are removed unless they are to be kept for the next process, since the database lacks batches. */
  async close(keepFiles = false): Promise<void> {
    await this.#syncing
    for (const segment of [...this.#unsynced, this.#current]) segment.close()
    if (keepFiles) return
    const { files, folder, fsync } = this.#options
    for (const { path } of this.#paths.splice(0)) files.remove(path)
    if (fsync) await files.syncFolder(folder)
  }
}
