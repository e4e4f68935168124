import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { KILLED, Measures, YARDSTICK } from '../../scripts/soak/measures.ts'

const SECONDS = 300
let measures: Measures

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  measures = new Measures()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A run in which a node and the yardstick take so many milliseconds, by the second. */
function run(node: string, taken: (at: number) => number, yardstick: (at: number) => number): void {
  const note = measures.timedFor(node)
  const noteYardstick = measures.timedFor(YARDSTICK)
  note('eth_call', 1e6)
  measures.begin()
  for (let at = 0; at < SECONDS; at++) {
    note('eth_call', taken(at))
    noteYardstick('work', yardstick(at))
    vi.advanceTimersByTime(1000)
  }
  measures.end()
  note('eth_call', 1e6)
}

const row = (node: string) => measures.rows(node, SECONDS)[0]

describe('latency', () => {
  it('covers the samples from the time under load', () => {
    run(
      'steady',
      () => 4,
      () => 2,
    )
    expect(measures.length).toBe(SECONDS)
    expect(row('steady')).toMatchObject({ kind: 'eth_call', count: SECONDS, half: 4, most: 4 })
    expect(measures.rate('steady', ['eth_call']).every(([, calls]) => calls === 1)).toBe(true)
  })

  it('rises when calls take longer and the reference work does not', () => {
    run(
      'steady',
      (at) => 4 + at / 50,
      () => 2,
    )
    expect(row('steady')?.trend?.verdict).toBe('rising')
  })

  it('is level when the whole machine gets slower', () => {
    run(
      'steady',
      (at) => 4 + at / 100,
      (at) => 2 + at / 200,
    )
    expect(row('steady')?.trend).toMatchObject({ verdict: 'level', change: 0, median: 2 })
  })

  it('has no result on a noisy machine, nor for a node that is always cold', () => {
    const noisy = (at: number) => (Math.floor(at / 20) % 2 === 0 ? 2 : 9)
    run('steady', (at) => 4 + at / 50, noisy)
    expect(measures.noise(SECONDS)).toBe(4.5)
    expect(row('steady')?.trend).toBeUndefined()
    measures = new Measures()
    run(
      KILLED,
      (at) => 4 + at / 50,
      () => 2,
    )
    expect(row(KILLED)?.trend).toBeUndefined()
  })
})

describe('the heap', () => {
  it('rises when the live heap grows', () => {
    run(
      'steady',
      () => 4,
      () => 2,
    )
    const level = new Measures()
    level.begin()
    for (let at = 0; at < SECONDS; at += 15) {
      level.noteHeap('leaking', (40 + at / 5) * 2 ** 20)
      level.noteHeap('sound', (40 + (at % 4)) * 2 ** 20)
      vi.advanceTimersByTime(15_000)
    }
    expect(level.heapTrend('leaking', SECONDS)).toMatchObject({ verdict: 'rising' })
    expect(level.heapTrend('sound', SECONDS)).toMatchObject({ verdict: 'level' })
  })
})
