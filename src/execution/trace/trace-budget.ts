/** The memory that a trace may take: one budget for all that is traced together. */
import { NodeError } from '../../errors.ts'

/** Counts bytes up to a limit. */
export class TraceBudget {
  readonly #limit: number
  #used = 0

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Bytes counted so far. */
  get used(): number {
    return this.#used
  }

  /** Throws `limit-exceeded` when these bytes are too many. */
  take(bytes: number): void {
    this.#used += bytes
    if (this.#used > this.#limit) {
      throw new NodeError('limit-exceeded', `Trace size limit of ${this.#limit} bytes exceeded`)
    }
  }
}
