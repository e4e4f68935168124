/**
 * State on demand: running code reads synchronously, so a run continues with a placeholder where something was not fetched
 * yet. All that it missed is then fetched together, and it runs again until nothing is missing.
 *
 * What is missed is assigned to its run by an async context. Node.js 20 has hooks on every promise of the process while
 * one is in use, which costs a fifth of a suite's time, so a run is attempted without one first: a miss is then thrown.
 * It is noted as well, since code that runs may catch what it does not know.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { NodeError } from '../../errors.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { RemoteCall, RemoteState, StateItem } from '../remote/model.ts'
import { Misses } from './misses.ts'
import { TouchedItems } from './touched.ts'

type Run<T> = () => MaybePromise<T>
/** The call that a run makes: the upstream can tell what it will touch. */
type Call = () => RemoteCall | undefined

/** Called when a query begins to wait for the upstream; returns what is called when it continues. */
type OnWait = () => () => void

/** How a run waits for what it missed. */
interface Waiting {
  /** Milliseconds after which `UpstreamDelay` is thrown; without it, it waits until the fetch is done. */
  readonly limit?: (() => number) | undefined
  readonly onWait?: OnWait | undefined
  /** Unix milliseconds after which nothing more is fetched; 0 for no end. */
  readonly deadline?: number | undefined
}

/** What a query from outside asks of its waits. */
export type QueryWaiting = Pick<Waiting, 'onWait' | 'deadline'>

/** Runs again what missed something, after that was fetched. A result is there at once where nothing can be missed. */
export interface OnDemand {
  <T>(run: () => Promise<T>, call?: Call): Promise<T>
  <T>(run: Run<T>, call?: Call): MaybePromise<T>
}

/** What a node without a fork uses: everything is there. */
export function runOnce<T>(run: () => Promise<T>): Promise<T>
export function runOnce<T>(run: Run<T>): MaybePromise<T>
export function runOnce<T>(run: Run<T>): MaybePromise<T> {
  return run()
}

/** Something was read before it was fetched, where the read cannot continue with a placeholder. */
export class UpstreamMiss extends Error {
  readonly misses: Misses
  /** Has a run taken charge of what was missed? */
  isTaken = false

  constructor(misses: Misses) {
    super('the state of a fork was read before it was fetched')
    this.name = 'UpstreamMiss'
    this.misses = misses
  }
}

/**
 * A fetch takes longer than a command may block the queue. The command had no effect yet; it can run again
 * when `fetched` resolves, and is refused by what `fetched` rejects with.
 */
export class UpstreamDelay extends Error {
  readonly fetched: Promise<unknown>

  constructor(fetched: Promise<unknown>) {
    super('the upstream of a fork does not answer at once')
    this.name = 'UpstreamDelay'
    this.fetched = fetched
  }
}

/** Runs, and runs again after each delay. Throws what a fetch that was waited for fails with. */
export async function afterDelays<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof UpstreamDelay)) throw error
      await error.fetched
    }
  }
}

/** Waits for a fetch for so many milliseconds, then throws `UpstreamDelay`; without a limit until it is done. */
async function waitFor(fetched: Promise<unknown>, waitLimit: number | undefined): Promise<void> {
  if (waitLimit === undefined || !Number.isFinite(waitLimit)) {
    await fetched
    return
  }
  let timer: NodeJS.Timeout | undefined
  const delay = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new UpstreamDelay(fetched)), waitLimit)
  })
  // A failure is handled by the code that waits after the delay.
  fetched.catch(() => {})
  try {
    await Promise.race([fetched, delay])
  } finally {
    clearTimeout(timer)
  }
}

/** Rounds of a run in which it asks for more before the upstream is asked what it will touch. */
const ROUNDS_BEFORE_HINT = 1

/** The context of the reads of one attempt. Work that outlives the attempt may still refer to it. */
interface Context {
  /** Where misses are collected; without it each is thrown. */
  readonly misses: Misses | undefined
  /** Of the query that the attempt is part of. */
  readonly waiting: QueryWaiting
  isOpen: boolean
}

/** A run that is attempted without a context, and what was missed meanwhile. */
interface Attempt {
  readonly missed: UpstreamMiss[]
}

/** Collects what runs miss. */
export class Demand {
  readonly #contexts = new AsyncLocalStorage<Context>()
  /** Contexts in use. */
  #open = 0
  /** Runs that are attempted without a context. */
  readonly #attempts = new Set<Attempt>()
  /** How the query among them waits, if there is one. Misses without a context are its own: all else has a context then. */
  #query: Waiting | undefined
  /** Jobs without a context. */
  #jobs = 0
  readonly #onFetched: () => void
  readonly #waitLimit: () => number
  /** What code touched in its last runs. */
  readonly touched = new TouchedItems()

  /** `onFetched` is called after each fetch. `waitLimit`: how long a command may block the queue for one, milliseconds. */
  constructor(onFetched: () => void = () => {}, waitLimit: () => number = () => Number.POSITIVE_INFINITY) {
    this.#onFetched = onFetched
    this.#waitLimit = waitLimit
  }

  /** A part of a state is missing. Returns to a run that will be repeated; throws `UpstreamMiss` otherwise. */
  missItem(state: RemoteState, item: StateItem): void {
    this.#miss((misses) => misses.addItem(state, item))
  }

  /** The same for something that `load` fetches. */
  missLoad(key: string, load: () => Promise<unknown>): void {
    this.#miss((misses) => misses.addLoad(key, load))
  }

  #miss(add: (misses: Misses) => void): void {
    const context = this.#context()
    if (context?.misses !== undefined) {
      add(context.misses)
      return
    }
    const misses = new Misses()
    add(misses)
    const miss = new UpstreamMiss(misses)
    if (context === undefined) for (const { missed } of this.#attempts) missed.push(miss)
    throw miss
  }

  /** The context that a read belongs to; none for work that outlives its attempt. */
  #context(): Context | undefined {
    const context = this.#contexts.getStore()
    return context?.isOpen === true ? context : undefined
  }

  async #within<T>(
    misses: Misses | undefined,
    job: () => Promise<T>,
    waiting: QueryWaiting = {},
  ): Promise<T> {
    const context = { misses, waiting, isOpen: true }
    this.#open++
    try {
      return await this.#contexts.run(context, job)
    } finally {
      context.isOpen = false
      // Removes the hooks from the promises of the process.
      if (--this.#open === 0) this.#contexts.disable()
    }
  }

  /**
   * Runs until nothing is missing; what a run with misses returns or throws is dropped, so it must have no side effects.
   * `call` is what it runs, for the upstream to foresee what it touches. Throws the NodeError of a failed fetch.
   */
  readonly run: OnDemand = async <T>(run: Run<T>, call?: Call): Promise<T> => {
    const context = this.#context()
    if (context !== undefined) return this.#repeat(run, call, [], context.waiting)
    return this.#attempt(run, call, this.#query)
  }

  /** The same within a command in the queue: throws `UpstreamDelay` instead of waiting for long. */
  readonly runQueued: OnDemand = async <T>(run: Run<T>, call?: Call): Promise<T> => {
    const waiting = { limit: this.#waitLimit }
    if (this.#context() !== undefined) return this.#repeat(run, call, [], waiting)
    return this.#attempt(run, call, waiting)
  }

  /**
   * The same for a query from outside, which may have runs of its own within. It has a context from the first attempt on
   * where it could not be distinguished from others that have none. `onWait` is called whenever it, or a run within it,
   * waits for the upstream. Throws `limit-exceeded` for what it would fetch after its deadline.
   */
  async query<T>(run: Run<T>, waiting: QueryWaiting = {}): Promise<T> {
    if (this.#context() !== undefined || this.#query !== undefined || this.#jobs > 0) {
      return this.#repeat(run, undefined, [], waiting)
    }
    this.#query = waiting
    try {
      return await this.#attempt(run, undefined, waiting)
    } finally {
      this.#query = undefined
    }
  }

  /** Runs without a context, and again with one where something was missed that no run within took charge of. */
  async #attempt<T>(run: Run<T>, call: Call | undefined, waiting: Waiting | undefined): Promise<T> {
    const attempt: Attempt = { missed: [] }
    this.#attempts.add(attempt)
    let outcome: Outcome<T>
    try {
      outcome = await outcomeOf(run)
    } finally {
      this.#attempts.delete(attempt)
    }
    const thrown = 'error' in outcome && outcome.error instanceof UpstreamMiss ? outcome.error : undefined
    if (thrown !== undefined) thrown.isTaken = true
    const open = attempt.missed.filter(({ isTaken }) => !isTaken)
    if (thrown !== undefined || open.length > 0) return this.#repeat(run, call, open, waiting)
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }

  /** Runs with a context until nothing is missing. Takes charge of those of `suspects` that it misses as well. */
  async #repeat<T>(
    run: Run<T>,
    call: Call | undefined,
    suspects: readonly UpstreamMiss[],
    { limit, onWait, deadline = 0 }: Waiting = {},
  ): Promise<T> {
    let before: Misses | undefined
    let isHinted = call !== undefined
    for (let round = 1; ; round++) {
      const misses = new Misses()
      const outcome = await this.#within(misses, () => outcomeOf(run), { onWait, deadline })
      if (misses.isEmpty) {
        if ('error' in outcome) throw outcome.error
        return outcome.value
      }
      for (const miss of suspects) if (miss.misses.isWithin(misses)) miss.isTaken = true
      if (before !== undefined && misses.isWithin(before)) throw stuck(misses)
      before = misses
      if (deadline !== 0 && Date.now() > deadline) throw late(misses)
      const request = call?.()
      const asks =
        isHinted && request !== undefined && (round > ROUNDS_BEFORE_HINT || this.#isNewCode(request, misses))
      // At the same time, so that the hints cost no further round trip.
      const fetched = Promise.all([
        asks ? misses.fetchHints(request, this.touched) : isHinted,
        misses.fetch(this.touched, request?.to ?? undefined),
      ])
      const endWait = onWait?.()
      try {
        await waitFor(fetched, limit?.())
      } finally {
        endWait?.()
      }
      isHinted = (await fetched)[0]
      this.#onFetched()
    }
  }

  /** Does it call code that is not here yet and did not run before? It may read anything, so the upstream is asked at once. */
  #isNewCode({ to, data }: RemoteCall, misses: Misses): boolean {
    if (to == null || data === undefined || data.length === 0) return false
    return misses.lacksAccount(to) && !this.touched.knows(to)
  }

  /**
   * Runs a job that has side effects: its reads throw where something is missing, which must be before any effect, and
   * it starts again. Throws the NodeError of a failed fetch.
   */
  restart<T>(job: () => Promise<T>): Promise<T> {
    return this.#restart(job)
  }

  /** The same for a command in the queue: throws `UpstreamDelay` instead of waiting for long. */
  restartQueued<T>(job: () => Promise<T>): Promise<T> {
    return this.#restart(job, this.#waitLimit)
  }

  async #restart<T>(job: () => Promise<T>, waitLimit?: () => number): Promise<T> {
    let before: Misses | undefined
    for (;;) {
      try {
        return await this.#throwing(job)
      } catch (error) {
        if (!(error instanceof UpstreamMiss)) throw error
        const { misses } = error
        if (before !== undefined && misses.isWithin(before)) throw stuck(misses)
        before = misses
        await waitFor(misses.fetch(this.touched, undefined), waitLimit?.())
        this.#onFetched()
      }
    }
  }

  /** Runs a job whose misses are thrown. It needs a context where they could be taken for those of a query. */
  async #throwing<T>(job: () => Promise<T>): Promise<T> {
    if (this.#context() !== undefined || this.#query !== undefined) return this.#within(undefined, job)
    this.#jobs++
    try {
      return await job()
    } finally {
      this.#jobs--
    }
  }
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown }

/** What a run returned or threw. */
async function outcomeOf<T>(run: Run<T>): Promise<Outcome<T>> {
  try {
    return { value: await run() }
  } catch (error) {
    return { error }
  }
}

function late(misses: Misses): NodeError {
  return new NodeError('limit-exceeded', `The upstream of the fork did not give ${misses.names} in time.`)
}

function stuck(misses: Misses): NodeError {
  return new NodeError('upstream', `The upstream of the fork does not give ${misses.names}.`)
}
