/**
 * Reads the log into the tables: from where they are, again after an interruption, and from a snapshot where the log has
 * dropped what is next.
 */
import type { Enqueue } from '../engine/serial-queue.ts'
import type { Logger } from '../logger.ts'
import type { Log, Reading } from './log.ts'
import { pause } from './pause.ts'
import type { LogRecord } from './record.ts'

interface Parts {
  readonly log: Log
  /** Sequence of the last record in the tables. */
  readonly applied: number
  /** Puts a step behind those between following and leading. */
  readonly enqueue: Enqueue
  readonly logger: Logger
  /** Applies a record that ends at a sequence. */
  readonly apply: (record: LogRecord, sequence: number) => Promise<void>
  /** Replaces the tables by the latest snapshot; resolves to its sequence. */
  readonly loadSnapshot: () => Promise<number>
}

/** Messages before the one that was read have been dropped. */
class GapError extends Error {}

const RETRY_MS = 100
/** Between two checks that the log is still being read, milliseconds. */
const WATCH_MS = 1_000

/** Reads the log and keeps the position of this node in it. It does not read before `start`. */
export class Reader {
  readonly #parts: Parts
  /** Last message of the last record that is in the tables, last message of all, and the last that every answer has. */
  #applied: number
  #tail: number
  #shown: number
  #reading: Reading | undefined
  #isAtRest = true
  #isEnded = false
  readonly #waiting = new Set<{ readonly sequence: number; readonly reached: () => void }>()
  readonly #watching: NodeJS.Timeout

  constructor(parts: Parts) {
    this.#parts = parts
    this.#applied = parts.applied
    this.#tail = parts.applied
    this.#shown = parts.applied
    this.#watching = setInterval(() => this.#watch(), WATCH_MS).unref()
  }

  /** Sequence of the last message that this node has read or appended: what it answers is no newer. */
  get sequence(): number {
    return this.#tail
  }

  get isReading(): boolean {
    return this.#reading !== undefined
  }

  /** Has it stopped, so that the tables have every record up to `sequence`, and stay as they are? */
  get isAtRest(): boolean {
    return this.#isAtRest
  }

  /** Do new records of the log arrive here promptly? */
  get isLive(): boolean {
    return this.#reading?.isLive === true
  }

  /** Reads what follows the last record in the tables. Throws when NATS does not answer. */
  async start(): Promise<void> {
    if (this.#isEnded) return
    this.#isAtRest = false
    this.#tail = this.#applied
    this.#show(this.#applied)
    const started = await this.#parts.log.follow(this.#applied + 1, (sequence, record) =>
      this.#take(sequence, record),
    )
    this.#reading = started
    started.ended.then(
      () => this.#resume(started, undefined),
      (error) => this.#resume(started, error),
    )
  }

  /** The same, tried until NATS answers. */
  restart(): Promise<void> {
    return this.#retried(() => this.start())
  }

  /** Resolves when no record is being applied any more. */
  async stop(): Promise<void> {
    const stopped = this.#reading
    this.#reading = undefined
    await stopped?.stop()
    this.#isAtRest = true
  }

  /**
   * Notes that the tables have what this node appended up to a sequence; what is in memory follows in the continuations of
   * the batch's promise.
   */
  appended(sequence: number): void {
    this.#applied = sequence
    this.#tail = sequence
    setImmediate(() => this.#show(sequence))
  }

  /** Resolves to true once what the node answers is as new as a message, to false after so many milliseconds. */
  reached(sequence: number, milliseconds: number): Promise<boolean> {
    if (this.#shown >= sequence) return Promise.resolve(true)
    return new Promise((resolve) => {
      const settle = (isReached: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
        resolve(isReached)
      }
      const waiter = { sequence, reached: () => settle(true) }
      const timer = setTimeout(() => settle(false), milliseconds)
      this.#waiting.add(waiter)
    })
  }

  /** Starts nothing from now on; `stop` still has to be called. */
  end(): void {
    this.#isEnded = true
    clearInterval(this.#watching)
  }

  #show(sequence: number): void {
    this.#shown = sequence
    for (const waiter of this.#waiting) if (waiter.sequence <= sequence) waiter.reached()
  }

  async #take(sequence: number, record: LogRecord | undefined): Promise<void> {
    if (sequence !== this.#tail + 1) throw new GapError()
    this.#tail = sequence
    if (record !== undefined) {
      await this.#parts.apply(record, sequence)
      this.#applied = sequence
    }
    this.#show(sequence)
  }

  async #retried(step: () => Promise<void>): Promise<void> {
    while (!this.#isEnded) {
      try {
        return await step()
      } catch (error) {
        this.#parts.logger.debug('the cluster does not answer', { error })
        await pause(RETRY_MS)
      }
    }
  }

  async #bootstrap(): Promise<void> {
    this.#parts.logger.info("the cluster's log has dropped what this node lacks: it loads a snapshot")
    this.#applied = await this.#parts.loadSnapshot()
  }

  /** Reads again after reading has ended without a request. */
  #resume(ended: Reading, error: unknown): void {
    if (this.#reading !== ended || this.#isEnded) return
    void this.#parts.enqueue(async () => {
      if (this.#reading !== ended) return
      this.#reading = undefined
      if (error instanceof GapError) await this.#retried(() => this.#bootstrap())
      else if (error !== undefined) {
        this.#parts.logger.error('a record of the cluster cannot be applied', { error })
        await pause(WATCH_MS)
      }
      await this.restart()
    })
  }

  /** The client's own attempts to continue after the end of a server take up to a minute. */
  #watch(): void {
    const stuck = this.#reading
    if (stuck?.isStuck !== true) return
    void this.#parts.enqueue(async () => {
      if (this.#reading !== stuck || !stuck.isStuck) return
      await this.stop()
      await this.restart()
    })
  }
}
