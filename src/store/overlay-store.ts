/** Stores that share one immutable set of entries, each with its own changes in memory above it. */
import { compare } from '../encoding/bytes.ts'
import type { KeyValueReader } from './table.ts'
import { Unwritten } from './unwritten.ts'
import type { Store } from './write-behind.ts'

type Entry = readonly [Uint8Array, Uint8Array]

/** Entries that never change, shared by any number of stores. */
export interface FrozenEntries {
  get(key: Uint8Array): Uint8Array | undefined
  /** Those with `from` <= key < `to`, in the order of their keys. */
  range(from: Uint8Array, to: Uint8Array): readonly Entry[]
}

/** Keys as text of one character a byte, which a `Map` compares by value. */
function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}

/** Copies all entries of a database as of now. */
export async function freezeEntries(reader: KeyValueReader): Promise<FrozenEntries> {
  const sorted: Entry[] = []
  const byKey = new Map<string, Uint8Array>()
  // The prefixes of tables are below 255 (tables.ts).
  for await (const [key, value] of reader.entries(Uint8Array.of(0), Uint8Array.of(255))) {
    const own = value.slice()
    sorted.push([key.slice(), own])
    byKey.set(textOf(key), own)
  }

  /** Position of the first key that is not below the bound. */
  function lowerBound(bound: Uint8Array): number {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const [key] = sorted[middle] as Entry
      if (compare(key, bound) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    get: (key) => byKey.get(textOf(key)),
    range: (from, to) => sorted.slice(lowerBound(from), lowerBound(to)),
  }
}

/** Makes a store in memory whose entries are the frozen ones until it changes them. */
export function createOverlayStore(base: FrozenEntries): Store {
  const own = new Unwritten()
  let isClosed = false
  return {
    get(prefix, id, keys) {
      const change = own.get(prefix, id)
      if (change !== undefined) return change.type === 'put' ? change.value : undefined
      return base.get(keys.encode(prefix, id))
    },
    async *entries(from, to) {
      const merged = new Map<string, Entry>()
      for (const entry of base.range(from, to)) merged.set(textOf(entry[0]), entry)
      for (const change of own.all()) {
        const { key } = change
        if (compare(key, from) < 0 || compare(key, to) >= 0) continue
        if (change.type === 'put') merged.set(textOf(key), [key, change.value])
        else merged.delete(textOf(key))
      }
      yield* [...merged.values()].sort(([a], [b]) => compare(a, b))
    },
    async batch(writes) {
      if (isClosed) throw new Error('the database cannot be written', { cause: new Error('it is closed') })
      for (const write of writes) if (write.type !== 'after') own.add(write)
      for (const write of writes) if (write.type === 'after') write.run()
    },
    async close() {
      isClosed = true
    },
  }
}
