/** Entries of functions, events and errors by selector or topic, and contracts by code. Contracts can be removed again. */
import type { Hex } from '../encoding/hex.ts'
import type { Artifact } from './artifact.ts'
import { type AbiEntry, selectorOf, topicOf } from './entry.ts'
import type { StorageLayout } from './storage/layout.ts'

/** Entries that share a selector or a topic: one of each shape, the latest first. */
class SharedKeyEntries {
  readonly #byShape = new Map<string, AbiEntry>()
  #latestFirst: readonly AbiEntry[] | undefined

  get isEmpty(): boolean {
    return this.#byShape.size === 0
  }

  list(): readonly AbiEntry[] {
    this.#latestFirst ??= [...this.#byShape.values()].reverse()
    return this.#latestFirst
  }

  add(entry: AbiEntry): void {
    const shape = JSON.stringify(entry)
    this.#byShape.delete(shape)
    this.#byShape.set(shape, entry)
    this.#latestFirst = undefined
  }

  /** Removes this entry; a later one of the same shape stays. */
  remove(entry: AbiEntry): void {
    const shape = JSON.stringify(entry)
    if (this.#byShape.get(shape) !== entry) return
    this.#byShape.delete(shape)
    this.#latestFirst = undefined
  }
}

/** A kind of names. */
export type NameTable = 'functions' | 'errors' | 'events'

const NONE: readonly AbiEntry[] = []

/** The names of one contract, or of many. Contracts must be removed in the order in which they were added. */
export class KnownNames {
  readonly #tables: Readonly<Record<NameTable, Map<Hex, SharedKeyEntries>>> = {
    functions: new Map(),
    errors: new Map(),
    events: new Map(),
  }
  readonly #contracts = new Map<string, Artifact>()
  /** Those with a layout, which an artifact of the same code without one leaves. */
  readonly #layouts = new Map<string, Artifact>()
  /** By length of the creation code, then by its hash. */
  readonly #creations = new Map<number, Map<Hex, Artifact>>()

  /** Entries of a selector or a topic, the latest first. */
  entries(table: NameTable, key: Hex): readonly AbiEntry[] {
    return this.#tables[table].get(key)?.list() ?? NONE
  }

  /** The contract whose code has this key. */
  contract(codeKey: string): Artifact | undefined {
    return this.#contracts.get(codeKey)
  }

  /** The storage layout of the contract whose code has this key. */
  layout(codeKey: string): StorageLayout | undefined {
    return this.#layouts.get(codeKey)?.layout
  }

  /** Contracts whose creation code has a length, bytes. */
  creationsOf(length: number): Iterable<Artifact> {
    return this.#creations.get(length)?.values() ?? []
  }

  /** Adds a contract's names; names of a known contract become the latest. */
  add(artifact: Artifact): void {
    for (const entry of artifact.entries) {
      const place = this.#placeOf(entry)
      if (place === undefined) continue
      const known = place.table.get(place.key) ?? new SharedKeyEntries()
      known.add(entry)
      place.table.set(place.key, known)
    }
    if (artifact.name === '') return
    if (artifact.codeKey !== undefined) {
      this.#contracts.set(artifact.codeKey, artifact)
      if (artifact.layout !== undefined) this.#layouts.set(artifact.codeKey, artifact)
    }
    if (artifact.creation === undefined) return
    const { length, hash } = artifact.creation
    const known = this.#creations.get(length)
    if (known === undefined) this.#creations.set(length, new Map([[hash, artifact]]))
    else known.set(hash, artifact)
  }

  /** Removes what this artifact added, except what a later one added as well. */
  remove(artifact: Artifact): void {
    const { entries, codeKey, creation } = artifact
    for (const entry of entries) {
      const place = this.#placeOf(entry)
      const known = place?.table.get(place.key)
      if (place === undefined || known === undefined) continue
      known.remove(entry)
      if (known.isEmpty) place.table.delete(place.key)
    }
    if (codeKey !== undefined) {
      for (const contracts of [this.#contracts, this.#layouts]) {
        if (contracts.get(codeKey) === artifact) contracts.delete(codeKey)
      }
    }
    if (creation === undefined) return
    const known = this.#creations.get(creation.length)
    if (known?.get(creation.hash) === artifact) known.delete(creation.hash)
    if (known?.size === 0) this.#creations.delete(creation.length)
  }

  #placeOf(entry: AbiEntry): { readonly table: Map<Hex, SharedKeyEntries>; readonly key: Hex } | undefined {
    if (entry.kind === 'constructor' || (entry.kind === 'event' && entry.anonymous)) return undefined
    if (entry.kind === 'event') return { table: this.#tables.events, key: topicOf(entry) }
    const table = entry.kind === 'function' ? this.#tables.functions : this.#tables.errors
    return { table, key: selectorOf(entry) }
  }
}
