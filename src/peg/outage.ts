/** Calls of a node that may be down, where nothing may wait for it long. */
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** A failure that took longer is not repeated for a while, milliseconds. */
const SLOW_MS = 500
const PAUSE_MS = 30_000

/** Tells once that the node is down, and once that it is back. */
export class Outage {
  readonly #logger: Logger
  /** Milliseconds. */
  readonly #elapsed: () => number
  #isDown = false
  #pausedUntil = 0

  constructor(logger: Logger, elapsed: () => number = () => performance.now()) {
    this.#logger = logger
    this.#elapsed = elapsed
  }

  /** The result of calls; `undefined` where the node is down. A node that did not answer in time is not asked again at once. */
  async attempt<T>(calls: () => Promise<T>): Promise<T | undefined> {
    const began = this.#elapsed()
    if (began < this.#pausedUntil) return undefined
    try {
      const result = await calls()
      if (this.#isDown) this.#logger.info('the Bitcoin node answers again')
      this.#isDown = false
      return result
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind !== 'upstream') throw error
      if (!this.#isDown) this.#logger.warn(`${error.message}; blocks are mined without it`)
      this.#isDown = true
      const now = this.#elapsed()
      if (now - began > SLOW_MS) this.#pausedUntil = now + PAUSE_MS
      return undefined
    }
  }
}
