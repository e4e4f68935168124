/** The progress of a command of many blocks: logged at intervals, and ended when its call is cancelled. */
import type { Logger } from '../logger.ts'
import { type Call, cancelled } from './call.ts'

/** Milliseconds between two lines of the log. */
const LINE_MS = 5_000

/** Seconds for which a forecast says little. */
const SHORTEST_FORECAST = 1

/**
 * `3 min 20 s left`: the time that the rest takes if it is as fast as what was done. `share` is what was done of the
 * whole, 0 to 1; `milliseconds` is the time since the beginning. Empty while that says little.
 */
export function timeLeft(share: number, milliseconds: number): string {
  if (!(share > 0) || share >= 1 || milliseconds < SHORTEST_FORECAST * 1000) return ''
  const seconds = Math.ceil(((milliseconds / 1000) * (1 - share)) / share)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min left`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s left` : `${seconds} s left`
}

/** The progress of a number of steps. */
export class Steps {
  readonly #what: string
  readonly #unit: string
  readonly #logger: Logger
  readonly #start = performance.now()
  #last = this.#start

  /** `what` begins the lines of the log, and `unit` is what is counted: `mining`, `blocks`. */
  constructor(what: string, unit: string, logger: Logger) {
    this.#what = what
    this.#unit = unit
    this.#logger = logger
  }

  /** Reports the number of steps done, and their `total` if known. */
  step(done: number, total: number | undefined): void {
    const now = performance.now()
    if (now - this.#last < LINE_MS) return
    this.#last = now
    const left = total === undefined ? '' : timeLeft(done / total, now - this.#start)
    const count = `${done}${total === undefined ? '' : ` of ${total}`} ${this.#unit}`
    this.#logger.info(`${this.#what}: ${[count, left].filter((text) => text !== '').join(', ')}`)
  }
}

/** The progress of one command, which reports after each block. */
export class Progress {
  readonly #call: Call
  readonly #steps: Steps

  /** `what` begins the lines of the log: `mining`. */
  constructor(what: string, call: Call, logger: Logger) {
    this.#call = call
    this.#steps = new Steps(what, 'blocks', logger)
  }

  /** Reports the number of blocks done, and their `total` if known. Throws `cancelled` with `outcome` when the call is cancelled. */
  step(done: number, total: number | undefined, outcome: string): void {
    if (this.#call.isCancelled) throw cancelled(outcome)
    this.#steps.step(done, total)
  }
}
