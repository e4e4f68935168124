/** Named plans. A new profile is one record here. */
import { NodeError } from '../errors.ts'
import { type ChaosPlan, type ChaosPlanInput, readPlan } from './plan.ts'

/** The profiles by name, each with what it stands for. */
export const CHAOS_PROFILES: Readonly<
  Record<string, { readonly summary: string; readonly plan: ChaosPlanInput }>
> = {
  'rootstock-public': {
    summary: 'a public endpoint of the network behind a load balancer, on a bad day',
    plan: {
      latency: [
        {
          methods: ['eth_getLogs', 'debug_*', 'trace_*'],
          distribution: 'lognormal',
          median: 400,
          sigma: 0.8,
          most: 10_000,
        },
        { distribution: 'lognormal', median: 120, sigma: 0.6, most: 5000 },
      ],
      statuses: [
        { status: 429, probability: 0.03, window: [1, 4], retryAfter: 1 },
        { status: 502, probability: 0.01 },
        { status: 503, probability: 0.01, window: [1, 2] },
      ],
      connections: { drop: { probability: 0.01 } },
      stale: { probability: 0.08, blocks: [1, 3], window: [1, 6] },
      receipts: { probability: 0.4, polls: [1, 4] },
      transactions: { forgotten: { probability: 0.01 }, reordered: { probability: 0.1 } },
      gasPrice: { probability: 0.03, factor: [2, 8], window: [3, 10] },
      blocks: {
        late: { probability: 0.2, calls: [1, 5] },
        empty: { probability: 0.1 },
        full: { probability: 0.1, transactions: [0, 5] },
      },
      reorganisations: { probability: 0.04, depth: [1, 2] },
      subscriptions: { gap: { probability: 0.03, window: [1, 3] }, duplicate: { probability: 0.03 } },
      limits: { logBlocks: 2000, batch: 100, bodyBytes: 131_072 },
    },
  },
  'flaky-wifi': {
    summary: 'a caller whose own connection is bad: slow, closed, cut off',
    plan: {
      latency: [{ distribution: 'lognormal', median: 150, sigma: 1.2, most: 15_000 }],
      connections: {
        drop: { probability: 0.06 },
        stall: { probability: 0.01, ms: 30_000 },
        truncate: { probability: 0.03 },
      },
      subscriptions: { gap: { probability: 0.08, window: [1, 8] }, duplicate: { probability: 0.04 } },
    },
  },
  'stalled-follower': {
    summary: 'a load balancer with one node that does not follow the chain any more',
    plan: {
      stale: { probability: 0.3, blocks: [2, 40], window: [1, 3] },
      receipts: { probability: 0.5, polls: [1, 8] },
      subscriptions: { gap: { probability: 0.2, window: [1, 20] } },
    },
  },
  reorganised: {
    summary: 'a chain whose last blocks are often replaced, with transactions that do not come back',
    plan: {
      reorganisations: { probability: 0.3, depth: [1, 4], lost: 0.2 },
      blocks: { late: { probability: 0.3, calls: [1, 4] } },
    },
  },
  congested: {
    summary: 'a network with more transactions than room: full and late blocks, spikes of prices',
    plan: {
      transactions: { neverMined: { probability: 0.03 }, reordered: { probability: 0.4 } },
      gasPrice: { probability: 0.2, factor: [2, 20], window: [2, 12] },
      blocks: {
        late: { probability: 0.3, calls: [1, 6] },
        empty: { probability: 0.05 },
        full: { probability: 0.5, transactions: [0, 2] },
      },
    },
  },
}

/** The plan of a profile's name, or the given plan, checked. Throws `invalid-params`. */
export function planOf(given: unknown): ChaosPlan {
  if (typeof given !== 'string') return readPlan(given)
  const profile = Object.hasOwn(CHAOS_PROFILES, given) ? CHAOS_PROFILES[given] : undefined
  if (profile !== undefined) return readPlan(profile.plan)
  const names = Object.keys(CHAOS_PROFILES).join(', ')
  throw new NodeError('invalid-params', `There is no chaos profile "${given}". The profiles are ${names}.`)
}
