/** When the node mines without a request: for each transaction, on a timer, both, or not at all. Has the node's mining timer. */
import { intervalOf, type MiningMode } from '../model.ts'

/** The mining schedule: its mode and whether it runs. */
export interface Schedule {
  /** `manual` while it is stopped. */
  readonly mode: MiningMode
  /** Whether blocks are mined without a request. */
  readonly active: boolean
  setMode(mode: MiningMode): void
  start(): void
  stop(): void
}

/** Makes a stopped schedule. `tick` runs after each interval; the next interval starts when the tick has settled. */
export function createSchedule(initial: MiningMode, tick: () => Promise<void>): Schedule {
  let mode = initial
  let running = false
  let timer: NodeJS.Timeout | undefined

  function arm(): void {
    clearTimeout(timer)
    timer = undefined
    const period = intervalOf(mode)
    if (!running || period === undefined) return
    timer = setTimeout(async () => {
      const current = timer
      await tick()
      if (timer === current) arm()
    }, period)
    timer.unref()
  }

  return {
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
