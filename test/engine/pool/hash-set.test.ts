import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { HashSet } from '../../../src/engine/pool/hash-set.ts'
import { countWork } from '../../support/work.ts'

/** Hashes that often begin alike. */
const hash = fc
  .array(fc.constantFrom('0', '1', 'f'), { minLength: 4, maxLength: 4 })
  .map((digits): Hex => `0x${digits.join('').padEnd(64, '0')}`)
const changes = fc.array(fc.record({ hash, adds: fc.boolean() }), { maxLength: 60 })
/** Spread over all digits, each another. */
const hashAt = (index: number): Hex =>
  `0x${((index * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0').padEnd(64, '0')}`

it('has the elements of a Set, and finds those that another one lacks', () => {
  fc.assert(
    fc.property(changes, changes, (first, second) => {
      const apply = (from: HashSet, known: Set<Hex>, list: typeof first) => {
        let set = from
        for (const { hash, adds } of list) {
          set = adds ? set.with(hash) : set.without(hash)
          if (adds) known.add(hash)
          else known.delete(hash)
        }
        return set
      }
      const [before, after] = [new Set<Hex>(), new Set<Hex>()]
      const older = apply(HashSet.of([]), before, first)
      for (const each of before) after.add(each)
      const newer = apply(older, after, second)
      expect([...older]).toEqual([...before].sort())
      expect([...newer]).toEqual([...after].sort())
      expect(newer.size).toBe(after.size)
      for (const { hash } of first) expect(newer.has(hash)).toBe(after.has(hash))
      expect([...older.notIn(newer)]).toEqual([...before].filter((each) => !after.has(each)).sort())
      expect([...newer.notIn(older)]).toEqual([...after].filter((each) => !before.has(each)).sort())
      expect(HashSet.of(after)).toEqual(newer)
    }),
  )
})

it('adds, removes and compares in a number of steps logarithmic in its size', async () => {
  const sizes = [100, 10_000].map((size) =>
    HashSet.of(Array.from({ length: size }, (_, index) => hashAt(index))),
  )
  const works = []
  for (const set of sizes) {
    const more = set.with(hashAt(-1))
    works.push(
      await countWork([() => set.with(hashAt(-2)), () => set.without(hashAt(7)), () => [...more.notIn(set)]]),
    )
  }
  const [few = [], many = []] = works
  for (const [at, work] of few.entries()) expect(many[at]).toBeLessThan(4 * work)
})
