/**
 * A database in memory: tables in which reads and writes cost the same however much they hold; keys are sorted when a
 * range is asked for. Any number of stores can share one immutable set of entries below their own.
 * Measured against memory-level 3, which copies a path of its sorted tree with every write: a transfer among 100,000
 * accounts takes 3.8 to 4.9 ms of processor time (4 runs of 800) instead of 7.9 to 10.0 ms (3 runs).
 */
import { type CollectedStates, CollectedTable, type CollectionPace } from './collected-table.ts'
import { HashTable } from './hash-table.ts'
import { lowerBound, type MemoryTable, mergedEntries, OrderedTable } from './memory-table.ts'
import { hashKey, type KeyValueReader } from './table.ts'
import { PREFIX } from './tables.ts'
import type { Store } from './write-behind.ts'

type Entry = readonly [key: Uint8Array, value: Uint8Array]

/** Entries that never change, shared by any number of stores. */
export interface FrozenEntries {
  get(key: Uint8Array): Uint8Array | undefined
  /** Those with `from` <= key < `to`, in the order of their keys. */
  range(from: Uint8Array, to: Uint8Array): readonly Entry[]
}

/** No entries. */
const NOTHING: FrozenEntries = { get: () => undefined, range: () => [] }

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
  const at = (bound: Uint8Array) => lowerBound(sorted, bound, ([key]) => key)
  return {
    get: (key) => byKey.get(textOf(key)),
    range: (from, to) => sorted.slice(at(from), at(to)),
  }
}

/** An entry takes some 150 bytes; 256 are looked at in less than a millisecond. */
const PACE: CollectionPace = { leastNew: 20_000, leastStep: 256 }

/** Makes a store in memory, above these entries if there are any. */
export function createMemoryStore(
  base: FrozenEntries = NOTHING,
  pace = PACE,
): Store & { readonly states: CollectedStates } {
  const tables: (MemoryTable | undefined)[] = []
  const states = {
    nodes: new CollectedTable(PREFIX.nodes),
    code: new CollectedTable(PREFIX.code),
    pace,
  }
  tables[PREFIX.nodes] = states.nodes
  tables[PREFIX.code] = states.code
  let isClosed = false
  return {
    failure: undefined,
    states,
    get(prefix, id, keys) {
      const table = tables[prefix]
      if (base === NOTHING) return table?.get(id)
      return table?.has(id) ? table.get(id) : base.get(keys.encode(prefix, id))
    },
    async *entries(from, to, reverse = false, most = Number.POSITIVE_INFINITY) {
      // A bound that is a prefix alone ends before the first key of its table, which need not be sorted for it.
      const last = (to[0] ?? 0) + (to.length > 1 ? 1 : 0)
      const within = tables.slice(from[0] ?? 0, last).filter((table) => table !== undefined)
      const [table] = within
      // With a base, hidden entries could be among the first `most`.
      const isLimited = most < Number.POSITIVE_INFINITY && base === NOTHING && within.length === 1
      if (isLimited && table?.some !== undefined) {
        yield* table.some(from, to, reverse, most)
        return
      }
      const own = within.flatMap((each) => each.range(from, to))
      const all = mergedEntries(base.range(from, to), own)
      const entries = all.filter((entry): entry is Entry => entry[1] !== undefined)
      yield* reverse ? entries.reverse() : entries
    },
    async batch(writes) {
      if (isClosed) throw new Error('the database cannot be written', { cause: new Error('it is closed') })
      for (const write of writes) {
        if (write.type === 'after') continue
        const { prefix, id, keys } = write
        let table = tables[prefix]
        if (table === undefined) {
          table = (keys as unknown) === hashKey ? new HashTable(prefix) : new OrderedTable(prefix, keys)
          tables[prefix] = table
        }
        if (write.type === 'put') table.put(id, write.value)
        else if (base !== NOTHING && base.get(write.key) !== undefined) table.hide(id)
        else table.remove(id)
      }
      for (const write of writes) if (write.type === 'after') write.run()
    },
    async close() {
      isClosed = true
    },
  }
}
