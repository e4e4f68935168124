/** Names of slots: the variables that stand in them, where mappings are searched with keys that were seen. */
import {
  type ArrayType,
  elementsOf,
  keyType,
  type MappingType,
  type StorageLayout,
  type StorageType,
  typeIn,
} from './layout.ts'
import { contentSlot, elementPlace, hashedPlace, LENGTH, memberPlace, type StoragePlace } from './place.ts'
import type { ReadSlot } from './read.ts'
import { keyOfWord } from './value-type.ts'

/** A variable, or a part of one, that stands in a slot. */
export interface SlotName {
  readonly path: string
  readonly place: StoragePlace
}

/** What searches may still do; they count it down. */
export interface SearchBudget {
  /** Hashes; each takes some 2 µs. */
  hashes: number
  /** Places that are entered, and names that are found: a layout may hold a type along more paths than can be followed. */
  places: number
}

/** What one search may do, unless it has a budget with others. */
const MOST_HASHES = 8192
const MOST_PLACES = 65_536
/** Slots behind the first one of a dynamic array, or of a long text, that count as its own. */
const MOST_CONTENT = 1n << 32n
/** Elements of an array that are entered for what they have elsewhere, as a text does. */
const MOST_ELEMENTS = 64n
const MAX_DEPTH = 64

interface Mapped {
  readonly path: string
  readonly type: MappingType
  readonly slot: bigint
  readonly depth: number
}

class SlotSearch {
  readonly found = new Map<bigint, SlotName[]>()
  readonly #layout: StorageLayout
  readonly #words: readonly bigint[]
  readonly #read: ReadSlot
  /** Slots to name, in order. */
  readonly #wanted: readonly bigint[]
  readonly #isWanted: ReadonlySet<bigint>
  /** Of struct and array types: whether parts of them stand at hashes. */
  readonly #scattered = new Map<StorageType, boolean>()
  readonly #keys = new Map<string, readonly { readonly text: string; readonly bytes: Uint8Array }[]>()
  /** Mappings are searched after all else, the outer ones first. */
  readonly #mappings: Mapped[] = []
  readonly #budget: SearchBudget

  constructor(
    layout: StorageLayout,
    slots: Iterable<bigint>,
    words: readonly bigint[],
    read: ReadSlot,
    budget: SearchBudget,
  ) {
    this.#budget = budget
    this.#layout = layout
    this.#words = words
    this.#read = read
    this.#isWanted = new Set(slots)
    this.#wanted = [...this.#isWanted].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  }

  run(): void {
    for (const variable of this.#layout.variables) {
      this.#enter(variable.name, memberPlace(this.#layout, 0n, variable), 0)
    }
    for (const mapping of this.#mappings) {
      if (this.found.size === this.#isWanted.size) return
      this.#searchKeys(mapping)
    }
  }

  #enter(path: string, place: StoragePlace, depth: number): void {
    if (depth > MAX_DEPTH || !this.#mayGoOn()) return
    const { slot, type } = place
    if (type.kind === 'mapping') this.#mappings.push({ path, type, slot, depth })
    else if (type.kind === 'array') this.#enterArray(path, type, slot, depth)
    else if (type.kind === 'struct') {
      for (const member of type.members) {
        this.#enter(`${path}.${member.name}`, memberPlace(this.#layout, slot, member), depth + 1)
      }
    } else {
      this.#name(slot, { path, place })
      if ('size' in type || !this.#mayHash()) return
      for (const found of this.#wantedFrom(contentSlot(slot), MOST_CONTENT))
        this.#name(found, { path, place })
    }
  }

  #enterArray(path: string, type: ArrayType, slot: bigint, depth: number): void {
    const isDynamic = type.length === undefined
    if (isDynamic) this.#name(slot, { path: `${path}.length`, place: { slot, offset: 0, type: LENGTH } })
    if (isDynamic && !this.#mayHash()) return
    const { type: element, perSlot, slots } = elementsOf(this.#layout, type)
    const first = isDynamic ? contentSlot(slot) : slot
    const end = type.length ?? MOST_CONTENT
    const indices = new Set<bigint>()
    if (this.#isScattered(element)) {
      const length = type.length ?? this.#read(slot)
      for (let i = 0n; i < length && i < MOST_ELEMENTS; i++) indices.add(i)
    }
    for (const found of this.#wantedFrom(first, ((end + perSlot - 1n) / perSlot) * slots)) {
      const index = ((found - first) / slots) * perSlot
      for (let i = index; i < index + perSlot && i < end && this.#mayGoOn(); i++) indices.add(i)
    }
    for (const i of indices) {
      this.#enter(`${path}[${i}]`, elementPlace(this.#layout, type, slot, i), depth + 1)
    }
  }

  /** Whether parts of a type stand at hashes. */
  #isScattered(type: StorageType): boolean {
    if ('size' in type) return false
    const known = this.#scattered.get(type)
    if (known !== undefined) return known
    const isOf = (key: string) => this.#isScattered(typeIn(this.#layout, key))
    const isScattered =
      type.kind === 'struct'
        ? type.members.some((member) => isOf(member.type))
        : type.kind !== 'array' || type.length === undefined || isOf(type.base)
    this.#scattered.set(type, isScattered)
    return isScattered
  }

  #searchKeys({ path, type, slot, depth }: Mapped): void {
    for (const { text, bytes } of this.#keysOf(type)) {
      if (!this.#mayHash()) return
      this.#enter(`${path}[${text}]`, hashedPlace(this.#layout, type, slot, bytes), depth + 1)
    }
  }

  #keysOf(mapping: MappingType) {
    const known = this.#keys.get(mapping.key)
    if (known !== undefined) return known
    const type = keyType(this.#layout, mapping)
    const keys = 'size' in type ? this.#words.flatMap((word) => keyOfWord(type, word) ?? []) : []
    this.#keys.set(mapping.key, keys)
    return keys
  }

  #mayHash(): boolean {
    this.#budget.hashes -= 1
    return this.#budget.hashes >= 0
  }

  #mayGoOn(): boolean {
    this.#budget.places -= 1
    return this.#budget.places >= 0
  }

  /** The wanted ones among so many slots. */
  #wantedFrom(first: bigint, slots: bigint): readonly bigint[] {
    const start = this.#indexOf(first)
    return this.#wanted.slice(start, this.#indexOf(first + slots))
  }

  /** How many wanted slots are below one: a binary search. */
  #indexOf(slot: bigint): number {
    let [low, high] = [0, this.#wanted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#wanted[middle] as bigint) < slot) low = middle + 1
      else high = middle
    }
    return low
  }

  #name(slot: bigint, name: SlotName): void {
    if (!this.#isWanted.has(slot) || !this.#mayGoOn()) return
    const names = this.found.get(slot)
    if (names === undefined) this.found.set(slot, [name])
    else names.push(name)
  }
}

/**
 * The variables that stand in slots, several where they share one; slots without a known variable are absent. `words` are
 * possible keys of mappings, the most likely first, and `read` is asked for lengths. A search is bounded by its budget, by
 * default 8192 hashes and 65,536 places: it may miss names beyond.
 */
export function nameSlots(
  layout: StorageLayout,
  slots: Iterable<bigint>,
  words: readonly bigint[],
  read: ReadSlot,
  budget: SearchBudget = { hashes: MOST_HASHES, places: MOST_PLACES },
): ReadonlyMap<bigint, readonly SlotName[]> {
  const search = new SlotSearch(layout, slots, words, read, budget)
  search.run()
  return search.found
}
