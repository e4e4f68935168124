/**
 * State on demand: running code reads synchronously, so a run goes on with a placeholder where something was not fetched
 * yet. All that it missed is then fetched together, and it runs again until nothing is missing.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RemoteCall, RemoteState, StateItem } from '../remote/model.ts'
import { isFetched, itemKey, TouchedItems } from './touched.ts'

/** Runs again what missed something, after that was fetched. */
export type OnDemand = <T>(run: () => T | Promise<T>, call?: () => RemoteCall | undefined) => Promise<T>

/** What a node without a fork uses: everything is there. */
export const runOnce: OnDemand = async (run) => run()

/** Something was read outside of a run that could be repeated. */
export class UpstreamMiss extends Error {
  readonly misses: Misses

  constructor(misses: Misses) {
    super('the state of a fork was read before it was fetched')
    this.name = 'UpstreamMiss'
    this.misses = misses
  }
}

/** Rounds of a run in which it asks for more before the upstream is asked what it will touch. */
const ROUNDS_BEFORE_HINT = 1

/** What a run missed, each once. */
class Misses {
  readonly #states = new Map<RemoteState, Map<string, StateItem>>()
  readonly #loads = new Map<string, () => Promise<unknown>>()

  get isEmpty(): boolean {
    return this.#states.size === 0 && this.#loads.size === 0
  }

  addItem(state: RemoteState, item: StateItem): void {
    let items = this.#states.get(state)
    if (items === undefined) {
      items = new Map()
      this.#states.set(state, items)
    }
    items.set(itemKey(item), item)
  }

  addLoad(key: string, load: () => Promise<unknown>): void {
    this.#loads.set(key, load)
  }

  /** Is all of this missed in `earlier` too? */
  isWithin(earlier: Misses): boolean {
    for (const key of this.#loads.keys()) if (!earlier.#loads.has(key)) return false
    for (const [state, items] of this.#states) {
      const before = earlier.#states.get(state)
      for (const key of items.keys()) if (before?.has(key) !== true) return false
    }
    return true
  }

  /** Is an account missing in any state? */
  lacksAccount(address: Hex): boolean {
    return [...this.#states.values()].some((items) => items.has(address))
  }

  /**
   * Fetches what a call touches by the access list of the upstream, in the states of which something is missing. False
   * when the upstream names nothing new.
   */
  async fetchHints(call: RemoteCall, touched: TouchedItems): Promise<boolean> {
    const fetches = [...this.#states].map(async ([state, items]) => {
      const hints = await state.hint(call).catch(() => [])
      const unknown = hints.filter((item) => !items.has(itemKey(item)) && !isFetched(state, item))
      if (unknown.length === 0) return false
      await state.fetch(unknown)
      touched.note(state, unknown, call.to ?? undefined)
      return true
    })
    return (await Promise.all(fetches)).includes(true)
  }

  /** Fetches all, with what code at the same addresses touched before; `called`: the address that the run calls. */
  async fetch(touched: TouchedItems, called: Hex | undefined): Promise<void> {
    const fetches = [...this.#states].map(async ([state, items]) => {
      const missed = [...items.values()]
      const ahead = touched.itemsBeside(state, missed)
      await state.fetch(missed, ahead)
      touched.noteAhead(state, ahead)
      touched.note(state, missed, called)
    })
    await Promise.all([...fetches, ...[...this.#loads.values()].map((load) => load())])
  }

  get names(): string {
    const items = [...this.#states.values()].flatMap((of) => [...of.keys()])
    return [...this.#loads.keys(), ...items].slice(0, 5).join(', ')
  }
}

/** Collects what runs miss. */
export class Demand {
  readonly #runs = new AsyncLocalStorage<Misses>()
  readonly #onFetched: () => void
  /** What code touched in its last runs. */
  readonly touched = new TouchedItems()

  /** `onFetched` is called after each fetch. */
  constructor(onFetched: () => void = () => {}) {
    this.#onFetched = onFetched
  }

  /** A part of a state is missing. Returns to a run that will be repeated; throws `UpstreamMiss` outside of one. */
  missItem(state: RemoteState, item: StateItem): void {
    this.#miss((misses) => misses.addItem(state, item))
  }

  /** The same for something that `load` fetches. */
  missLoad(key: string, load: () => Promise<unknown>): void {
    this.#miss((misses) => misses.addLoad(key, load))
  }

  #miss(add: (misses: Misses) => void): void {
    const run = this.#runs.getStore()
    const misses = run ?? new Misses()
    add(misses)
    if (run === undefined) throw new UpstreamMiss(misses)
  }

  /**
   * Runs until nothing is missing; what a run with misses returns or throws is dropped, so it must have no side effects.
   * `call` is what it runs, for the upstream to foresee what it touches. Throws the NodeError of a failed fetch.
   */
  readonly run: OnDemand = async (run, call) => {
    let before: Misses | undefined
    let isHinted = call !== undefined
    for (let round = 1; ; round++) {
      const misses = new Misses()
      const outcome = await this.#runs.run(misses, () => outcomeOf(run))
      if (misses.isEmpty) {
        if ('error' in outcome) throw outcome.error
        return outcome.value
      }
      if (before !== undefined && misses.isWithin(before)) throw stuck(misses)
      before = misses
      const request = call?.()
      const asks =
        isHinted && request !== undefined && (round > ROUNDS_BEFORE_HINT || this.#isNewCode(request, misses))
      // Both at once: what the upstream names costs no round trip more.
      const [named] = await Promise.all([
        asks ? misses.fetchHints(request, this.touched) : isHinted,
        misses.fetch(this.touched, request?.to ?? undefined),
      ])
      isHinted = named
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
  async restart<T>(job: () => Promise<T>): Promise<T> {
    let before: Misses | undefined
    for (;;) {
      try {
        return await this.#runs.exit(job)
      } catch (error) {
        if (!(error instanceof UpstreamMiss)) throw error
        const { misses } = error
        if (before !== undefined && misses.isWithin(before)) throw stuck(misses)
        before = misses
        await misses.fetch(this.touched, undefined)
        this.#onFetched()
      }
    }
  }
}

/** What a run returned or threw. */
async function outcomeOf<T>(
  run: () => T | Promise<T>,
): Promise<{ readonly value: T } | { readonly error: unknown }> {
  try {
    return { value: await run() }
  } catch (error) {
    return { error }
  }
}

function stuck(misses: Misses): NodeError {
  return new NodeError('upstream', `The upstream of the fork does not give ${misses.names}.`)
}
