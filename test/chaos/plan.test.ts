/** Plans: what is refused, by the path of its member, and that every profile is a plan. */
import { describe, expect, it } from 'vitest'
import { readPlan } from '../../src/chaos/plan.ts'
import { CHAOS_PROFILES, planOf } from '../../src/chaos/profiles.ts'
import { createNode } from '../../src/index.ts'

const refusalOf = (plan: unknown): string => {
  try {
    readPlan(plan)
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

describe('a malformed plan', () => {
  it.each([
    [
      { latency: [{ distribution: 'uniform', ms: [5, 1] }] },
      'latency[0].ms: the first bound is above the second',
    ],
    [{ latency: [{ distribution: 'normal', mean: -1, deviation: 1 }] }, 'latency[0].mean: '],
    [{ latency: [{ distribution: 'pareto' }] }, 'latency[0].distribution: '],
    [{ latency: [{ methods: ['eth call'], distribution: 'uniform', ms: 1 }] }, 'latency[0].methods[0]: '],
    [
      {
        statuses: [
          { status: 429, probability: 1 },
          { status: 404, probability: 1 },
        ],
      },
      'statuses[1].status: ',
    ],
    [{ connections: { drop: { probability: 1.5 } } }, 'connections.drop.probability: '],
    [{ blocks: { late: { probability: 1, calls: 0 } } }, 'blocks.late.calls[0]: '],
    [{ reorganisations: { probability: 1 } }, 'reorganisations.depth: '],
    [{ limits: { batch: 0 } }, 'limits.batch: '],
    [{ stale: { probability: 1, blocks: 1, behind: 2 } }, 'stale.behind: there is no such member'],
    [{ colour: 'red' }, 'colour: there is no such member'],
    [[], 'Invalid chaos plan: '],
    [7, 'Invalid chaos plan: '],
  ])('%j is refused', (plan, message) => {
    expect(refusalOf(plan)).toContain(message)
  })

  it('names the profiles where one is unknown', () => {
    expect(() => planOf('bad-day')).toThrow(/no chaos profile "bad-day".*rootstock-public, flaky-wifi/)
  })

  it('keeps a node from starting, and leaves what was set', async () => {
    await expect(createNode({ chaos: { limits: { batch: 0 } } })).rejects.toMatchObject({
      kind: 'invalid-options',
      message: expect.stringContaining('Option "chaos": Invalid chaos plan: limits.batch'),
    })
    const node = await createNode({ chaos: { limits: { batch: 3 } }, seed: 's' })
    const set = node.request({ method: 'evm_setChaos', params: [{ stale: {} }] })
    await expect(set).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('stale.probability'),
    })
    expect(await node.request({ method: 'evm_chaos' })).toMatchObject({
      plan: { limits: { batch: 3 } },
      seed: 's',
    })
    expect(await node.request({ method: 'evm_setChaos', params: [null] })).toBeNull()
    expect(await node.request({ method: 'evm_chaos' })).toBeNull()
    await node.close()
  })
})

it.each(Object.keys(CHAOS_PROFILES))('the profile %s is a plan', (name) => {
  expect(Object.keys(planOf(name)).length).toBeGreaterThan(1)
})
