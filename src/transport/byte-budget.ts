/** The bytes that one server buffers for all callers together: incoming requests, and answers that are not read yet. */

/** Buffers up to this many bytes are not counted: even one for each socket is bounded by `maxSockets`. */
export const SMALL_BYTES = 16_384

/** Text bytes of a piecewise reply per byte that it holds in memory. */
export const PACKED = 8

/** Counts buffered bytes. */
export class ByteBudget {
  readonly #limit: number
  #taken = 0

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Are more bytes taken than the limit? */
  get isSpent(): boolean {
    return this.#taken > this.#limit
  }

  take(bytes: number): void {
    this.#taken += bytes
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.#taken -= bytes
  }
}

/** A buffer whose bytes are taken from a budget while it is large. */
export class CountedBuffer {
  readonly #budget: ByteBudget
  #counted = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  /** Sets the size in bytes; false when the buffer is large and the budget spent. */
  resize(bytes: number): boolean {
    const wanted = bytes > SMALL_BYTES ? bytes : 0
    this.#budget.take(wanted - this.#counted)
    this.#counted = wanted
    return wanted === 0 || !this.#budget.isSpent
  }
}
