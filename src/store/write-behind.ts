/** A database whose writes are acknowledged by its log and reach its tables a moment later; reads see them at once. */

import type { Checkpoints, HeadPosition } from './checkpoint.ts'
import type { KeyValueReader, Operation, Write } from './table.ts'
import { systemTimers, type Timer, type Timers } from './timers.ts'
import { Unwritten } from './unwritten.ts'
import type { WriteAheadLog } from './write-ahead-log.ts'

/** The part of `abstract-level` that the store uses. */
export interface Level {
  getSync(key: Uint8Array): Uint8Array | undefined
  /** Writes all or nothing. */
  batch(operations: readonly Operation[], options: { readonly sync: boolean }): Promise<void>
  iterator(range: {
    gte: Uint8Array
    lt: Uint8Array
    reverse: boolean
  }): AsyncIterable<[Uint8Array, Uint8Array]>
  close(): Promise<void>
}

/** An open database. Reads are synchronous, writes come in batches. */
export interface Store extends KeyValueReader {
  /** Writes all or nothing, then runs the `after` steps. A later step for a key wins. */
  batch(writes: readonly Write[]): Promise<void>
  /** The head at the last checkpoint before it was opened: what is above came from its log. */
  readonly lastHead?: HeadPosition | undefined
  /** Idempotent. */
  close(): Promise<void>
}

/** Operations waiting for the tables beyond which a batch waits for them too: memory stays bounded. */
const MOST_WAITING = 60_000
/** Waiting operations that go to the tables at once, however busy the node is: soon enough to be collected in the young generation. */
const MANY_WAITING = 256
/** Fewer of them wait for a moment of rest: this many milliseconds without a batch. */
const REST_MS = 5
/** Operations handed to the level in one go: some milliseconds of work. */
const CHUNK = 500

const NONE = new Unwritten()

/** LevelDB hands out Buffers, whose `slice` shares memory where that of a plain array copies. */
function plain(bytes: Uint8Array): Uint8Array {
  return Buffer.isBuffer(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes
}

/**
 * Puts a store over a level; without a log a batch lives in memory until the level has it. Before files of the log are
 * removed, a checkpoint says what the level holds without them.
 */
export function createWriteBehind(
  level: Level,
  log: WriteAheadLog | undefined,
  fsync: boolean,
  timers: Timers = systemTimers,
  checkpoints?: Pick<Checkpoints, 'write'>,
): Store {
  /** Acknowledged and not yet handed to the level. */
  let waiting = new Unwritten()
  /** Handed to the level, which has not answered yet. */
  let leaving = NONE
  let flushing: Promise<void> | undefined
  let failure: unknown
  let closing: Promise<void> | undefined

  /** Writes what is waiting, and what has come meanwhile if that is much again. */
  async function flush(): Promise<void> {
    if (waiting.size === 0) return
    do {
      const retired = log?.retire() ?? []
      leaving = waiting
      waiting = new Unwritten()
      const operations = leaving.all()
      // The level may have half of a batch for a while, for it is read through `leaving`, and after a crash the log
      // brings the other half.
      for (let at = 0; at < operations.length; at += CHUNK) {
        // Callers that wait for an acknowledged batch, and other events, run first.
        await timers.yield()
        const last = at + CHUNK >= operations.length
        // What the retired files hold must not depend on the system's memory alone.
        await level.batch(operations.slice(at, at + CHUNK), { sync: fsync && last && retired.length > 0 })
      }
      leaving = NONE
      if (retired.length > 0) {
        await checkpoints?.write(log?.first)
        log?.drop(retired)
      }
    } while (waiting.size > MANY_WAITING)
  }

  let rest: Timer | undefined

  /** Lets the tables catch up in a moment of rest, or at once when much is waiting. */
  function scheduleFlush(): void {
    if (waiting.size > MANY_WAITING) startFlush()
    if (rest !== undefined) rest.restart()
    else rest = timers.after(REST_MS, startFlush)
  }

  function startFlush(): void {
    flushing ??= flush()
      .catch((error) => {
        failure = error
        const all = new Unwritten()
        for (const change of [...leaving.all(), ...waiting.all()]) all.add(change)
        waiting = all
        leaving = NONE
      })
      .finally(() => {
        flushing = undefined
        if (waiting.size > 0 && failure === undefined && closing === undefined) scheduleFlush()
      })
  }

  /** Resolves when the level has all that was acknowledged so far; throws when it refused it. */
  async function settled(): Promise<void> {
    while (waiting.size > 0 && failure === undefined) {
      startFlush()
      await flushing
    }
    await flushing
    if (failure !== undefined) throw new Error('the database cannot be written', { cause: failure })
  }

  return {
    get(prefix, id, keys) {
      const recent = waiting.get(prefix, id) ?? leaving.get(prefix, id)
      if (recent !== undefined) return recent.type === 'put' ? recent.value : undefined
      const value = level.getSync(keys.encode(prefix, id))
      return value && plain(value)
    },
    async *entries(from, to, reverse = false) {
      await settled()
      for await (const [key, value] of level.iterator({ gte: from, lt: to, reverse })) {
        yield [plain(key), plain(value)]
      }
    },
    async batch(writes) {
      if (failure !== undefined || closing !== undefined) {
        throw new Error('the database cannot be written', { cause: failure ?? new Error('it is closed') })
      }
      const operations = writes.filter((write) => write.type !== 'after')
      if (operations.length > 0) {
        const durable = log?.append(operations)
        for (const operation of operations) waiting.add(operation)
        if (durable !== undefined) await durable
        scheduleFlush()
      }
      for (const write of writes) if (write.type === 'after') write.run()
      if (waiting.size > MOST_WAITING) await settled()
    },
    close() {
      rest?.cancel()
      closing ??= settled()
        .then(() => checkpoints?.write(undefined))
        .then(() => log?.close())
        .finally(() => level.close())
      return closing
    },
  }
}
