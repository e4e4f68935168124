/** Runs jobs one after another: each starts when the one before it has settled, fulfilled or rejected. */
import { Call } from './call.ts'

/** Runs `job` after all jobs enqueued before it, for a call; settles as the job does. */
export type Enqueue = <T>(job: (call: Call) => Promise<T>) => Promise<T>

/** Jobs that run one after another. */
export interface SerialQueue {
  /**
   * Runs `job` after all jobs enqueued before it; settles as the job does. A job whose call ends while it waits is removed
   * from the queue and rejects with the error of the call.
   */
  enqueue<T>(job: (call: Call) => Promise<T>, call?: Call): Promise<T>
  /** Resolves when the jobs enqueued so far have settled. */
  idle(): Promise<void>
  /** Refuses further jobs with this error; waiting ones still run. */
  end(error: () => Error): void
}

/** Makes an empty queue. */
export function createSerialQueue(): SerialQueue {
  /** Jobs that have not begun, oldest first. */
  const waiting = new Set<() => Promise<void>>()
  let running: Promise<void> | undefined
  let ended: (() => Error) | undefined

  /** Runs the waiting jobs; the first one begins in a later microtask. */
  async function runAll(): Promise<void> {
    await undefined
    for (const start of waiting) {
      waiting.delete(start)
      await start()
    }
    running = undefined
  }

  return {
    enqueue(job, call = new Call()) {
      if (ended !== undefined) return Promise.reject(ended())
      const run = call.observe()
      return new Promise((resolve, reject) => {
        const start = async () => {
          stopWaiting()
          try {
            call.begin()
            resolve(await (run === undefined ? job(call) : run(() => job(call))))
          } catch (error) {
            reject(error)
          }
        }
        waiting.add(start)
        const stopWaiting =
          running === undefined
            ? () => {}
            : call.wait((error) => {
                waiting.delete(start)
                reject(error)
              })
        running ??= runAll()
      })
    },
    async idle() {
      if (running === undefined) return
      await new Promise<void>((resolve) => {
        const start = async () => resolve()
        waiting.add(start)
      })
    },
    end(error) {
      ended = error
    },
  }
}
