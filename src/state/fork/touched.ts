/**
 * What code touched in its last runs, to be fetched in the first batch where it runs again: at another block, or at
 * another address. Slots that code computes from its input differ from run to run: only slots that stay the same are fetched
 * for another address.
 */
import { EMPTY_CODE_HASH } from '../../chain/account.ts'
import type { Hex } from '../../encoding/hex.ts'
import { BATCH_LIMIT } from '../../upstream/sender.ts'
import { RecentMap } from '../recent-map.ts'
import type { RemoteState, StateItem } from '../remote/model.ts'

/** Addresses and codes kept. */
const KEPT = 4096
/** Slots and called accounts kept of each. */
const MOST_SLOTS = 24
const MOST_CALLED = 12
/** Calls that an item takes at most: balance, nonce and code, or one slot. */
const callsOf = ({ kind }: StateItem): number => (kind === 'account' ? 3 : 1)
/** Slots below are laid out by the compiler: every contract of the same code has them. */
const LAID_OUT = 1n << 16n

/** What an address touched lately. */
interface Touched {
  codeHash: Hex | undefined
  /** The one touched last at the end. */
  readonly slots: Set<bigint>
  /** Accounts that were missed in the same runs. */
  readonly called: Set<Hex>
}

/** Slots of code, with the address where they were touched first; `undefined` once another one did. */
type CodeSlots = Map<bigint, Hex | undefined>

/** How many items were fetched ahead, and how many of them were read since. */
export interface PrefetchCounts {
  items: number
  read: number
}

/** A key of the item among those of one state. */
export const itemKey = (item: StateItem): string =>
  item.kind === 'account' ? item.address : `${item.address}${item.slot}`

/** Is the item in memory? */
export const isFetched = (state: RemoteState, item: StateItem): boolean =>
  (item.kind === 'account' ? state.account(item.address) : state.cell(item.address, item.slot)) !== undefined

function addRecent<T>(set: Set<T>, value: T, most: number): void {
  set.delete(value)
  set.add(value)
  if (set.size > most) set.delete(set.values().next().value as T)
}

/** Remembers what runs missed, by address and by code. */
export class TouchedItems {
  readonly counts: PrefetchCounts = { items: 0, read: 0 }
  readonly #addresses = new RecentMap<Hex, Touched>(KEPT)
  readonly #codes = new RecentMap<Hex, CodeSlots>(KEPT)
  /** Fetched ahead and not read yet. */
  readonly #unread = new WeakMap<RemoteState, Set<string>>()

  #touchedBy(address: Hex): Touched {
    let touched = this.#addresses.get(address)
    if (touched === undefined) {
      touched = { codeHash: undefined, slots: new Set(), called: new Set() }
      this.#addresses.set(address, touched)
    }
    return touched
  }

  /** Did code at the address run before? */
  knows(address: Hex): boolean {
    return (this.#addresses.get(address)?.slots.size ?? 0) > 0
  }

  /** A run missed these items, which are fetched now; `called`: the address whose code it began with. */
  note(state: RemoteState, items: Iterable<StateItem>, called: Hex | undefined): void {
    for (const item of items) {
      const { address } = item
      const codeHash = state.account(address)?.account?.codeHash
      if (called !== undefined && address !== called) {
        addRecent(this.#touchedBy(called).called, address, MOST_CALLED)
      }
      if (codeHash === undefined || codeHash === EMPTY_CODE_HASH) continue
      const touched = this.#touchedBy(address)
      touched.codeHash = codeHash
      if (item.kind !== 'cell') continue
      addRecent(touched.slots, item.slot, MOST_SLOTS)
      this.#noteCode(codeHash, address, item.slot)
    }
  }

  #noteCode(codeHash: Hex, address: Hex, slot: bigint): void {
    let slots = this.#codes.get(codeHash)
    if (slots === undefined) {
      slots = new Map()
      this.#codes.set(codeHash, slots)
    }
    const isShared = slot < LAID_OUT || (slots.has(slot) && slots.get(slot) !== address)
    slots.delete(slot)
    slots.set(slot, isShared ? undefined : address)
    if (slots.size > 2 * MOST_SLOTS) slots.delete(slots.keys().next().value as bigint)
  }

  #slotsOf(address: Hex, codeHash: Hex | undefined): bigint[] {
    const own = [...(this.#addresses.get(address)?.slots ?? [])].reverse()
    const ofCode = codeHash === undefined ? undefined : this.#codes.get(codeHash)
    const shared = [...(ofCode ?? [])].filter(([, first]) => first === undefined).map(([slot]) => slot)
    return [...new Set([...own, ...shared])]
  }

  /**
   * What code at the addresses of `items` touched in earlier runs and is not in memory: no more than fits into the same
   * request, so that a useless item costs no round trip.
   */
  itemsBeside(state: RemoteState, items: readonly StateItem[]): StateItem[] {
    const known = new Set(items.map(itemKey))
    const found: StateItem[] = []
    // One call may be needed to check that the block is still at its height.
    let room = BATCH_LIMIT - 1 - (items.reduce((sum, item) => sum + callsOf(item), 0) % BATCH_LIMIT)
    const add = (item: StateItem): void => {
      const key = itemKey(item)
      if (callsOf(item) > room || known.has(key) || isFetched(state, item)) return
      room -= callsOf(item)
      known.add(key)
      found.push(item)
    }
    // The loop also reaches the called accounts that it adds.
    const addresses = new Set(items.map(({ address }) => address))
    for (const address of addresses) {
      if (room <= 0) break
      const touched = this.#addresses.get(address)
      const codeHash = state.account(address)?.account?.codeHash ?? touched?.codeHash
      for (const slot of this.#slotsOf(address, codeHash)) add({ kind: 'cell', address, slot })
      for (const called of touched?.called ?? []) {
        add({ kind: 'account', address: called })
        addresses.add(called)
      }
    }
    return found
  }

  /** Notes that items were fetched ahead. */
  noteAhead(state: RemoteState, items: readonly StateItem[]): void {
    if (items.length === 0) return
    this.counts.items += items.length
    const unread = this.#unread.get(state) ?? new Set()
    for (const item of items) unread.add(itemKey(item))
    this.#unread.set(state, unread)
  }

  /** An item in memory was read for the first time by a reader. */
  noteRead(state: RemoteState, item: StateItem): void {
    if (this.#unread.get(state)?.delete(itemKey(item)) === true) this.counts.read++
  }
}
