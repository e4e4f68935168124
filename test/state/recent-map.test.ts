import { describe, expect, it } from 'vitest'
import { RecentMap } from '../../src/state/recent-map.ts'

describe('RecentMap', () => {
  it('keeps recently used entries and evicts the others', () => {
    const map = new RecentMap<number, string>(10)
    map.set(0, 'used')
    map.set(1, 'unused')
    for (let i = 2; i < 100; i++) {
      map.set(i, `${i}`)
      expect(map.get(0)).toBe('used')
    }
    expect(map.get(1)).toBeUndefined()
  })

  it('has at most its capacity of entries', () => {
    const map = new RecentMap<number, number>(10)
    for (let i = 0; i < 1_000; i++) map.set(i, i)
    let held = 0
    for (let i = 999; i >= 0; i--) if (map.get(i) !== undefined) held++
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThanOrEqual(10)
  })

  it('returns the newest value of a key', () => {
    const map = new RecentMap<string, number>(2)
    for (let i = 0; i < 5; i++) map.set('same', i)
    map.set('other', 7)
    expect([map.get('same'), map.get('other')]).toEqual([4, 7])
  })
})
