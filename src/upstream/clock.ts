/** The clock of the client of an upstream. */

/** Time, which tests replace. Milliseconds. */
export interface RemoteClock {
  now(): number
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Calls `run` after this many milliseconds, unless the returned function was called before. */
  deadline(milliseconds: number, run: () => void): () => void
}
