import { describe, expect, it } from 'vitest'
import { isSliceOver, type Lane, nextSlice, RunClock } from '../../src/evm/scheduler.ts'
import { saying } from '../support/refusals.ts'

/** Counts passes of the event loop until stopped. */
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
  it('run one slice at a time, so that sockets wait for one run and not for all', async () => {
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

  it('keep the order of arrival within a lane', async () => {
    const order: number[] = []
    await Promise.all([0, 1, 2, 3].map((i) => nextSlice('query').then(() => order.push(i))))
    expect(order).toEqual([0, 1, 2, 3])
  })

  it('count the time of all runs between two turns together', async () => {
    // A slice begins no earlier than these, so to them it is not over, however slow the machine is.
    const before = performance.now()
    await nextSlice('query')
    expect(isSliceOver(before, before)).toBe(false)
    const late = performance.now() + 50
    expect(isSliceOver(late, late)).toBe(true)
    const later = performance.now()
    await nextSlice('query')
    expect(isSliceOver(later, later)).toBe(false)
  })

  it('include a run that looks at its clock', async () => {
    const counter = turnCounter()
    const clock = new RunClock(60_000)
    while (counter.count() < 3) if (clock.mustPause()) await clock.pause()
    counter.stop()
  })

  it('end a run at its deadline', () => {
    const clock = new RunClock(1)
    const run = () => {
      for (;;) clock.mustPause()
    }
    expect(run).toThrow(saying('Execution has got timeout out.'))
  })
})
