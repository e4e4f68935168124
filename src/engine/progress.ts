/** How far a command of many blocks is: shown now and then, and where its call is cancelled, its end. */
import type { Logger } from '../logger.ts'
import { type Call, cancelled } from './call.ts'

/** Milliseconds between two lines of the log. */
const LINE_MS = 5_000

/** Looks between two blocks at whether to go on. */
export class Progress {
  readonly #what: string
  readonly #call: Call
  readonly #logger: Logger
  #last = performance.now()

  /** `what` begins the lines of the log: `mining`. */
  constructor(what: string, call: Call, logger: Logger) {
    this.#what = what
    this.#call = call
    this.#logger = logger
  }

  /** So many blocks are done, of `total` where that is known. Throws `cancelled` with `outcome` where the call is cancelled. */
  step(done: number, total: number | undefined, outcome: string): void {
    if (this.#call.isCancelled) throw cancelled(outcome)
    const now = performance.now()
    if (now - this.#last < LINE_MS) return
    this.#last = now
    this.#logger.info(`${this.#what}: ${done}${total === undefined ? '' : ` of ${total}`} blocks`)
  }
}
