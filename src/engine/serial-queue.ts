/** Runs jobs one after another: each starts when the one before it has settled, fulfilled or rejected. */

/** Runs `job` after all jobs enqueued before it; settles as it does. */
export type Enqueue = <T>(job: () => Promise<T>) => Promise<T>

/** Makes an empty queue; `idle` resolves when the jobs enqueued so far have settled. */
export function createSerialQueue(): { enqueue: Enqueue; idle: () => Promise<void> } {
  let tail: Promise<unknown> = Promise.resolve()
  return {
    enqueue(job) {
      const result = tail.then(job)
      tail = result.catch(() => {})
      return result
    },
    async idle() {
      await tail
    },
  }
}
