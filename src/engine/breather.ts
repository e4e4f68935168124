/** Lets sockets and timers have their turn during long work that itself never waits. */

/** Milliseconds of work between two turns. */
const SLICE_MS = 10

/** Resolves at once while the slice lasts; otherwise after everything else that waits has run. */
export type Breather = () => Promise<void> | undefined

/** A breather for one kind of work; keep it as long as that work may go on, so that many small pieces count together. */
export function createBreather(): Breather {
  let start = performance.now()
  return () => {
    if (performance.now() - start < SLICE_MS) return undefined
    return new Promise((resume) =>
      setImmediate(() => {
        start = performance.now()
        resume()
      }),
    )
  }
}
