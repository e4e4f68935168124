/** Lets sockets and timers have their turn during long work that itself never waits. */
import { isSliceOver, type Lane, nextSlice } from '../evm/scheduler.ts'

/** Resolves at once while the slice lasts; otherwise after everything else that waits has run. */
export type EventLoopYield = () => Promise<void> | undefined

/** A breather for one kind of work; keep it as long as that work may go on, so that many small pieces count together. */
export function createEventLoopYield(lane: Lane): EventLoopYield {
  return () => {
    const now = performance.now()
    return isSliceOver(now, now) ? nextSlice(lane) : undefined
  }
}
