/** Limits of the memory and the text of a trace: one budget for all transactions traced together. */
import { NodeError } from '../../errors.ts'

/** Counts bytes up to limits. */
export class TraceBudget {
  readonly #limit: number
  readonly #textLimit: number
  #used = 0
  #written = 0

  /** Both in bytes: memory, and text. Chunks of text also count as memory, with the size that they occupy. */
  constructor(limit: number, textLimit = Number.POSITIVE_INFINITY) {
    this.#limit = limit
    this.#textLimit = textLimit
  }

  /** Bytes of memory counted so far. */
  get used(): number {
    return this.#used
  }

  /** Counts bytes of memory. Throws `limit-exceeded` beyond the limit. */
  take(bytes: number): void {
    this.#used += bytes
    if (this.#used > this.#limit) {
      throw new NodeError('limit-exceeded', `Trace size limit of ${this.#limit} bytes exceeded`)
    }
  }

  /** Counts bytes of text. Throws `limit-exceeded` beyond the limit. */
  write(bytes: number): void {
    this.#written += bytes
    if (this.#written > this.#textLimit) throw textLimitExceeded(this.#textLimit)
  }
}

/** The error for an answer with struct logs that is longer than `limit` bytes. */
export function textLimitExceeded(limit: number): NodeError {
  return new NodeError('limit-exceeded', `Trace answer limit of ${limit} bytes exceeded`)
}
