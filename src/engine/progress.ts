/** The progress of a command of many blocks: logged at intervals, and ended when its call is cancelled. */
import type { Logger } from '../logger.ts'
import { type Call, cancelled } from './call.ts'

/** Milliseconds between two lines of the log. */
const LINE_MS = 5_000

/** The progress of one command, which reports after each block. */
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

  /** Reports the number of blocks done, and their `total` if known. Throws `cancelled` with `outcome` when the call is cancelled. */
  step(done: number, total: number | undefined, outcome: string): void {
    if (this.#call.isCancelled) throw cancelled(outcome)
    const now = performance.now()
    if (now - this.#last < LINE_MS) return
    this.#last = now
    this.#logger.info(`${this.#what}: ${done}${total === undefined ? '' : ` of ${total}`} blocks`)
  }
}
