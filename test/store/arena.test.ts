/** Values in shared arrays, against a plain list; values that are replaced in a store in memory. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equal } from '../../src/encoding/bytes.ts'
import { Arena } from '../../src/store/arena.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import { bytesValue, nameKey, Table } from '../../src/store/table.ts'

/** Lengths below, at and beyond those of a slab. */
const length = fc.oneof(
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 4080, max: 4110 }),
  fc.integer({ min: 0, max: 300_000 }),
  fc.integer({ min: 0, max: 3_000_000 }),
)

const filled = (bytes: number, seed: number): Uint8Array => new Uint8Array(bytes).fill(seed)

describe('an arena', () => {
  it('returns every value, whatever was added before and after', () => {
    fc.assert(
      fc.property(fc.array(length, { maxLength: 30 }), (lengths) => {
        const arena = new Arena()
        const locations = lengths.map((bytes, index) => arena.add(filled(bytes, index)))
        for (const [index, bytes] of lengths.entries()) {
          const value = arena.at(locations[index] as number)
          expect(value.length).toBe(bytes)
          expect(equal(value, filled(bytes, index))).toBe(true)
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('values that are replaced in a store in memory', () => {
  it('do not change values that were read before', async () => {
    const store = createMemoryStore()
    const table = new Table(store, 8, nameKey, bytesValue)
    await store.batch([table.put('kept', filled(100, 7)), table.put('removed', filled(100, 8))])
    const early = table.get('kept')
    const seen: Uint8Array[] = []
    // Many times the bytes after which the values that are left are copied.
    for (let round = 0; round < 300; round++) {
      await store.batch([table.put('head', filled(1000, round))])
      seen.push(table.get('head') as Uint8Array)
      if (round === 150) await store.batch([table.del('removed')])
    }
    expect(seen.map((bytes) => bytes[999])).toEqual(seen.map((_, round) => round & 0xff))
    expect(table.get('head')).toEqual(filled(1000, 299))
    expect(table.get('removed')).toBeUndefined()
    expect(table.get('kept')).toEqual(filled(100, 7))
    expect(early).toEqual(filled(100, 7))
  })
})
