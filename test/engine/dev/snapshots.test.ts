import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import type { ClockState } from '../../../src/engine/clock.ts'
import { BlockOverrides } from '../../../src/engine/dev/block-overrides.ts'
import { MAX_SNAPSHOTS, type Snapshot, Snapshots } from '../../../src/engine/dev/snapshots.ts'
import { HashSet } from '../../../src/engine/pool/hash-set.ts'

const unmoved: ClockState = { offset: 0, exact: undefined, interval: undefined }
const moved: ClockState = { offset: 9, exact: 12, interval: 3 }
const blockOverrides = new BlockOverrides(`0x${'c0'.repeat(20)}`).save()
const rest = { blockOverrides, pool: HashSet.of([]), time: 5, name: undefined, isKept: false }
const at = (head: Hex, clock: ClockState) => ({ head, height: 7, postState: head, clock, ...rest })
const keep = { useUp: false }
const listed = (snapshots: Snapshots) => snapshots.all.map(([id]) => id)

/** Snapshots with these members each, in order. */
function taken(...members: Partial<Snapshot>[]): Snapshots {
  const snapshots = new Snapshots()
  for (const each of members) snapshots.take({ ...at('0x0a', unmoved), ...each })
  return snapshots
}

describe('snapshots', () => {
  it('count from 1', () => {
    const snapshots = new Snapshots()
    expect([snapshots.take(at('0x0a', unmoved)), snapshots.take(at('0x0b', unmoved))]).toEqual([1, 2])
  })

  it('stay valid when reverted to, and drop later ones', () => {
    const snapshots = taken({ clock: moved }, {}, {})
    expect([...snapshots.above(1)]).toEqual([3, 2])
    snapshots.rewindTo(1, keep)
    expect(snapshots.get(1)).toEqual(at('0x0a', moved))
    expect(listed(snapshots)).toEqual([1])
    expect(snapshots.take(at('0x0d', unmoved))).toBe(2)
    expect(snapshots.get(2)?.head).toBe('0x0d')
  })

  it('are deleted by a revert with useUp, except those with names and those on disk, and no number is used twice', () => {
    const snapshots = taken({}, { name: 'base' }, { isKept: true }, {}, {})
    snapshots.rewindTo(4, { useUp: true })
    expect(listed(snapshots)).toEqual([1, 2, 3])
    snapshots.rewindTo(3, { useUp: true })
    snapshots.rewindTo(2, { useUp: true })
    expect(listed(snapshots)).toEqual([1, 2])
    expect(snapshots.take(at('0x0d', unmoved))).toBe(6)
    snapshots.rewindTo(1, { useUp: true })
    expect(listed(snapshots)).toEqual([])
    expect(snapshots.take(at('0x0d', unmoved))).toBe(7)
  })

  it.each([0, -1, 3, 1.5, Number.NaN, 99])('refuse the unknown number %d', (id) => {
    const snapshots = taken({}, {})
    expect(snapshots.get(id)).toBeUndefined()
    snapshots.rewindTo(id, keep)
    expect(listed(snapshots)).toEqual([1, 2])
  })

  it('free the name of a dropped one', () => {
    const snapshots = taken({}, { name: 'later' })
    expect(snapshots.idOf('later')).toBe(2)
    snapshots.rewindTo(1, keep)
    expect(snapshots.idOf('later')).toBeUndefined()
  })

  it('count from 1 again after they were cleared', () => {
    const snapshots = taken({ name: 'a' }, {})
    snapshots.clear()
    expect(listed(snapshots)).toEqual([])
    expect(snapshots.idOf('a')).toBeUndefined()
    expect([...snapshots.above(0)]).toEqual([])
    expect(snapshots.take(at('0x0b', unmoved))).toBe(1)
  })
})

describe('beyond the maximum number of snapshots', () => {
  const MOST: Partial<Snapshot>[] = Array.from({ length: MAX_SNAPSHOTS - 2 }, () => ({}))

  it('the oldest one that was reverted to is dropped, then the oldest, never one with a name or on disk', () => {
    const snapshots = taken({ isKept: true }, { name: 'a' }, {}, {}, {})
    snapshots.rewindTo(4, keep)
    snapshots.take(at('0x0a', unmoved))
    snapshots.rewindTo(5, keep)
    for (let id = 6; id <= MAX_SNAPSHOTS; id++) snapshots.take(at('0x0a', unmoved))
    expect(listed(snapshots)).toHaveLength(MAX_SNAPSHOTS)
    const dropped = () => {
      const before = listed(snapshots)
      snapshots.take(at('0x0b', unmoved))
      return before.filter((id) => snapshots.get(id) === undefined)
    }
    expect([dropped(), dropped(), dropped(), dropped()]).toEqual([[4], [5], [3], [6]])
    snapshots.rewindTo(8, keep)
    expect(listed(snapshots)).toEqual([1, 2, 7, 8])
  })

  it('snapshots and reverts can be repeated any number of times, and earlier snapshots stay', () => {
    const snapshots = taken({ head: '0x01' })
    for (let round = 0; round < 5 * MAX_SNAPSHOTS; round++) {
      snapshots.rewindTo(snapshots.take(at('0x0a', unmoved)), keep)
    }
    expect(listed(snapshots)).toHaveLength(MAX_SNAPSHOTS)
    expect(snapshots.get(1)?.head).toBe('0x01')
    expect([...snapshots.above(1)]).toHaveLength(MAX_SNAPSHOTS - 1)
    snapshots.rewindTo(1, keep)
    expect(listed(snapshots)).toEqual([1])
  })

  it('another snapshot is refused when all have names or are on disk', () => {
    const snapshots = taken(...MOST.map(() => ({ isKept: true })), { name: 'a' }, { name: 'b' })
    expect(() => snapshots.take(at('0x0a', unmoved))).toThrow(
      'There are 10000 snapshots with names or kept on disk, the most that a node has; revert to an early one to drop those after it.',
    )
    expect(listed(snapshots)).toHaveLength(MAX_SNAPSHOTS)
  })
})
