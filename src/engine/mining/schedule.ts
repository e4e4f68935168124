/** When the node mines by itself: after each transaction, on a timer, or not at all. */

/** `auto`: a block per transaction; a number: a block every so many milliseconds; `manual`: only when told. */
export type MiningMode = 'auto' | 'manual' | number

/** The schedule: its mode, whether it runs, and the timer behind it. A door to the outside world's timers. */
export interface Schedule {
  readonly mode: MiningMode
  /** Is anything mined without being told? */
  readonly active: boolean
  setMode(mode: MiningMode): void
  start(): void
  stop(): void
}

/** Makes a stopped schedule. `tick` is called on every beat of a timer, never while the tick before is still under way. */
export function createSchedule(initial: MiningMode, tick: () => Promise<void>): Schedule {
  let mode = initial
  let running = false
  let timer: NodeJS.Timeout | undefined

  function arm(): void {
    clearTimeout(timer)
    timer = undefined
    if (!running || typeof mode !== 'number') return
    const period = mode
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
