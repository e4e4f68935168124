/**
 * Reads the log into the tables: from where they are, again after an interruption, and from a snapshot where the log has
 * dropped what is next.
 */
import type { Enqueue } from '../engine/serial-queue.ts'
import type { Logger } from '../logger.ts'
import type { Log, Reading } from './log.ts'
import type { LogRecord } from './record.ts'

interface Parts {
  readonly log: Log
  /** Sequence of the last record in the tables. */
  readonly applied: number
  /** Puts a step behind those between following and leading. */
  readonly enqueue: Enqueue
  readonly logger: Logger
  /** Takes over a record that ends at a sequence. */
  readonly apply: (record: LogRecord, sequence: number) => Promise<void>
  /** Replaces the tables by the latest snapshot; resolves to its sequence. */
  readonly loadSnapshot: () => Promise<number>
}

/** The log as this node has dealt with it. */
export interface Reader {
  /** Sequence of the last message that this node has read or appended: what it answers is no newer. */
  readonly sequence: number
  readonly isReading: boolean
  /** Has it stopped, so that the tables have every record up to `sequence`, and stay as they are? */
  readonly isAtRest: boolean
  /** Does what is appended to the log arrive here soon? */
  readonly isLive: boolean
  /** Reads what follows the last record in the tables. Throws when NATS does not answer. */
  start(): Promise<void>
  /** The same, tried until NATS answers. */
  restart(): Promise<void>
  /** Resolves when no record is being taken over any more. */
  stop(): Promise<void>
  /**
   * Notes that the tables have what this node appended up to a sequence; what is in memory follows in the continuations of
   * the batch's promise.
   */
  appended(sequence: number): void
  /** Resolves to true once what the node answers is as new as a message, to false after so many milliseconds. */
  reached(sequence: number, milliseconds: number): Promise<boolean>
  /** Starts nothing any more; `stop` is still to be called. */
  end(): void
}

/** Messages before the one that was read have been dropped. */
class GapError extends Error {}

const RETRY_MS = 100
/** Between two looks whether the log is still being read, milliseconds. */
const WATCH_MS = 1_000

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds).unref())

/** Makes a reader, which does not read yet. */
export function createReader(parts: Parts): Reader {
  const { log, enqueue, logger } = parts
  /** Last message of the last record that is in the tables, last message of all, and the last that every answer has. */
  let { applied } = parts
  let tail = applied
  let shown = applied
  let reading: Reading | undefined
  let isAtRest = true
  let isEnded = false
  const waiting = new Set<{ readonly sequence: number; readonly reached: () => void }>()

  function show(sequence: number): void {
    shown = sequence
    for (const waiter of waiting) if (waiter.sequence <= sequence) waiter.reached()
  }

  async function take(sequence: number, record: LogRecord | undefined): Promise<void> {
    if (sequence !== tail + 1) throw new GapError()
    tail = sequence
    if (record !== undefined) {
      await parts.apply(record, sequence)
      applied = sequence
    }
    show(sequence)
  }

  async function start(): Promise<void> {
    if (isEnded) return
    isAtRest = false
    tail = applied
    show(applied)
    const started = await log.follow(applied + 1, take)
    reading = started
    started.ended.then(
      () => resume(started, undefined),
      (error) => resume(started, error),
    )
  }

  async function stop(): Promise<void> {
    const stopped = reading
    reading = undefined
    await stopped?.stop()
    isAtRest = true
  }

  async function retried(step: () => Promise<void>): Promise<void> {
    while (!isEnded) {
      try {
        return await step()
      } catch (error) {
        logger.debug('the cluster does not answer', { error })
        await pause(RETRY_MS)
      }
    }
  }

  async function bootstrap(): Promise<void> {
    logger.info("the cluster's log has dropped what this node lacks: it loads a snapshot")
    applied = await parts.loadSnapshot()
  }

  /** Reads on after reading has ended without a request. */
  function resume(ended: Reading, error: unknown): void {
    if (reading !== ended || isEnded) return
    void enqueue(async () => {
      if (reading !== ended) return
      reading = undefined
      if (error instanceof GapError) await retried(bootstrap)
      else if (error !== undefined) {
        logger.error('a record of the cluster cannot be taken over', { error })
        await pause(WATCH_MS)
      }
      await retried(start)
    })
  }

  // The client's own attempts to continue after the end of a server take up to a minute.
  const watching = setInterval(() => {
    const stuck = reading
    if (stuck?.isStuck !== true) return
    void enqueue(async () => {
      if (reading !== stuck || !stuck.isStuck) return
      await stop()
      await retried(start)
    })
  }, WATCH_MS)
  watching.unref()

  return {
    get sequence() {
      return tail
    },
    get isReading() {
      return reading !== undefined
    },
    get isAtRest() {
      return isAtRest
    },
    get isLive() {
      return reading?.isLive === true
    },
    start,
    restart: () => retried(start),
    stop,
    appended(sequence) {
      applied = sequence
      tail = sequence
      setImmediate(show, sequence)
    },
    reached(sequence, milliseconds) {
      if (shown >= sequence) return Promise.resolve(true)
      return new Promise((resolve) => {
        const settle = (isReached: boolean) => {
          clearTimeout(timer)
          waiting.delete(waiter)
          resolve(isReached)
        }
        const waiter = { sequence, reached: () => settle(true) }
        const timer = setTimeout(() => settle(false), milliseconds)
        waiting.add(waiter)
      })
    },
    end() {
      isEnded = true
      clearInterval(watching)
    },
  }
}
