/** What a run missed of the states and blocks of a fork's upstream, and how it is fetched. */
import type { Hex } from '../../encoding/hex.ts'
import type { RemoteCall, RemoteState, StateItem } from '../remote/model.ts'
import { isFetched, itemKey, type TouchedItems } from './touched.ts'

/** What a run missed, each once. */
export class Misses {
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
