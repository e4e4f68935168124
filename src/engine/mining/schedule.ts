/** When the node mines without a request: for each transaction, on a timer, both, or not at all. Has the node's mining timer. */
import { intervalOf, type MiningMode } from '../model.ts'

/** Takes over the blocks that are mined without a request; used for conditions under which they come late. */
export interface MiningHandler {
  /** A transaction is runnable in the pool, and automining has not mined it. Called within a command. */
  admitted(): void
  /** An interval of mining is over. */
  tick(): Promise<void>
}

/** The mining schedule: its mode and whether it runs. */
export interface Schedule {
  /** What mines in the place of the schedule; absent for the schedule itself. */
  handler: MiningHandler | undefined
  /** `manual` while it is stopped. */
  readonly mode: MiningMode
  /** Whether blocks are mined without a request. */
  readonly active: boolean
  setMode(mode: MiningMode): void
  start(): void
  stop(): void
}

/** Calls back once after a delay in milliseconds; the returned function prevents it. */
export type IntervalTimer = (milliseconds: number, onEnd: () => Promise<void>) => () => void

/** A timer of Node.js, which does not keep the process running. */
export const nodeTimer: IntervalTimer = (milliseconds, onEnd) => {
  const timer = setTimeout(onEnd, milliseconds).unref()
  return () => clearTimeout(timer)
}

/**
 * Makes a stopped schedule. `tick` runs after each interval; the next interval starts when the tick has settled. `timer`
 * ends the intervals, a timer of Node.js unless given.
 */
export function createSchedule(
  initial: MiningMode,
  tick: () => Promise<void>,
  timer: IntervalTimer = nodeTimer,
): Schedule {
  let mode = initial
  let running = false
  let cancel: (() => void) | undefined

  function arm(): void {
    cancel?.()
    cancel = undefined
    const period = intervalOf(mode)
    if (!running || period === undefined) return
    const current = timer(period, async () => {
      await tick()
      if (cancel === current) arm()
    })
    cancel = current
  }

  return {
    handler: undefined,
    get mode() {
      return running ? mode : 'manual'
    },
    get active() {
      return running && mode !== 'manual'
    },
    setMode(next) {
      mode = next
      arm()
    },
    start() {
      if (running) return
      running = true
      arm()
    },
    stop() {
      running = false
      arm()
    },
  }
}
