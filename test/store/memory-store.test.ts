/** Stores in memory, alone and above shared entries, against a plain map that is sorted for each query. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createMemoryStore, freezeEntries } from '../../src/store/memory-store.ts'
import { bytesValue, hashKey, heightKey, Table } from '../../src/store/table.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { saying } from '../support/refusals.ts'

const KEYS = 90
const key = fc.nat({ max: KEYS - 1 })
const value = fc.nat({ max: 255 })
type Change = readonly [key: number, value: number | null]
const change: fc.Arbitrary<Change> = fc.tuple(key, fc.option(value, { freq: 3, nil: null }))
/** Batches, each followed by a query: from, to, reverse. Most are small, some change the order of many keys. */
const steps = fc.array(
  fc.record({
    changes: fc.oneof(fc.array(change, { maxLength: 4 }), fc.array(change, { minLength: 40, maxLength: 80 })),
    query: fc.option(fc.tuple(key, key, fc.boolean()), { freq: 2, nil: null }),
  }),
  { maxLength: 12 },
)

/** Half of the hashes begin alike; they sort as their numbers do. */
const hashOf = (id: number): Hex =>
  `0x${(id < KEYS / 2 ? 0 : id).toString(16).padStart(8, '0')}${id.toString(16).padStart(56, '0')}`

/** Tables of either kind, as tables of numbers. */
const TABLES = {
  heights: (store: Store) => new Table(store, 4, heightKey, bytesValue),
  hashes(store: Store) {
    const table = new Table(store, 5, hashKey, bytesValue)
    return {
      get: (id: number) => table.get(hashOf(id)),
      put: (id: number, bytes: Uint8Array) => table.put(hashOf(id), bytes),
      del: (id: number) => table.del(hashOf(id)),
      async *range(from = 0, to = KEYS, reverse = false) {
        const entries = table.range(hashOf(from), hashOf(to), reverse)
        for await (const [hash, bytes] of entries) yield [Number(`0x${hash.slice(-2)}`), bytes] as const
      },
    }
  },
}

type TableOf = (typeof TABLES)[keyof typeof TABLES]

async function write(
  tableOf: TableOf,
  store: Store,
  model: Map<number, number>,
  changes: readonly Change[],
): Promise<void> {
  const table = tableOf(store)
  await store.batch(
    changes.map(([id, content]) => {
      if (content === null) model.delete(id)
      else model.set(id, content)
      return content === null ? table.del(id) : table.put(id, Uint8Array.of(content))
    }),
  )
}

async function expectEqual(
  tableOf: TableOf,
  store: Store,
  model: ReadonlyMap<number, number>,
  [from, to, reverse]: readonly [number, number, boolean],
): Promise<void> {
  const listed: [number, number | undefined][] = []
  for await (const [id, bytes] of tableOf(store).range(from, to, reverse)) listed.push([id, bytes[0]])
  const expected = [...model].filter(([id]) => id >= from && id < to).sort(([a], [b]) => a - b)
  expect(listed).toEqual(reverse ? expected.reverse() : expected)
  for (let id = 0; id < KEYS; id++) expect(tableOf(store).get(id)?.[0]).toBe(model.get(id))
}

const CASES = (['alone', 'above shared entries'] as const).flatMap((kind) =>
  (['heights', 'hashes'] as const).map((keys) => ({ kind, keys, tableOf: TABLES[keys] })),
)

describe.each(CASES)('a store in memory $kind, entries under $keys', ({ kind, tableOf }) => {
  it('gives the answers of a sorted map, whatever was written and read before', async () => {
    const below = kind === 'alone' ? fc.constant([]) : fc.array(change, { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(below, steps, async (shared, all) => {
        const lower = createMemoryStore()
        const model = new Map<number, number>()
        await write(tableOf, lower, model, shared)
        const base = new Map(model)
        const store = kind === 'alone' ? lower : createMemoryStore(await freezeEntries(lower))
        for (const { changes, query } of all) {
          await write(tableOf, store, model, changes)
          if (query !== null) await expectEqual(tableOf, store, model, query)
        }
        await expectEqual(tableOf, store, model, [0, KEYS, true])
        if (kind !== 'alone') await expectEqual(tableOf, lower, base, [0, KEYS, false])
      }),
      { numRuns: 150 },
    )
  })

  it('lists entries as of the moment of the call', async () => {
    const store = createMemoryStore()
    const table = tableOf(store)
    await store.batch([1, 2, 3].map((id) => table.put(id, Uint8Array.of(id))))
    const listed: number[] = []
    for await (const [id] of table.range()) {
      listed.push(id)
      await store.batch([table.del(3), table.put(4, Uint8Array.of(4))])
    }
    expect(listed).toEqual([1, 2, 3])
  })

  it('refuses batches once it is closed', async () => {
    const store = createMemoryStore()
    await store.close()
    await expect(store.batch([])).rejects.toThrow(saying('the database cannot be written'))
  })
})
