/**
 * A table in memory whose keys are hashes, without an object or a text for an entry. Trie nodes are most of what a chain
 * keeps; a `Map` holds about 150 bytes for the text of a hash and its entry, this about 50.
 */

import { compare, concat, oneByte, wordAt } from '../encoding/bytes.ts'
import { HASH_BYTES } from '../encoding/hash.ts'
import { writeHex } from '../encoding/hex.ts'
import { Arena } from './arena.ts'
import { lowerBound, type MemoryTable, type TableEntry } from './memory-table.ts'
import type { Id } from './table.ts'

/** Slots at the beginning; a power of two, as ever after. */
const FIRST_SLOTS = 64
/** What a slot holds beside a location + 1. */
const EMPTY = 0
const REMOVED = -1

/** The bytes of the hash that is looked for; valid within one call. */
const wanted = new Uint8Array(HASH_BYTES)

/** A table whose ids are hashes as `0x` text. A range sorts all entries; only copies and checks of a chain ask for one. */
export class HashTable implements MemoryTable {
  readonly #prefix: number
  #values = new Arena()
  /** Location + 1 of each entry, in the first slot from its hash on that was empty. */
  #slots = new Int32Array(FIRST_SLOTS)
  /** Slots that are not empty, those of removed entries among them. */
  #used = 0
  #size = 0
  readonly #hidden = new Set<string>()

  constructor(prefix: number) {
    this.#prefix = prefix
  }

  /** How many entries it has. */
  get size(): number {
    return this.#size
  }

  has(id: Id): boolean {
    return this.#hidden.has(String(id)) || this.#locationOf(String(id)) >= 0
  }

  get(id: Id): Uint8Array | undefined {
    const location = this.#locationOf(String(id))
    return location < 0 ? undefined : this.#values.at(location, HASH_BYTES)
  }

  put(id: Id, value: Uint8Array): void {
    const slot = this.#find(String(id))
    const known = this.#slots[slot] ?? EMPTY
    this.#slots[slot] = this.#values.add(value, wanted) + 1
    if (this.#hidden.size > 0) this.#hidden.delete(String(id))
    if (known > 0) {
      this.#discard(known - 1)
      return
    }
    this.#size++
    this.#used++
    if (2 * this.#used > this.#slots.length) this.#rebuild()
  }

  hide(id: Id): void {
    this.#drop(String(id))
    this.#hidden.add(String(id))
  }

  remove(id: Id): void {
    this.#drop(String(id))
    this.#hidden.delete(String(id))
  }

  range(from: Uint8Array, to: Uint8Array): TableEntry[] {
    const entries: TableEntry[] = []
    for (const value of this.#slots) {
      if (value <= 0) continue
      const hash = this.#values.at(value - 1).subarray(0, HASH_BYTES)
      entries.push([concat(oneByte(this.#prefix), hash), this.#values.at(value - 1, HASH_BYTES)])
    }
    for (const id of this.#hidden) {
      const key = new Uint8Array(1 + HASH_BYTES)
      key[0] = this.#prefix
      writeHex(key, 1, id)
      entries.push([key, undefined])
    }
    const sorted = entries.sort(([a], [b]) => compare(a, b))
    const keyOf = ([key]: TableEntry): Uint8Array => key
    return sorted.slice(lowerBound(sorted, from, keyOf), lowerBound(sorted, to, keyOf))
  }

  /** The slot of a hash, or the empty one where its search ends. Leaves its bytes in `wanted`. */
  #find(hash: string): number {
    writeHex(wanted, 0, hash)
    const slots = this.#slots
    const values = this.#values
    const mask = slots.length - 1
    // Hashes are spread evenly by their first bytes.
    for (let slot = wordAt(wanted, 0) & mask; ; slot = (slot + 1) & mask) {
      const value = slots[slot] ?? EMPTY
      if (value === EMPTY || (value > 0 && values.beginsWith(value - 1, wanted))) return slot
    }
  }

  #locationOf(hash: string): number {
    return (this.#slots[this.#find(hash)] ?? EMPTY) - 1
  }

  #drop(hash: string): void {
    const slot = this.#find(hash)
    const location = (this.#slots[slot] ?? EMPTY) - 1
    if (location < 0) return
    this.#slots[slot] = REMOVED
    this.#size--
    this.#discard(location)
  }

  #discard(location: number): void {
    this.#values.discard(location)
    if (!this.#values.isWasted) return
    const fresh = new Arena()
    for (const [slot, value] of this.#slots.entries()) {
      if (value > 0) this.#slots[slot] = fresh.add(this.#values.at(value - 1)) + 1
    }
    this.#values = fresh
  }

  /** Makes the slots anew, without removed ones, at most a quarter of them used. */
  #rebuild(): void {
    let length = FIRST_SLOTS
    while (length < 4 * this.#size) length *= 2
    const fresh = new Int32Array(length)
    for (const value of this.#slots) {
      if (value <= 0) continue
      let slot = this.#values.firstWord(value - 1) & (length - 1)
      while (fresh[slot] !== EMPTY) slot = (slot + 1) & (length - 1)
      fresh[slot] = value
    }
    this.#slots = fresh
    this.#used = this.#size
  }
}
