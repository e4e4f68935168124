/** The bytes that one server buffers for all callers together: incoming requests, and answers that are not read yet. */

/** Buffers up to this many bytes are not counted: even one for each socket is bounded by `maxSockets`. */
export const SMALL_BYTES = 16_384

/** Text bytes of a piecewise reply per byte that it holds in memory. */
export const PACKED = 8

/** Counts buffered bytes. */
export interface ByteBudget {
  /** Are more bytes taken than the limit? */
  readonly isSpent: boolean
  take(bytes: number): void
  /** Gives back what was taken. */
  give(bytes: number): void
}

/** Makes the budget of a server; `limit` in bytes. */
export function createByteBudget(limit: number): ByteBudget {
  let taken = 0
  return {
    get isSpent() {
      return taken > limit
    },
    take(bytes) {
      taken += bytes
    },
    give(bytes) {
      taken -= bytes
    },
  }
}
