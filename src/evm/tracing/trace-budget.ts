/** What a trace may take of memory, and be as text: one budget for all that is traced together. */
import { NodeError } from '../../errors.ts'

/** Counts bytes up to limits. */
export class TraceBudget {
  readonly #limit: number
  readonly #textLimit: number
  #used = 0
  #written = 0

  /** Both in bytes: memory, and text whose chunks count towards memory by what they take. */
  constructor(limit: number, textLimit = Number.POSITIVE_INFINITY) {
    this.#limit = limit
    this.#textLimit = textLimit
  }

  /** Bytes of memory counted so far. */
  get used(): number {
    return this.#used
  }

  /** Throws `limit-exceeded` when these bytes of memory are too many. */
  take(bytes: number): void {
    this.#used += bytes
    if (this.#used > this.#limit) {
      throw new NodeError('limit-exceeded', `Trace size limit of ${this.#limit} bytes exceeded`)
    }
  }

  /** Throws `limit-exceeded` when these bytes of text are too many. */
  write(bytes: number): void {
    this.#written += bytes
    if (this.#written > this.#textLimit) throw textLimitExceeded(this.#textLimit)
  }
}

/** The refusal of an answer with struct logs that is longer than `limit` bytes. */
export function textLimitExceeded(limit: number): NodeError {
  return new NodeError('limit-exceeded', `Trace answer limit of ${limit} bytes exceeded`)
}
