/** How fast requests go out: so many calls a second and a day, and not before the time that a server asked for. */

import { NodeError } from '../errors.ts'
import type { RemoteClock } from './environment.ts'

const DAY_MS = 86_400_000
/** Slots that the count of a day is kept in: quarters of an hour. */
const SLOTS = 96

/** Spaces calls out and counts them. */
export interface Pace {
  /** Waits until so many calls may go. Throws `rate-limited` when the budget of the day has no room for them. */
  take(calls: number, signal: AbortSignal): Promise<void>
  /** Calls of the last 24 hours, to a quarter of an hour. */
  callsToday(): number
}

/** `perSecond` and `perDay` of 0 are no limit. */
export function createPace(perSecond: number, perDay: number, clock: RemoteClock): Pace {
  /** When the calls that were let through until now are paid for, at the rate. */
  let paidAt = 0
  const counts = new Array<number>(SLOTS).fill(0)
  let slot = slotAt(clock.now())

  function slotAt(time: number): number {
    return Math.floor(time / (DAY_MS / SLOTS))
  }

  function advance(): void {
    const present = slotAt(clock.now())
    for (const last = Math.min(present, slot + SLOTS); slot < last; ) counts[++slot % SLOTS] = 0
    slot = present
  }

  function callsToday(): number {
    advance()
    return counts.reduce((sum, count) => sum + count, 0)
  }

  return {
    callsToday,
    async take(calls, signal) {
      const used = callsToday()
      if (perDay > 0 && used + calls > perDay) {
        throw new NodeError(
          'rate-limited',
          `The budget of ${perDay} calls to the upstream in 24 hours is used up: ${used} were made, and ${calls} more are needed. ` +
            'Raise it with --fork-calls-per-day, or use --fork-offline with what is cached.',
        )
      }
      counts[slot % SLOTS] = (counts[slot % SLOTS] ?? 0) + calls
      if (perSecond === 0) return
      const now = clock.now()
      // A second's worth may go at once; what exceeds it is waited for.
      paidAt = Math.max(paidAt, now - 1000) + (calls * 1000) / perSecond
      const wait = paidAt - now
      if (wait > 0) await clock.wait(wait, signal)
    },
  }
}
