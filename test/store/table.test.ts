import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compare } from '../../src/encoding/bytes.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import {
  bytesValue,
  hashKey,
  hashValue,
  heightKey,
  type Id,
  type KeyCodec,
  nameKey,
  Table,
} from '../../src/store/table.ts'
import { ENGINES } from './store-cases.ts'

const anyHash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
const anyHeight = fc.nat({ max: 2 ** 48 - 1 })

function roundTrips<K extends Id>(codec: KeyCodec<K>, keys: fc.Arbitrary<K>): void {
  fc.assert(
    fc.property(keys, fc.nat({ max: 255 }), (key, prefix) => {
      const bytes = codec.encode(prefix, key)
      expect(bytes[0]).toBe(prefix)
      expect(codec.decode(bytes)).toEqual(key)
    }),
  )
}

describe('key codecs', () => {
  it('decode every encoded key', () => {
    roundTrips(hashKey, anyHash)
    roundTrips(heightKey, anyHeight)
    roundTrips(nameKey, fc.string({ unit: 'grapheme' }))
  })

  it('sort heights as numbers', () => {
    fc.assert(
      fc.property(anyHeight, anyHeight, (a, b) => {
        expect(Math.sign(compare(heightKey.encode(5, a), heightKey.encode(5, b)))).toBe(Math.sign(a - b))
      }),
    )
  })
})

describe.each(ENGINES)('a table in $name', ({ withStore }) => {
  it('reads the entries of batches, like a plain map', () =>
    withStore(async (store) => {
      const table = new Table(store, 3, heightKey, bytesValue)
      const step = fc.tuple(fc.nat({ max: 20 }), fc.option(fc.uint8Array({ maxLength: 40 })))
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const model = new Map<number, Uint8Array>()
          const wipe = Array.from({ length: 21 }, (_, key) => table.del(key))
          const writes = steps.map(([key, value]) => {
            if (value === null) model.delete(key)
            else model.set(key, value)
            return value === null ? table.del(key) : table.put(key, value)
          })
          await store.batch([...wipe, ...writes])
          for (let key = 0; key <= 20; key++) expect(table.get(key)).toEqual(model.get(key))
          const listed: [number, Uint8Array][] = []
          for await (const [key, value] of table.range(3, 11)) listed.push([key, value])
          const expected = [...model].filter(([key]) => key >= 3 && key < 11).sort(([a], [b]) => a - b)
          expect(listed).toEqual(expected)
          const reversed: [number, Uint8Array][] = []
          for await (const [key, value] of table.range(3, 11, true)) reversed.push([key, value])
          expect(reversed).toEqual(expected.reverse())
        }),
        { numRuns: 40 },
      )
    }))

  it('lists its own entries only', () =>
    withStore(async (store) => {
      const tables = [1, 2, 3].map((prefix) => new Table(store, prefix, hashKey, hashValue))
      const last: Hex = `0x${'ff'.repeat(32)}`
      await store.batch(tables.map((table) => table.put(last, last)))
      for (const table of tables) {
        const keys: Hex[] = []
        for await (const [key, value] of table.range()) keys.push(key, value)
        expect(keys).toEqual([last, last])
      }
    }))

  it('returns plain byte arrays that are not views of Node buffers', () =>
    withStore(async (store) => {
      const table = new Table(store, 3, nameKey, bytesValue)
      await store.batch([table.put('x', Uint8Array.of(1, 2))])
      expect(table.get('x')?.constructor).toBe(Uint8Array)
    }))

  it('runs the follow-up of a batch only after it is written', () =>
    withStore(async (store) => {
      const table = new Table(store, 3, nameKey, bytesValue)
      let seen: Uint8Array | undefined
      const look = () => {
        seen = table.get('x')
      }
      await store.batch([{ type: 'after', run: look }, table.put('x', Uint8Array.of(7))])
      expect(seen).toEqual(Uint8Array.of(7))
    }))

  it('can be closed twice', () =>
    withStore(async (store) => {
      await store.close()
      await store.close()
    }))
})
