import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Change, type Id, type KeyCodec, nameKey } from '../../src/store/table.ts'
import { Unwritten } from '../../src/store/unwritten.ts'

function changeOf(prefix: number, id: string | number, value: number | null): Change {
  const key = new TextEncoder().encode(`${prefix} ${id}`)
  const keys = nameKey as KeyCodec<Id>
  return value === null
    ? { type: 'del', prefix, id, keys, key }
    : { type: 'put', prefix, id, keys, key, value: Uint8Array.of(value) }
}

describe('unwritten changes', () => {
  it('are the last change of each entry, as in a plain map', () => {
    const step = fc.tuple(
      fc.integer({ min: 1, max: 3 }),
      fc.oneof(fc.constantFrom('0xaa', '0xbb', 'head'), fc.integer({ min: 0, max: 3 })),
      fc.option(fc.integer({ min: 0, max: 255 })),
    )
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const unwritten = new Unwritten()
        const model = new Map<string, Change>()
        for (const [prefix, id, value] of steps) {
          const change = changeOf(prefix, id, value)
          unwritten.add(change)
          model.set(`${prefix} ${typeof id} ${id}`, change)
          expect(unwritten.get(prefix, id)).toBe(change)
          expect(unwritten.size).toBe(model.size)
        }
        expect(new Set(unwritten.all())).toEqual(new Set(model.values()))
        expect(unwritten.get(9, 'head')).toBeUndefined()
      }),
    )
  })
})
