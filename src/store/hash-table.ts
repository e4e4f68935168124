/**
 * A table in memory whose keys are hashes, without an object or a text for an entry. Trie nodes are most of what a chain
 * keeps; a `Map` holds about 150 bytes for the text of a hash and its entry, this about 50.
 */
import { compare, concat, oneByte } from '../encoding/bytes.ts'
import { writeHex } from '../encoding/hex.ts'
import { Arena, wordAt } from './arena.ts'
import { lowerBound, type MemoryTable, type TableEntry } from './memory-table.ts'

const HASH_BYTES = 32
/** Slots at the beginning; a power of two, as ever after. */
const FIRST_SLOTS = 64
/** What a slot holds beside a location + 1. */
const EMPTY = 0
const REMOVED = -1

/** The bytes of the hash that is looked for; valid within one call. */
const wanted = new Uint8Array(HASH_BYTES)

/** A table that reports how many entries it has. */
export interface HashTable extends MemoryTable {
  readonly size: number
}

/** Makes a table whose ids are hashes as `0x` text. A range sorts all entries, which nothing does but to copy or check a chain. */
export function createHashTable(prefix: number): HashTable {
  let values = new Arena()
  /** Location + 1 of each entry, in the first slot that was empty from where its search begins. */
  let slots = new Int32Array(FIRST_SLOTS)
  /** Slots that are not empty, those of removed entries among them. */
  let taken = 0
  let size = 0
  const hidden = new Set<string>()

  /** The slot of a hash, or the empty one where its search ends. Leaves its bytes in `wanted`. */
  function find(hash: string): number {
    writeHex(wanted, 0, hash)
    const mask = slots.length - 1
    // Hashes are spread evenly by their first bytes.
    for (let slot = wordAt(wanted, 0) & mask; ; slot = (slot + 1) & mask) {
      const value = slots[slot] as number
      if (value === EMPTY || (value > 0 && values.beginsWith(value - 1, wanted))) return slot
    }
  }

  function discard(location: number): void {
    values.discard(location)
    if (!values.isWasted) return
    const fresh = new Arena()
    for (const [slot, value] of slots.entries()) {
      if (value > 0) slots[slot] = fresh.add(values.at(value - 1)) + 1
    }
    values = fresh
  }

  /** Makes the slots anew, without removed ones, at most a quarter of them taken. */
  function rebuild(): void {
    let length = FIRST_SLOTS
    while (length < 4 * size) length *= 2
    const fresh = new Int32Array(length)
    for (const value of slots) {
      if (value <= 0) continue
      let slot = values.firstWord(value - 1) & (length - 1)
      while (fresh[slot] !== EMPTY) slot = (slot + 1) & (length - 1)
      fresh[slot] = value
    }
    slots = fresh
    taken = size
  }

  function locationOf(hash: string): number {
    return (slots[find(hash)] as number) - 1
  }

  function remove(hash: string): void {
    const slot = find(hash)
    const location = (slots[slot] as number) - 1
    if (location < 0) return
    slots[slot] = REMOVED
    size--
    discard(location)
  }

  return {
    get size() {
      return size
    },
    has: (id) => hidden.has(String(id)) || locationOf(String(id)) >= 0,
    get(id) {
      const location = locationOf(String(id))
      return location < 0 ? undefined : values.at(location, HASH_BYTES)
    },
    put(id, value) {
      const slot = find(String(id))
      const known = slots[slot] as number
      slots[slot] = values.add(value, wanted) + 1
      if (hidden.size > 0) hidden.delete(String(id))
      if (known > 0) {
        discard(known - 1)
        return
      }
      size++
      taken++
      if (2 * taken > slots.length) rebuild()
    },
    hide(id) {
      remove(String(id))
      hidden.add(String(id))
    },
    remove(id) {
      remove(String(id))
      hidden.delete(String(id))
    },
    range(from, to) {
      const entries: TableEntry[] = []
      for (const value of slots) {
        if (value <= 0) continue
        const hash = values.at(value - 1).subarray(0, HASH_BYTES)
        entries.push([concat(oneByte(prefix), hash), values.at(value - 1, HASH_BYTES)])
      }
      for (const id of hidden) {
        const key = new Uint8Array(1 + HASH_BYTES)
        key[0] = prefix
        writeHex(key, 1, id)
        entries.push([key, undefined])
      }
      const sorted = entries.sort(([a], [b]) => compare(a, b))
      const keyOf = ([key]: TableEntry): Uint8Array => key
      return sorted.slice(lowerBound(sorted, from, keyOf), lowerBound(sorted, to, keyOf))
    },
  }
}
