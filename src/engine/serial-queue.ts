/** One thing after another: each job starts when the one before it has ended, however it ended. */

/** Runs `job` in turn and settles as it does. */
export type InTurn = <T>(job: () => Promise<T>) => Promise<T>

/** A queue for jobs, and a way to wait until those queued so far have ended. */
export function createSerialQueue(): { inTurn: InTurn; idle: () => Promise<void> } {
  let tail: Promise<unknown> = Promise.resolve()
  return {
    inTurn(job) {
      const result = tail.then(job)
      tail = result.catch(() => {})
      return result
    },
    async idle() {
      await tail
    },
  }
}
