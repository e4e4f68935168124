/**
 * A table in memory with garbage collection: while a collection runs, needed entries are copied out of the old table,
 * and new ones are kept as well; at its end the old table is dropped with the rest.
 */
import { HashTable } from './hash-table.ts'
import { type MemoryTable, mergedEntries, type TableEntry } from './memory-table.ts'
import type { Id } from './table.ts'

/** The tables of the states, whose entries can be dropped when no state needs them. */
export interface CollectedStates {
  readonly nodes: CollectedTable
  readonly code: CollectedTable
  readonly pace: CollectionPace
}

/** When the states are collected, and how much of it at a time. */
export interface CollectionPace {
  /** Entries that are new since the last collection, at least, before the next one begins. */
  readonly leastNew: number
  /** Entries that a command looks at, at least. */
  readonly leastStep: number
}

/** Entries under the hashes of their values, so that an id never has another value. */
export class CollectedTable implements MemoryTable {
  readonly #prefix: number
  #entries: HashTable
  /** The table as it was when the running collection began. */
  #old: HashTable | undefined
  #written: Uint8Array[] = []

  constructor(prefix: number) {
    this.#prefix = prefix
    this.#entries = new HashTable(prefix)
  }

  /** Number of entries, needed or not; while a collection runs, of those that stay. */
  get size(): number {
    return this.#entries.size
  }

  /** Begins a collection. All entries are here until `finish`. */
  begin(): void {
    this.#old = this.#entries
    this.#entries = new HashTable(this.#prefix)
  }

  /** Keeps an entry. Returns its value, or `undefined` when it was kept or written before, or is not here. */
  keep(id: Id): Uint8Array | undefined {
    if (this.#entries.has(id)) return undefined
    const value = this.#old?.get(id)
    if (value !== undefined) this.#entries.put(id, value)
    return value
  }

  /** The values that were written since the collection began, or since the last call, and not kept before. */
  takeWritten(): readonly Uint8Array[] {
    const written = this.#written
    this.#written = []
    return written
  }

  /** Drops what was neither kept nor written. */
  finish(): void {
    this.#old = undefined
    this.#written = []
  }

  has(id: Id): boolean {
    return this.#entries.has(id) || this.#old?.has(id) === true
  }

  get(id: Id): Uint8Array | undefined {
    return this.#old === undefined || this.#entries.has(id) ? this.#entries.get(id) : this.#old.get(id)
  }

  put(id: Id, value: Uint8Array): void {
    // A state that recurs writes the same nodes again.
    if (this.#entries.get(id) !== undefined) return
    this.#entries.put(id, value)
    if (this.#old !== undefined) this.#written.push(value)
  }

  hide(id: Id): void {
    this.#old?.remove(id)
    this.#entries.hide(id)
  }

  remove(id: Id): void {
    this.#old?.remove(id)
    this.#entries.remove(id)
  }

  range(from: Uint8Array, to: Uint8Array): TableEntry[] {
    return mergedEntries(this.#old?.range(from, to) ?? [], this.#entries.range(from, to))
  }
}
