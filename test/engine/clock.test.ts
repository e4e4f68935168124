import { describe, expect, it } from 'vitest'
import { Clock } from '../../src/engine/clock.ts'

/** A clock over a wall clock that the test moves. */
function clockAt(start: number, lasting: boolean) {
  const wall = { now: start }
  return { wall, clock: new Clock(() => wall.now, { lasting }) }
}

describe.each([false, true])('a clock (lasting: %s)', (lasting) => {
  it('follows the wall clock, but never falls back to its parent', () => {
    const { wall, clock } = clockAt(1000, lasting)
    expect(clock.nextTimestamp(0)).toBe(1000)
    expect(clock.nextTimestamp(1000)).toBe(1001)
    expect(clock.nextTimestamp(5000)).toBe(5001)
    wall.now = 1010
    expect(clock.nextTimestamp(1000)).toBe(1010)
  })

  it('adds up increases, and ignores those of zero or less', () => {
    const { clock } = clockAt(1000, lasting)
    expect(clock.increase(100, 0)).toBe(100)
    expect(clock.increase(100, 0)).toBe(200)
    expect(clock.increase(0, 0)).toBe(200)
    expect(clock.increase(-5, 0)).toBe(200)
    expect(clock.nextTimestamp(0)).toBe(1200)
    expect(clock.nextTimestamp(0)).toBe(1200)
  })

  it('uses an exact timestamp for one block', () => {
    const { clock } = clockAt(1000, lasting)
    clock.increase(7, 0)
    clock.setNext(3000)
    expect(clock.nextTimestamp(999)).toBe(3000)
    clock.blockMined(3000)
    expect(clock.nextTimestamp(999)).toBe(lasting ? 3000 : 1000)
  })

  it('can be set to a time before the wall clock', () => {
    const { clock } = clockAt(1000, lasting)
    clock.setNext(500)
    expect(clock.nextTimestamp(499)).toBe(500)
  })

  it('is restored to its saved state', () => {
    const { clock } = clockAt(1000, lasting)
    clock.increase(5, 0)
    clock.setNext(2000)
    const saved = clock.save()
    clock.blockMined(2000)
    clock.increase(50, 0)
    clock.restore(saved)
    expect(clock.nextTimestamp(0)).toBe(2000)
    expect(clock.increase(0, 0)).toBe(5)
    clock.reset()
    expect(clock.nextTimestamp(0)).toBe(1000)
  })
})

describe.each([false, true])('a clock with an interval (lasting: %s)', (lasting) => {
  it('counts from block to block whatever the wall clock, until it is removed', () => {
    const { wall, clock } = clockAt(1000, lasting)
    clock.setInterval(12)
    for (const parent of [1000, 1012, 1024]) {
      expect(clock.nextTimestamp(parent)).toBe(parent + 12)
      clock.blockMined(parent + 12)
    }
    wall.now = 5000
    expect(clock.nextTimestamp(1036)).toBe(1048)
    clock.setInterval(undefined)
    expect(clock.nextTimestamp(1036)).toBe(5000)
  })

  it('applies an exact timestamp before the interval, and still advances with an interval of 0', () => {
    const { clock } = clockAt(1000, lasting)
    clock.setInterval(0)
    clock.setNext(3000)
    expect(clock.nextTimestamp(1000)).toBe(3000)
    clock.blockMined(3000)
    expect(clock.nextTimestamp(3000)).toBe(3001)
    const saved = clock.save()
    clock.reset()
    expect(clock.nextTimestamp(10)).toBe(1000)
    clock.restore(saved)
    expect(clock.nextTimestamp(10)).toBe(11)
  })

  it('moves to a time, and returns the offset and the distance', () => {
    const { wall, clock } = clockAt(1000, lasting)
    clock.setNext(9000)
    expect(clock.moveTo(1500)).toEqual({ offset: 500, moved: 500 })
    expect(clock.nextTimestamp(0)).toBe(1500)
    clock.blockMined(1500)
    wall.now = 1001
    expect(clock.nextTimestamp(0)).toBe(lasting ? 1501 : 1001)
    expect(clock.moveTo(400)).toEqual({ offset: -601, moved: lasting ? -1101 : -601 })
    expect(clock.nextTimestamp(0)).toBe(400)
    expect(clock.nextTimestamp(400)).toBe(401)
  })
})

it('uses an increase for one block', () => {
  const { clock } = clockAt(1000, false)
  clock.increase(200, 0)
  expect(clock.nextTimestamp(1000)).toBe(1200)
  clock.blockMined(1200)
  expect(clock.nextTimestamp(1200)).toBe(1201)
  expect(clock.increase(0, 0)).toBe(0)
})

it('keeps increases when lasting, and continues from an exact timestamp', () => {
  const { wall, clock } = clockAt(1000, true)
  clock.increase(200, 0)
  clock.blockMined(1200)
  wall.now = 1001
  expect(clock.nextTimestamp(1200)).toBe(1201)
  wall.now = 1050
  expect(clock.nextTimestamp(1201)).toBe(1250)
  clock.setNext(9000)
  clock.blockMined(9000)
  wall.now = 1060
  expect(clock.nextTimestamp(9000)).toBe(9010)
  expect(clock.increase(1, 0)).toBe(9010 - 1060 + 1)
})
