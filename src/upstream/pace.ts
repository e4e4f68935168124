/** The pace of requests: limits of calls per second and per day. */

import { NodeError } from '../errors.ts'
import type { RemoteClock } from './clock.ts'

const DAY_MS = 86_400_000
/** Slots that the count of a day is kept in: quarters of an hour. */
const SLOTS = 96

const slotAt = (time: number): number => Math.floor(time / (DAY_MS / SLOTS))

/**
 * Spaces calls out and counts them. Own code: a task of `p-queue` counts as one, whatever number of calls is in it, its
 * intervals begin at fixed times, and it keeps no budget of a day.
 */
export class Pace {
  readonly #perSecond: number
  readonly #perDay: number
  readonly #clock: RemoteClock
  /** When the calls let through so far would end if they kept to the rate. */
  #paidAt = 0
  readonly #counts = new Array<number>(SLOTS).fill(0)
  #slot: number

  /** `perSecond` and `perDay` of 0 are no limit. */
  constructor(perSecond: number, perDay: number, clock: RemoteClock) {
    this.#perSecond = perSecond
    this.#perDay = perDay
    this.#clock = clock
    this.#slot = slotAt(clock.now())
  }

  /** Calls of the last 24 hours, to a quarter of an hour. */
  callsToday(): number {
    this.#advance()
    return this.#counts.reduce((sum, count) => sum + count, 0)
  }

  /** Waits until this many calls may be sent. Throws `rate-limited` when the budget of the day has no room for them. */
  async take(calls: number, signal: AbortSignal): Promise<void> {
    const used = this.callsToday()
    if (this.#perDay > 0 && used + calls > this.#perDay) {
      throw new NodeError(
        'rate-limited',
        `The budget of ${this.#perDay} calls to the upstream in 24 hours is used up: ${used} were made, and ${calls} more are needed. ` +
          'Raise it with --fork-calls-per-day, or use --fork-offline with what is cached.',
      )
    }
    const at = this.#slot % SLOTS
    this.#counts[at] = (this.#counts[at] ?? 0) + calls
    if (this.#perSecond === 0) return
    const now = this.#clock.now()
    // A second's worth may be sent at once; the rest waits.
    this.#paidAt = Math.max(this.#paidAt, now - 1000) + (calls * 1000) / this.#perSecond
    const wait = this.#paidAt - now
    if (wait > 0) await this.#clock.wait(wait, signal)
  }

  /** Forgets the slots that have passed since the last call. */
  #advance(): void {
    const present = slotAt(this.#clock.now())
    const last = Math.min(present, this.#slot + SLOTS)
    while (this.#slot < last) this.#counts[++this.#slot % SLOTS] = 0
    this.#slot = present
  }
}
