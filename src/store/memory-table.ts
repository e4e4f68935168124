/** A table in memory: entries by id, and in the order of their keys. */
import { compare } from '../encoding/bytes.ts'
import { Arena, type Location } from './arena.ts'
import type { Id, KeyCodec } from './table.ts'

/** A key with its value; without one where the entry is hidden. */
export type TableEntry = readonly [key: Uint8Array, value: Uint8Array | undefined]

/** The entries that a store in memory has of a table, above those of its base. */
export interface MemoryTable {
  /** Is the entry here, with a value or hidden? */
  has(id: Id): boolean
  get(id: Id): Uint8Array | undefined
  put(id: Id, value: Uint8Array): void
  /** Keeps the id without a value, so that the base's entry is not seen. */
  hide(id: Id): void
  remove(id: Id): void
  /** Entries with `from` <= key < `to` in order. */
  range(from: Uint8Array, to: Uint8Array): TableEntry[]
  /** The first `most` of them that are not hidden, or the last in reverse; only where keys are kept in order. */
  some?(
    from: Uint8Array,
    to: Uint8Array,
    reverse: boolean,
    most: number,
  ): (readonly [key: Uint8Array, value: Uint8Array])[]
}

/** A key and the id that it encodes. */
interface SortedKey {
  readonly key: Uint8Array
  readonly id: Id
}

const keyOf = ({ key }: SortedKey): Uint8Array => key

/** New keys up to this many are inserted one by one; more are sorted and merged. */
const FEW = 32

const byKey = (a: SortedKey, b: SortedKey): number => compare(a.key, b.key)

/** Two lists in order as one; a key that is in both appears once. Looks at few keys of the first, and copies the others. */
function mergedKeys(known: readonly SortedKey[], fresh: readonly SortedKey[]): SortedKey[] {
  const merged: SortedKey[] = []
  let from = 0
  for (const item of fresh) {
    const at = lowerBound(known, item.key, keyOf, from)
    for (; from < at; from++) merged.push(known[from] as SortedKey)
    const isThere = [known[at], merged.at(-1)].some((one) => one !== undefined && byKey(one, item) === 0)
    if (!isThere) merged.push(item)
  }
  for (; from < known.length; from++) merged.push(known[from] as SortedKey)
  return merged
}

/** In place of a location: the entry hides one of the base. */
const HIDDEN = -1

/** Position, from `above` on, of the first item whose key is not below the bound; the items are in the order of their keys. */
export function lowerBound<T>(
  items: readonly T[],
  bound: Uint8Array,
  keyOfItem: (item: T) => Uint8Array,
  above = 0,
): number {
  let [low, high] = [above, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(keyOfItem(items[middle] as T), bound) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Two lists in the order of their keys as one; of two entries with one key the second list's counts. */
export function mergedEntries(below: readonly TableEntry[], above: readonly TableEntry[]): TableEntry[] {
  const entries: TableEntry[] = []
  let at = 0
  for (const own of above) {
    let entry = below[at]
    while (entry !== undefined && compare(entry[0], own[0]) < 0) {
      entries.push(entry)
      entry = below[++at]
    }
    if (entry !== undefined && compare(entry[0], own[0]) === 0) at++
    entries.push(own)
  }
  return [...entries, ...below.slice(at)]
}

/** A table whose keys are sorted when a range is first asked for, and kept in order from then on. */
export class OrderedTable implements MemoryTable {
  readonly #prefix: number
  readonly #keys: KeyCodec<Id>
  readonly #locations = new Map<Id, Location>()
  #values = new Arena()
  /**
   * The keys in order, without those in `#added` and with some of removed entries; `undefined` until a range needs the
   * order.
   */
  #sorted: SortedKey[] | undefined
  #added: Id[] = []

  constructor(prefix: number, keys: KeyCodec<Id>) {
    this.#prefix = prefix
    this.#keys = keys
  }

  has(id: Id): boolean {
    return this.#locations.has(id)
  }

  get(id: Id): Uint8Array | undefined {
    const location = this.#locations.get(id)
    return location === undefined || location === HIDDEN ? undefined : this.#values.at(location)
  }

  put(id: Id, value: Uint8Array): void {
    this.#place(id, this.#values.add(value))
  }

  hide(id: Id): void {
    this.#place(id, HIDDEN)
  }

  remove(id: Id): void {
    const location = this.#locations.get(id)
    if (location === undefined) return
    this.#locations.delete(id)
    this.#discard(location)
    if (this.#sorted !== undefined && this.#sorted.length > 2 * this.#locations.size + FEW)
      this.#forgetOrder()
  }

  some(
    from: Uint8Array,
    to: Uint8Array,
    reverse: boolean,
    most: number,
  ): (readonly [Uint8Array, Uint8Array])[] {
    const all = this.#inOrder()
    const [first, end] = [lowerBound(all, from, keyOf), lowerBound(all, to, keyOf)]
    const found: (readonly [Uint8Array, Uint8Array])[] = []
    for (let step = 0; step < end - first && found.length < most; step++) {
      const { key, id } = all[reverse ? end - 1 - step : first + step] as SortedKey
      const value = this.get(id)
      if (value !== undefined) found.push([key, value])
    }
    return found
  }

  range(from: Uint8Array, to: Uint8Array): TableEntry[] {
    const all = this.#inOrder()
    return all
      .slice(lowerBound(all, from, keyOf), lowerBound(all, to, keyOf))
      .filter(({ id }) => this.#locations.has(id))
      .map(({ key, id }) => [key, this.get(id)])
  }

  #forgetOrder(): void {
    this.#sorted = undefined
    this.#added = []
  }

  #discard(location: Location): void {
    if (location === HIDDEN) return
    this.#values.discard(location)
    if (!this.#values.isWasted) return
    const fresh = new Arena()
    for (const [id, at] of this.#locations) {
      if (at !== HIDDEN) this.#locations.set(id, fresh.add(this.#values.at(at)))
    }
    this.#values = fresh
  }

  #place(id: Id, location: Location): void {
    const known = this.#locations.get(id)
    this.#locations.set(id, location)
    if (known !== undefined) {
      this.#discard(known)
      return
    }
    if (this.#sorted === undefined) return
    this.#added.push(id)
    // Many entries were added since the last range: the order is rebuilt when it is needed.
    if (this.#added.length > this.#locations.size + FEW) this.#forgetOrder()
  }

  #inOrder(): readonly SortedKey[] {
    const sortedKey = (id: Id): SortedKey => ({ key: this.#keys.encode(this.#prefix, id), id })
    let sorted = this.#sorted
    if (sorted === undefined) {
      sorted = Array.from(this.#locations.keys(), sortedKey).sort(byKey)
    } else if (this.#added.length > FEW) {
      sorted = mergedKeys(sorted, this.#added.map(sortedKey).sort(byKey))
    } else {
      for (const item of this.#added.map(sortedKey)) {
        const at = lowerBound(sorted, item.key, keyOf)
        const there = sorted[at]
        // An entry that was removed and put again is still in its place.
        if (there === undefined || compare(there.key, item.key) !== 0) sorted.splice(at, 0, item)
      }
    }
    this.#sorted = sorted
    this.#added = []
    return sorted
  }
}
