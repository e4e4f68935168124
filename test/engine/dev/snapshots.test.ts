import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import type { ClockState } from '../../../src/engine/clock.ts'
import { BlockOverrides } from '../../../src/engine/dev/block-overrides.ts'
import { Snapshots } from '../../../src/engine/dev/snapshots.ts'

const unmoved: ClockState = { offset: 0, exact: undefined, interval: undefined }
const moved: ClockState = { offset: 9, exact: 12, interval: 3 }
const blockOverrides = new BlockOverrides(`0x${'c0'.repeat(20)}`).save()
const rest = { blockOverrides, pool: new Set<Hex>(), time: 5, name: undefined, isKept: false }
const at = (head: Hex, clock: ClockState) => ({ head, height: 7, postState: head, clock, ...rest })
const always = () => true

describe('snapshots', () => {
  it('count from 1', () => {
    const snapshots = new Snapshots()
    expect([snapshots.take(at('0x0a', unmoved)), snapshots.take(at('0x0b', unmoved))]).toEqual([1, 2])
  })

  it('stay valid when reverted to, and drop later ones', () => {
    const snapshots = new Snapshots()
    snapshots.take(at('0x0a', moved))
    snapshots.take(at('0x0b', unmoved))
    snapshots.take(at('0x0c', unmoved))
    expect(snapshots.rewindTo(1, always)).toEqual(at('0x0a', moved))
    expect(snapshots.rewindTo(1, always)).toEqual(at('0x0a', moved))
    expect(snapshots.rewindTo(2, always)).toBeUndefined()
    expect(snapshots.take(at('0x0d', unmoved))).toBe(2)
    expect(snapshots.rewindTo(2, always)?.head).toBe('0x0d')
  })

  it.each([0, -1, 3, 1.5, Number.NaN, 99])('know no number %d', (id) => {
    const snapshots = new Snapshots()
    snapshots.take(at('0x0a', unmoved))
    snapshots.take(at('0x0b', unmoved))
    expect(snapshots.rewindTo(id, always)).toBeUndefined()
    expect(snapshots.rewindTo(2, always)?.head).toBe('0x0b')
  })

  it('fail, and change nothing, when their block no longer stands', () => {
    const snapshots = new Snapshots()
    snapshots.take(at('0x0a', unmoved))
    snapshots.take(at('0x0b', unmoved))
    expect(snapshots.rewindTo(1, (head) => head !== '0x0a')).toBeUndefined()
    expect(snapshots.rewindTo(2, always)?.head).toBe('0x0b')
  })

  it('start again at 1 once forgotten', () => {
    const snapshots = new Snapshots()
    snapshots.take(at('0x0a', unmoved))
    snapshots.clear()
    expect(snapshots.rewindTo(1, always)).toBeUndefined()
    expect(snapshots.take(at('0x0b', unmoved))).toBe(1)
  })
})
