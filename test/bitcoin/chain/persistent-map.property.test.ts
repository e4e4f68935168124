/** A persistent map holds what a plain map holds after the same changes, and earlier versions stay as they were. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PersistentMap } from '../../../src/bitcoin/chain/persistent-map.ts'

const keys = fc.string({ unit: fc.constantFrom(...'01af'), maxLength: 6 })
const changes = fc.array(fc.record({ key: keys, value: fc.option(fc.nat(9), { nil: undefined }) }), {
  maxLength: 60,
})

type Changes = readonly { key: string; value: number | undefined }[]

function apply(map: PersistentMap<number>, list: Changes): PersistentMap<number> {
  return list.reduce(
    (next, { key, value }) => (value === undefined ? next.delete(key) : next.put(key, value)),
    map,
  )
}

function applyPlain(map: ReadonlyMap<string, number>, list: Changes): Map<string, number> {
  const next = new Map(map)
  for (const { key, value } of list) {
    if (value === undefined) next.delete(key)
    else next.set(key, value)
  }
  return next
}

const sorted = (map: ReadonlyMap<string, number>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

describe('a persistent map', () => {
  it('has the entries of a plain map, in order and in reverse, below every prefix', () => {
    fc.assert(
      fc.property(changes, keys, (list, prefix) => {
        const plain = applyPlain(new Map(), list)
        const map = apply(PersistentMap.empty<number>(), list)
        expect([...map.entries()]).toEqual(sorted(plain))
        expect(map.size).toBe(plain.size)
        expect(map.get(prefix)).toBe(plain.get(prefix))
        const below = sorted(plain).filter(([key]) => key.startsWith(prefix))
        expect([...map.entries(prefix)]).toEqual(below)
        expect([...map.values(prefix, true)]).toEqual(below.map(([, value]) => value).reverse())
      }),
    )
  })

  it('tells what differs from another, and is not changed by changes', () => {
    fc.assert(
      fc.property(changes, changes, (first, second) => {
        const before = apply(PersistentMap.empty<number>(), first)
        const after = apply(before, second)
        const plainBefore = applyPlain(new Map(), first)
        const plainAfter = applyPlain(plainBefore, second)
        const all = [...new Set([...plainBefore.keys(), ...plainAfter.keys()])].sort()
        const expected = all
          .map((key) => ({ key, before: plainBefore.get(key), after: plainAfter.get(key) }))
          .filter((one) => one.before !== one.after)
        const found = [...before.differences(after)].sort((a, b) => (a.key < b.key ? -1 : 1))
        expect(found).toEqual(expected)
        expect([...before.entries()]).toEqual(sorted(plainBefore))
      }),
    )
  })
})
