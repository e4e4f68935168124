/**
 * Every method of the registry, by its own example: on a node that holds much, its work must be the same as on one that
 * holds little, unless it goes through what there is much of. `npm run bench:growth` counts at larger sizes.
 */
import { describe, expect, it, vi } from 'vitest'
import { COUNTED_EXAMPLES } from '../support/counted-examples.ts'
import { type Holding, IN_POOL, MINED, POOLED } from '../support/growth/holdings.ts'
import { grownOn, nodeWith } from '../support/growth/methods.ts'

// Native code, of which no step is counted; to stretch each passphrase of the examples takes a third of the time.
vi.mock(import('../../src/engine/wallet/encrypted-key.ts'), async (original) => ({
  ...(await original()),
  STANDARD_COST: { n: 2, r: 1, p: 1 },
}))

const [FEW, MANY] = [20, 400] as const

/** Which of these methods are more work where there is more of these, with their work at each size. */
async function grownWith(
  holdings: readonly Holding[],
  isMeant: (name: string) => boolean,
  sizes: readonly number[] = [FEW, MANY],
) {
  const nodes = await Promise.all(sizes.map((size) => nodeWith(size, holdings)))
  try {
    return await grownOn(
      nodes,
      COUNTED_EXAMPLES.filter(({ name }) => isMeant(name)),
    )
  } finally {
    for (const node of nodes) await node.close()
  }
}

/**
 * Reads that have nothing to answer on these nodes, which serve no connections, have no tokens and no console output, and
 * whose named transaction succeeded.
 */
const EMPTY = `anvil_getIntervalMining debug_accountTransactionQuota eth_pendingTransactions eth_syncing
evm_chaos evm_consoleOutput evm_debugFailure evm_debugSources evm_tokenHolders evm_tokens net_listening net_peerList ots_getTransactionError sco_keyUsage sco_peerList`.split(
  /\s+/,
)

it('counted reads find their results', async () => {
  const { answers, close } = await nodeWith(1, Object.values(MINED))
  try {
    const reads = COUNTED_EXAMPLES.filter(({ changesState }) => !changesState)
    const found = await answers(reads)
    const isEmpty = (answer: unknown) => [null, false, '0x', '[]', '{}'].includes(answer as string)
    const empty = reads.filter((_, at) => {
      const answer = found[at]
      return isEmpty(answer) || isEmpty(JSON.stringify(answer))
    })
    expect(empty.map(({ name }) => name).sort()).toEqual(EMPTY)
  } finally {
    await close()
  }
})

describe.each([
  ['mines each transaction', MINED],
  ['mines on request', POOLED],
])('a node that %s and has more data', (_, holdings) => {
  const all = Object.values(holdings)
  const isWhole = (name: string) => all.some(({ whole }) => whole[name] !== undefined)

  it('answers with the same amount of work', async () => {
    expect(await grownWith(all, (name) => !isWhole(name))).toEqual([])
  })

  const apart = all.length > 1 ? Object.entries(holdings) : []
  it.each(apart)('iterates over %s where it must, and over nothing else', async (_what, { whole }) => {
    const others = all.filter((holding) => holding.whole !== whole)
    expect(await grownWith(others, (name) => whole[name] !== undefined)).toEqual([])
  })
})

it('a chain of a pool answers with the same work when there are more chains', async () => {
  expect(await grownWith(Object.values(IN_POOL), () => true, [4, 60])).toEqual([])
}, 240_000)
