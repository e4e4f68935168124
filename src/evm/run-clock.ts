/** Gives the event loop its turn during a long run, and ends a run whose time is up. */
import { NodeError } from '../errors.ts'
import { isSliceOver, type Lane, nextSlice } from './scheduler.ts'

/** How many jumps or calls pass between two looks at the clock. */
export const TICKS_PER_LOOK = 1024

/** The clock of one run; all its frames share it. */
export class RunClock {
  readonly #deadline: number
  readonly #lane: Lane
  #start: number
  /** Jumps and calls left until the next look; the loop counts them down. */
  ticks = TICKS_PER_LOOK

  /** `deadlineMs` is a budget of wall clock from now; absent is no limit, and means that the chain itself runs. */
  constructor(deadlineMs: number | undefined) {
    this.#start = performance.now()
    this.#deadline = deadlineMs === undefined ? Number.POSITIVE_INFINITY : this.#start + deadlineMs
    this.#lane = deadlineMs === undefined ? 'chain' : 'query'
  }

  /** Is the slice used up? Throws `limit-exceeded` past the deadline. */
  mustPause(): boolean {
    this.ticks = TICKS_PER_LOOK
    const now = performance.now()
    if (now > this.#deadline) throw new NodeError('limit-exceeded', 'Execution has got timeout out.')
    return isSliceOver(now, this.#start)
  }

  /** Lets everything else that waits run once. */
  async pause(): Promise<void> {
    await nextSlice(this.#lane)
    this.#start = performance.now()
  }
}
