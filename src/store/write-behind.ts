/** A database whose writes are acknowledged by its log and reach its tables a moment later; reads see them at once. */
import { NodeError } from '../errors.ts'
import type { Checkpoints, HeadPosition } from './checkpoint.ts'
import type { CollectedStates } from './collected-table.ts'
import { type Level, mergedEntries, plain, sortByKey } from './level-entries.ts'
import { storageFailure, storageReason } from './storage-failure.ts'
import type { Change, Id, KeyCodec, KeyValueReader, Operation, Write } from './table.ts'
import { FLUSHED, FLUSHED_KEY, type FlushedLog, flushedValue } from './tables.ts'

import type { Timer, Timers } from './timers.ts'
import { Unwritten } from './unwritten.ts'
import type { WriteAheadLog } from './write-ahead-log.ts'

/** An open database. Reads are synchronous, writes come in batches. */
export interface Store extends KeyValueReader {
  /** Of a database in memory. */
  readonly states?: CollectedStates | undefined
  /**
   * Why no batch is taken at present: the disk refuses writes. Reads still work; batches are taken again once it
   * accepts writes.
   */
  readonly failure: NodeError | undefined
  /** What was found damaged in its files since it was opened, in phrases; entries there are refused. */
  readonly damage?: readonly string[] | undefined
  /** Writes all or nothing, then runs the `after` steps. A later step for a key wins. Throws `storage`; then nothing is written. */
  batch(writes: readonly Write[]): Promise<void>
  /** The head at the last checkpoint before it was opened: what is above came from its log. */
  readonly lastHead?: HeadPosition | undefined
  /** Idempotent. Throws `storage` when the tables lack what was acknowledged; the log has it for the next process. */
  close(): Promise<void>
}

/** Operations waiting for the tables beyond which a batch waits for them too: memory stays bounded. */
const MOST_WAITING = 60_000
/** Waiting operations that go to the tables at once, however busy the node is: soon enough to be collected in the young generation. */
const MANY_WAITING = 256
/** Fewer of them wait for this many milliseconds without a batch. */
const REST_MS = 5
/** Milliseconds after which a disk that refused is tried again: first, then twice as long each time, up to the last. */
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5_000

const NONE = new Unwritten()

/** The note, written with batches, of how much of the log the level has. */
export function noteFlushed(flushed: FlushedLog): Operation {
  return { type: 'put', key: FLUSHED_KEY, value: flushedValue.encode(flushed, FLUSHED) }
}

/** What a store is put together from. */
export interface WriteBehindParts {
  readonly level: Level
  readonly log: WriteAheadLog
  /** The level waits for the medium, too: files of the log are removed once it has their batches. */
  readonly fsync: boolean
  readonly timers: Timers
  /** Before files of the log are removed, a checkpoint states what the level holds without them. */
  readonly checkpoints?: Pick<Checkpoints, 'write'> | undefined
  readonly lastHead?: HeadPosition | undefined
}

/** A store over a level and its log. */
export class WriteBehind implements Store {
  readonly #level: Level
  readonly #log: WriteAheadLog
  readonly #fsync: boolean
  readonly #timers: Timers
  readonly #checkpoints: WriteBehindParts['checkpoints']
  readonly lastHead: HeadPosition | undefined
  /** Acknowledged and not yet handed to the level. */
  #waiting = new Unwritten()
  /** Handed to the level, which has not answered yet. */
  #leaving = NONE
  /** Of the last batch in `waiting`, and the log's file then. */
  #position: FlushedLog
  /** Sequence of the last batch that the level has. */
  #flushed: number
  #flushing: Promise<void> | undefined
  #rest: Timer | undefined
  #failure: NodeError | undefined
  /** Why, without paths; the last one. */
  #reason = ''
  /** Which of the two has failed. */
  readonly #failed = { log: false, level: false }
  #retryMs = FIRST_RETRY_MS
  #retry: Timer | undefined
  #recovering: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor({ level, log, fsync, timers, checkpoints, lastHead }: WriteBehindParts) {
    this.#level = level
    this.#log = log
    this.#fsync = fsync
    this.#timers = timers
    this.#checkpoints = checkpoints
    this.lastHead = lastHead
    this.#position = log.end
    this.#flushed = log.end.sequence
  }

  get failure(): NodeError | undefined {
    return this.#failure
  }

  get damage(): readonly string[] | undefined {
    return this.#level.damage
  }

  get<K extends Id>(prefix: number, id: K, keys: KeyCodec<K>): Uint8Array | undefined {
    const recent = this.#waiting.get(prefix, id) ?? this.#leaving.get(prefix, id)
    if (recent !== undefined) return recent.type === 'put' ? recent.value : undefined
    if (this.#failure !== undefined && !this.#level.isOpen) throw this.#failure
    const value = this.#level.getSync(keys.encode(prefix, id))
    return value && plain(value)
  }

  async *entries(from: Uint8Array, to: Uint8Array, reverse = false): ReturnType<KeyValueReader['entries']> {
    await this.#settled()
    yield* mergedEntries(this.#level, sortByKey(this.#changes()), { from, to, reverse })
  }

  async batch(writes: readonly Write[]): Promise<void> {
    if (this.#closing !== undefined) throw new Error('the database is closed')
    if (this.#failure !== undefined) throw this.#failure
    const operations = writes.filter((write) => write.type !== 'after')
    if (operations.length > 0) {
      try {
        const durable = this.#log.append(operations)
        const position = this.#log.end
        if (durable !== undefined) await durable
        this.#position = position
      } catch (error) {
        this.#fail('log', error)
        throw storageFailure(error)
      }
      for (const operation of operations) this.#waiting.add(operation)
      this.#scheduleFlush()
    }
    for (const write of writes) if (write.type === 'after') write.run()
    if (this.#waiting.size > MOST_WAITING) await this.#settled()
  }

  close(): Promise<void> {
    this.#rest?.cancel()
    this.#retry?.cancel()
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    try {
      // Batches that are on their way to the medium end first.
      await this.#log.settled()
      await this.#recovering
      if (this.#failure !== undefined) await this.#recover()
      await this.#settled()
      if (this.#failure === undefined) {
        await this.#checkpoints?.write(undefined).catch((error) => this.#fail('level', error))
      }
      await this.#log.close(this.#failure !== undefined)
    } finally {
      await this.#level.close()
    }
    if (this.#failure === undefined) return
    throw new NodeError(
      'storage',
      `Not every change could be written to the database (${this.#reason}). ` +
        'What was acknowledged and is not in it is in the write-ahead log; the next start takes it from there.',
    )
  }

  /** What the level may lack. */
  #changes(): Change[] {
    const all = new Unwritten()
    for (const change of this.#leaving.all()) all.add(change)
    for (const change of this.#waiting.all()) all.add(change)
    return all.all()
  }

  /** Writes what is waiting, and again if much has come meanwhile. Each is one batch of the level. */
  async #flush(): Promise<void> {
    while (this.#waiting.size > 0) {
      this.#log.retire()
      const position = this.#position
      this.#leaving = this.#waiting
      this.#waiting = new Unwritten()
      await this.#level.batch([...this.#leaving.all(), noteFlushed(position)], { sync: this.#fsync })
      this.#leaving = NONE
      this.#flushed = position.sequence
      if (this.#log.hasRetired(this.#flushed)) {
        await this.#checkpoints?.write(await this.#log.firstBehind(this.#flushed))
        this.#log.drop(this.#flushed)
      }
      if (this.#waiting.size <= MANY_WAITING) return
    }
  }

  /** Flushes to the tables after a pause without batches, or at once when much is waiting. */
  #scheduleFlush(): void {
    if (this.#waiting.size > MANY_WAITING) this.#startFlush()
    if (this.#rest !== undefined) this.#rest.restart()
    else this.#rest = this.#timers.after(REST_MS, () => this.#startFlush())
  }

  #startFlush(): void {
    if (this.#failure !== undefined) return
    this.#flushing ??= this.#flush()
      .catch((error) => this.#fail('level', error))
      .finally(() => {
        this.#flushing = undefined
        if (this.#waiting.size > 0 && this.#closing === undefined) this.#scheduleFlush()
      })
  }

  /** Resolves when the level has all that was acknowledged so far, or has refused it. */
  async #settled(): Promise<void> {
    while (this.#waiting.size > 0 && this.#failure === undefined) {
      this.#startFlush()
      await this.#flushing
    }
    await this.#flushing
  }

  /** Takes no more batches, and tries again after a while. */
  #fail(part: 'log' | 'level', error: unknown): void {
    this.#failed[part] = true
    this.#note(error)
    if (part === 'level') this.#takeBack()
    this.#scheduleRetry()
  }

  /** What the level has refused waits again. */
  #takeBack(): void {
    const changes = this.#changes()
    this.#waiting = new Unwritten()
    this.#leaving = NONE
    for (const change of changes) this.#waiting.add(change)
  }

  #scheduleRetry(): void {
    if (this.#closing !== undefined || this.#recovering !== undefined || this.#retry !== undefined) return
    this.#retry = this.#timers.after(this.#retryMs, () => {
      this.#retry = undefined
      this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS)
      this.#recovering = this.#recover().finally(() => {
        this.#recovering = undefined
        if (this.#failure !== undefined) this.#scheduleRetry()
        else this.#scheduleFlush()
      })
    })
  }

  /** Writes what may not be on the disk once more, to a new file of the log and to the level; batches are taken after that. */
  async #recover(): Promise<void> {
    await this.#flushing
    try {
      if (this.#failed.log) {
        // Batches that are on their way to the medium may still be acknowledged.
        await this.#log.settled()
        await this.#log.resume(this.#changes(), this.#flushed)
        this.#position = this.#log.end
        this.#failed.log = false
      }
      if (this.#failed.level) {
        await this.#level.reopen()
        await this.#flush()
        this.#failed.level = false
      }
      this.#failure = undefined
      this.#retryMs = FIRST_RETRY_MS
    } catch (error) {
      this.#takeBack()
      this.#note(error)
    }
  }

  #note(error: unknown): void {
    this.#failure = storageFailure(error)
    this.#reason = storageReason(error)
  }
}
