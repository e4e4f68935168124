import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Lru } from '../../src/store/lru.ts'

describe('Lru', () => {
  it('keeps the longest run of latest entries that fits its weight', () => {
    const step = fc.record({
      key: fc.nat({ max: 9 }),
      weight: fc.nat({ max: 6 }),
      act: fc.constantFrom('set', 'get', 'delete'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const lru = new Lru<number, { weight: number }>(12, ({ weight }) => weight)
        let model: [number, { weight: number }][] = []
        for (const { key, weight, act } of steps) {
          const held = model.find(([other]) => other === key)
          if (act === 'get') {
            expect(lru.get(key)).toBe(held?.[1])
            if (held !== undefined) model = [...model.filter((entry) => entry !== held), held]
          } else {
            model = model.filter((entry) => entry !== held)
            if (act === 'delete') lru.delete(key)
            else {
              const value = { weight }
              lru.set(key, value)
              model.push([key, value])
              while (model.length > 1 && model.reduce((sum, entry) => sum + entry[1].weight, 0) > 12)
                model.shift()
            }
          }
        }
        for (const [key, value] of model) expect(lru.get(key)).toBe(value)
      }),
    )
  })

  it('keeps the latest entry even when it alone is too heavy', () => {
    const lru = new Lru<string, number>(1, (weight) => weight)
    lru.set('a', 1)
    lru.set('b', 5)
    expect(lru.get('a')).toBeUndefined()
    expect(lru.get('b')).toBe(5)
  })
})
