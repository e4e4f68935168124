/** Gives the event loop its turn during a long run, and ends a run whose time is up. */
import { NodeError } from '../errors.ts'

/** Milliseconds of running after which timers and sockets get a turn. */
const SLICE_MS = 10

/** How many jumps or calls pass between two looks at the clock. */
export const TICKS_PER_LOOK = 1024

/** The clock of one run; all its frames share it. */
export class ExecutionClock {
  readonly #deadline: number
  #sliceStart: number
  /** Jumps and calls left until the next look; the loop counts them down. */
  ticks = TICKS_PER_LOOK

  /** `deadlineMs` is a budget of wall clock from now; absent is no limit. */
  constructor(deadlineMs: number | undefined) {
    this.#sliceStart = performance.now()
    this.#deadline = deadlineMs === undefined ? Number.POSITIVE_INFINITY : this.#sliceStart + deadlineMs
  }

  /** Is the slice used up? Throws `limit-exceeded` past the deadline. */
  mustPause(): boolean {
    this.ticks = TICKS_PER_LOOK
    const now = performance.now()
    if (now > this.#deadline) throw new NodeError('limit-exceeded', 'Execution has got timeout out.')
    return now - this.#sliceStart >= SLICE_MS
  }

  /** Lets everything else that waits run once, and starts a new slice. */
  async pause(): Promise<void> {
    await new Promise<void>((resume) => setImmediate(resume))
    this.#sliceStart = performance.now()
  }
}
