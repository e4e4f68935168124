/** When the store resumes deferred work, and the timers of the machine. A test may put others in their place. */

/** A timer that has been started. */
export interface Timer {
  /** Starts its time again, even when it has ended. */
  restart(): void
  cancel(): void
}

/** The passing of time as the store sees it. */
export interface Timers {
  /** Resolves after the other pending events. */
  yield(): Promise<void>
  /** Runs a step once, some milliseconds from now. It keeps no process alive. */
  after(milliseconds: number, run: () => void): Timer
}

/** The timers of the machine. */
export const systemTimers: Timers = {
  yield: () => new Promise((resolve) => setImmediate(resolve)),
  after(milliseconds, run) {
    const timeout = setTimeout(run, milliseconds).unref()
    return { restart: () => void timeout.refresh(), cancel: () => clearTimeout(timeout) }
  },
}
