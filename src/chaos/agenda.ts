/**
 * What is due after some more calls: blocks, reorganisations, replacements. Counted in calls, so that the same calls meet
 * the same chain; a timer runs what no call has come for.
 */
import { type IntervalTimer, nodeTimer } from '../engine/mining/schedule.ts'
import type { Logger } from '../logger.ts'

interface Entry {
  /** Calls until it is due. */
  left: number
  readonly run: () => Promise<void>
  stopTimer(): void
}

/** The agenda of one chaos. */
export class Agenda {
  readonly #idleMs: number
  readonly #startTimer: IntervalTimer
  readonly #logger: Logger
  readonly #entries = new Set<Entry>()
  #running: Promise<void> = Promise.resolve()

  /** @param idleMs how long an entry waits for further calls, milliseconds */
  constructor(idleMs: number, logger: Logger, timer: IntervalTimer = nodeTimer) {
    this.#idleMs = idleMs
    this.#startTimer = timer
    this.#logger = logger
  }

  /** Adds what is due at the end of the present call (`calls` is 0), or of one of the next. */
  add(calls: number, run: () => Promise<void>): void {
    const entry: Entry = {
      left: calls,
      run,
      stopTimer: this.#startTimer(this.#idleMs, () => {
        entry.left = 0
        return this.#enqueue()
      }),
    }
    this.#entries.add(entry)
  }

  /** Counts a call, and runs what is due with it; `undefined` where nothing is. */
  advance(): Promise<void> | undefined {
    if (this.#entries.size === 0) return undefined
    const isDue = [...this.#entries].some(({ left }) => left <= 0)
    const ran = isDue ? this.#enqueue() : undefined
    // An entry that is due now is taken out by the run; those that it adds begin with their full count.
    for (const entry of this.#entries) if (entry.left > 0) entry.left--
    return ran
  }

  /** Drops what is due; resolves when what runs has ended. */
  close(): Promise<void> {
    for (const entry of this.#entries) entry.stopTimer()
    this.#entries.clear()
    return this.#running
  }

  #enqueue(): Promise<void> {
    const due = [...this.#entries].filter(({ left }) => left <= 0)
    for (const entry of due) this.#take(entry)
    this.#running = this.#running.then(() => this.#runAll(due))
    return this.#running
  }

  #take(entry: Entry): void {
    entry.stopTimer()
    this.#entries.delete(entry)
  }

  /** Runs entries one after another, and then those that they added for now. */
  async #runAll(due: readonly Entry[]): Promise<void> {
    for (const { run } of due) {
      await run().catch((error: unknown) => this.#logger.warn('chaos: an event failed', { error }))
    }
    const further = [...this.#entries].filter(({ left }) => left <= 0)
    if (further.length === 0) return
    for (const entry of further) this.#take(entry)
    await this.#runAll(further)
  }
}
