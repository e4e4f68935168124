/** Yields to sockets and timers during long work that never awaits I/O. */
import { isSliceOver, type Lane, nextSlice } from '../evm/scheduler.ts'

/** `undefined` while the time slice lasts; otherwise a promise that resolves when the next slice begins. */
export type EventLoopYield = () => Promise<void> | undefined

/** Makes the yield of one kind of work. Keep it for as long as that work may go on, so that its small pieces share time slices. */
export function createEventLoopYield(lane: Lane): EventLoopYield {
  return () => {
    const now = performance.now()
    return isSliceOver(now, now) ? nextSlice(lane) : undefined
  }
}
