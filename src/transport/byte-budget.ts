/** What callers make a server keep for them, all together: bytes that come in, and answers that are not taken. */

/** Up to this many bytes at once are not counted: as many of them as there are sockets do no harm. */
export const SMALL_BYTES = 16_384

/** How much smaller than its text a reply is that is written as it is taken. */
export const PACKED = 8

/** Counts bytes. */
export interface ByteBudget {
  /** Are there more than may be? */
  readonly isSpent: boolean
  take(bytes: number): void
  /** Gives back what was taken. */
  give(bytes: number): void
}

/** Makes the budget of a server; `most` in bytes. */
export function createByteBudget(most: number): ByteBudget {
  let taken = 0
  return {
    get isSpent() {
      return taken > most
    },
    take(bytes) {
      taken += bytes
    },
    give(bytes) {
      taken -= bytes
    },
  }
}
