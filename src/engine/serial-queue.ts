/** Runs jobs one after another: each starts when the one before it has settled, fulfilled or rejected. */
import { Call, type RunCommand } from './call.ts'

/** Runs `job` after all jobs enqueued before it, for a call; settles as the job does. */
export type Enqueue = <T>(job: (call: Call) => Promise<T>) => Promise<T>

/** A job that runs together with others of its kind. The first settlement counts. */
export interface SharedJob<A, T> {
  readonly item: A
  readonly resolve: (result: T) => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs jobs of one kind. `next` takes the job that waits directly behind those taken, if it is of the same kind. What it throws
 * rejects those taken.
 */
export type RunTogether<A, T> = (
  first: SharedJob<A, T>,
  next: () => SharedJob<A, T> | undefined,
) => Promise<void>

/** Enqueues a job of a kind. */
export type EnqueueShared<A, T> = (item: A, call?: Call) => Promise<T>

/** Jobs that run one after another. */
export interface SerialQueue {
  /**
   * Runs `job` after all jobs enqueued before it; settles as the job does. A job whose call ends while it waits is removed
   * from the queue and rejects with the error of the call.
   */
  enqueue<T>(job: (call: Call) => Promise<T>, call?: Call): Promise<T>
  /** Makes a kind of jobs, of which those that wait one directly behind the other may run together. */
  share<A, T>(together: RunTogether<A, T>): EnqueueShared<A, T>
  /** Resolves when the jobs enqueued so far have settled. */
  idle(): Promise<void>
  /** Refuses further jobs with this error; waiting ones still run. */
  end(error: () => Error): void
}

/** A job that waits. */
type Start = () => Promise<void>

/** Makes an empty queue. */
export function createSerialQueue(): SerialQueue {
  return new JobQueue()
}

class JobQueue implements SerialQueue {
  /** Jobs that have not begun, oldest first. */
  readonly #waiting = new Set<Start>()
  #running: Promise<void> | undefined
  #ended: (() => Error) | undefined

  readonly enqueue: SerialQueue['enqueue'] = (job, call = new Call()) => {
    if (this.#ended !== undefined) return Promise.reject(this.#ended())
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
      const stopWaiting = this.#add(start, call, reject)
    })
  }

  readonly share = <A, T>(together: RunTogether<A, T>): EnqueueShared<A, T> => {
    /** Those that wait, each with what takes it. */
    const kind = new Map<Start, () => SharedJob<A, T> | undefined>()
    return (item, call = new Call()) => {
      if (this.#ended !== undefined) return Promise.reject(this.#ended())
      const run = call.observe()
      return new Promise((resolve, reject) => {
        const take = () => {
          kind.delete(start)
          stopWaiting()
          return begun(item, { call, run, resolve, reject })
        }
        const start = () => runTogether(together, take(), () => this.#takeNext(kind))
        kind.set(start, take)
        const stopWaiting = this.#add(start, call, (error) => {
          kind.delete(start)
          reject(error)
        })
      })
    }
  }

  readonly idle = async (): Promise<void> => {
    if (this.#running === undefined) return
    await new Promise<void>((resolve) => {
      this.#waiting.add(async () => resolve())
    })
  }

  readonly end = (error: () => Error): void => {
    this.#ended = error
  }

  /** Adds a job, which is removed with `onEnd` if its call ends first; the returned function stops waiting for that. */
  #add(start: Start, call: Call, onEnd: (error: Error) => void): () => void {
    this.#waiting.add(start)
    const stopWaiting =
      this.#running === undefined
        ? () => {}
        : call.wait((error) => {
            this.#waiting.delete(start)
            onEnd(error)
          })
    this.#running ??= this.#runAll()
    return stopWaiting
  }

  /** Takes the job that is next, if it is one of these and its call has not ended. */
  #takeNext<J>(kind: ReadonlyMap<Start, () => J | undefined>): J | undefined {
    for (const start of this.#waiting) {
      const take = kind.get(start)
      if (take === undefined) return undefined
      this.#waiting.delete(start)
      const job = take()
      if (job !== undefined) return job
    }
    return undefined
  }

  /** Runs the waiting jobs; the first one begins in a later microtask. */
  async #runAll(): Promise<void> {
    await undefined
    for (const start of this.#waiting) {
      this.#waiting.delete(start)
      await start()
    }
    this.#running = undefined
  }
}

/** Runs a job together with those that `takeNext` takes; it has none where its call has ended. */
async function runTogether<A, T>(
  together: RunTogether<A, T>,
  first: SharedJob<A, T> | undefined,
  takeNext: () => SharedJob<A, T> | undefined,
): Promise<void> {
  if (first === undefined) return
  const taken = [first]
  try {
    await together(first, () => {
      const next = takeNext()
      if (next !== undefined) taken.push(next)
      return next
    })
  } catch (error) {
    for (const { reject } of taken) reject(error)
  }
}

interface Waiter<T> {
  readonly call: Call
  readonly run: RunCommand | undefined
  readonly resolve: (result: T | PromiseLike<T>) => void
  readonly reject: (error: unknown) => void
}

/** Begins a job for its call; `undefined`, with the job rejected, where the call has ended. */
function begun<A, T>(item: A, { call, run, resolve, reject }: Waiter<T>): SharedJob<A, T> | undefined {
  try {
    call.begin()
  } catch (error) {
    reject(error)
    return undefined
  }
  if (run === undefined) return { item, resolve, reject }
  let job: SharedJob<A, T> | undefined
  const outcome = new Promise<T>((settle, fail) => {
    job = { item, resolve: settle, reject: fail }
  })
  resolve(run(() => outcome))
  return job
}
