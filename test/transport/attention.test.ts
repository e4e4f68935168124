import { describe, expect, it } from 'vitest'
import { createAttention } from '../../src/transport/attention.ts'

/** A processor whose clocks move only when told to; one turn of the event loop takes `turnMs`. */
function machine({ processors = 2, turnMs = 0.01 } = {}) {
  const steps: (() => void)[] = []
  const state = { time: 1000, used: 0 }
  const attention = createAttention({
    now: () => state.time,
    next: (step) => void steps.push(step),
    used: () => state.used,
    processors,
  })
  /** Turns of the event loop until nobody keeps it awake, or `most`. */
  function turn(most = Number.POSITIVE_INFINITY): number {
    let turns = 0
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
      state.time += turnMs
      state.used += turnMs
      turns++
      step()
      if (turns >= most) break
    }
    return turns
  }
  /** A call and its answer, `pauseMs` after the last answer. */
  function call(pauseMs: number): void {
    turn(Math.floor(pauseMs / turnMs))
    state.time += pauseMs
    attention.arrived()
    attention.answered()
  }
  return { state, attention, turn, call }
}

describe('staying awake for the next call', () => {
  it('sleeps at once while calls come seldom', () => {
    const { call, turn } = machine()
    for (let i = 0; i < 20; i++) call(50)
    expect(turn()).toBe(0)
  })

  it('stays awake for a window, and no longer, once calls follow closely', () => {
    const { call, turn, state } = machine()
    for (let i = 0; i < 10; i++) call(0.2)
    const from = state.time
    const turns = turn()
    expect(turns).toBeGreaterThan(20)
    expect(state.time - from).toBeLessThan(1)
    expect(turn()).toBe(0)
  })

  it('goes back to sleep when they no longer do', () => {
    const { call, turn } = machine()
    for (let i = 0; i < 10; i++) call(0.2)
    for (let i = 0; i < 4; i++) call(20)
    turn()
    call(20)
    expect(turn()).toBe(0)
  })

  it('keeps one watch however many answers leave during it', () => {
    const { call, attention, turn } = machine()
    for (let i = 0; i < 10; i++) call(0.2)
    for (let i = 0; i < 5; i++) attention.answered()
    expect(turn()).toBeLessThan(100)
  })

  it('leaves a processor that others want to them for a while', () => {
    const { call, state, turn } = machine()
    for (let i = 0; i < 10; i++) call(0.2)
    turn(3)
    state.time += 4
    turn()
    for (let i = 0; i < 10; i++) call(0.2)
    expect(turn()).toBe(0)
    state.time += 300
    for (let i = 0; i < 10; i++) call(0.2)
    expect(turn()).toBeGreaterThan(20)
  })

  it('does not take long work of its own for others', () => {
    const { call, state, turn } = machine()
    for (let i = 0; i < 10; i++) call(0.2)
    turn(3)
    state.time += 4
    state.used += 4
    turn()
    call(0.2)
    for (let i = 0; i < 10; i++) call(0.2)
    expect(turn()).toBeGreaterThan(20)
  })

  it('never begins on a single processor', () => {
    const { call, turn } = machine({ processors: 1 })
    for (let i = 0; i < 20; i++) call(0.2)
    expect(turn()).toBe(0)
  })
})
