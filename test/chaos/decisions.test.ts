/** Decisions follow from plan, seed and facts alone, in the proportions of the plan. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Decisions } from '../../src/chaos/decisions.ts'
import { readPlan } from '../../src/chaos/plan.ts'
import { planOf } from '../../src/chaos/profiles.ts'

const CALL = { methods: ['eth_call'], bytes: 100, isBatch: false }

/** A number of decisions of each kind. */
function decisionsOf(seed: string, count: number) {
  const decisions = new Decisions(planOf('rootstock-public'), seed)
  return Array.from({ length: count }, () => [
    decisions.message(CALL),
    decisions.call({ reads: true, prices: true }),
    decisions.block(),
    decisions.reorganisation(),
    decisions.transaction(true),
    decisions.hiddenPolls(),
    decisions.copiesOfNext('subscription'),
  ])
}

describe('decisions', () => {
  it('are the same for the same seed, and others for another', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(decisionsOf(a, 20)).toEqual(decisionsOf(a, 20))
        if (a !== b) expect(decisionsOf(a, 40)).not.toEqual(decisionsOf(b, 40))
      }),
      { numRuns: 20 },
    )
  })

  it('of one kind do not shift those of another', () => {
    const alone = new Decisions(planOf('rootstock-public'), 's')
    const mixed = new Decisions(planOf('rootstock-public'), 's')
    const blocks = Array.from({ length: 30 }, () => {
      mixed.message(CALL)
      mixed.copiesOfNext('subscription')
      return [alone.block(), mixed.block()]
    })
    for (const [one, other] of blocks) expect(other).toEqual(one)
  })

  it('have the proportions of the plan', () => {
    const plan = readPlan({
      statuses: [{ status: 503, probability: 0.2 }],
      latency: [
        { methods: ['eth_getLogs'], distribution: 'uniform', ms: [100, 200] },
        { distribution: 'normal', mean: 50, deviation: 5 },
      ],
    })
    const decisions = new Decisions(plan, 'proportions')
    const messages = Array.from({ length: 5000 }, () => decisions.message(CALL))
    const refused = messages.filter(({ fault }) => fault?.kind === 'status').length
    // Five standard deviations of the binomial distribution.
    expect(Math.abs(refused - 1000)).toBeLessThan(5 * Math.sqrt(5000 * 0.2 * 0.8))
    const mean = messages.reduce((sum, { latencyMs }) => sum + latencyMs, 0) / messages.length
    expect(Math.abs(mean - 50)).toBeLessThan((5 * 5.1) / Math.sqrt(5000))
    const logs = decisions.message({ ...CALL, methods: ['eth_getLogs'] })
    expect(logs.latencyMs).toBeGreaterThanOrEqual(100)
    expect(logs.latencyMs).toBeLessThanOrEqual(200)
  })

  it('last for the window of a fault', () => {
    const plan = readPlan({ statuses: [{ status: 429, probability: 0.05, window: 3 }] })
    const decisions = new Decisions(plan, 'windows')
    const marks = Array.from({ length: 2000 }, () => (decisions.message(CALL).fault ? 'x' : '.')).join('')
    // The last window may not be over.
    const runs = marks.replace(/x+$/, '').match(/x+/g) ?? []
    expect(runs.length).toBeGreaterThan(20)
    for (const run of runs) expect(run.length % 3).toBe(0)
  })
})
