/** Yields to sockets and timers during long work that never awaits I/O. */
import { isSliceOver, type Lane, nextSlice } from '../evm/scheduler.ts'

/** `undefined` while the time slice lasts; otherwise a promise that resolves when the next slice begins. */
export type EventLoopYield = () => Promise<void> | undefined

/** Makes the yield of one kind of work. Keep it as long as that work may continue, so that small pieces of it share time slices. */
export function createEventLoopYield(lane: Lane): EventLoopYield {
  return () => {
    const now = performance.now()
    return isSliceOver(now, now) ? nextSlice(lane) : undefined
  }
}
