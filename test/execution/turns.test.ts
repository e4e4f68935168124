import { describe, expect, it } from 'vitest'
import { ExecutionClock } from '../../src/execution/execution-clock.ts'
import { isSliceOver, type Lane, nextSlice } from '../../src/execution/turns.ts'

/** Counts turns of the event loop until told to stop. */
function turnCounter(): { count: () => number; stop: () => void } {
  let turns = 0
  let on = true
  const next = () => {
    turns++
    if (on) setImmediate(next)
  }
  setImmediate(next)
  return {
    count: () => turns,
    stop() {
      on = false
    },
  }
}

describe('turns', () => {
  it('give one slice at a time, so that sockets wait for one run and not for all', async () => {
    const counter = turnCounter()
    const turns: number[] = []
    await Promise.all(
      Array.from({ length: 8 }, () => nextSlice('query').then(() => turns.push(counter.count()))),
    )
    counter.stop()
    expect(new Set(turns).size).toBe(8)
  })

  it('give every second slice to the chain, however many queries wait', async () => {
    const order: Lane[] = []
    const wait = (lane: Lane) => nextSlice(lane).then(() => order.push(lane))
    const lanes: Lane[] = ['query', 'query', 'query', 'query', 'query', 'query', 'chain', 'chain', 'chain']
    await Promise.all(lanes.map(wait))
    const first = order.slice(0, 6)
    expect(first.filter((lane) => lane === 'chain')).toHaveLength(3)
    expect(order.slice(6)).toEqual(['query', 'query', 'query'])
  })

  it('keep those of a lane in the order in which they came', async () => {
    const order: number[] = []
    await Promise.all([0, 1, 2, 3].map((i) => nextSlice('query').then(() => order.push(i))))
    expect(order).toEqual([0, 1, 2, 3])
  })

  it('count the time of all runs between two turns together', async () => {
    await nextSlice('query')
    const now = performance.now()
    expect(isSliceOver(now, now)).toBe(false)
    expect(isSliceOver(now + 50, now + 50)).toBe(true)
    await nextSlice('query')
    const later = performance.now()
    expect(isSliceOver(later, later)).toBe(false)
  })

  it('come to a run that looks at its clock, until its time is up', async () => {
    const counter = turnCounter()
    const clock = new ExecutionClock(30)
    let failure: unknown
    try {
      for (;;) if (clock.mustPause()) await clock.pause()
    } catch (error) {
      failure = error
    }
    counter.stop()
    expect(failure).toMatchObject({ kind: 'limit-exceeded' })
    expect(counter.count()).toBeGreaterThan(1)
  })
})
