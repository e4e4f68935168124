/** Sums over the blocks of a span of time, against sums over all blocks. */
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode } from '../../../src/index.ts'
import { ask } from '../../support/state-files.ts'

const MINERS = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`] as const

type Step =
  | { readonly kind: 'mine'; readonly blocks: number; readonly miner: Hex }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'reorg' | 'rollback'; readonly depth: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('mine' as const),
      blocks: fc.integer({ min: 1, max: 3 }),
      miner: fc.constantFrom(...MINERS),
    }),
    fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: -600, max: 2000 }) }),
    fc.record({
      kind: fc.constantFrom('reorg' as const, 'rollback' as const),
      depth: fc.integer({ min: 1, max: 4 }),
    }),
  ),
  { minLength: 1, maxLength: 8 },
)

it('eth_netHashrate and eth_hashrate sum up the blocks of the last hour, whatever came before', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      let time = 1_900_000_000
      const node = await createNode({ now: () => time, lastingClock: true, difficulty: 3_600n })
      onTestFinished(() => node.close())
      for (const step of list) {
        const height = Number(await ask(node, 'eth_blockNumber'))
        if (step.kind === 'wait') time += step.seconds
        else if (step.kind === 'mine') {
          await ask(node, 'hardhat_setCoinbase', step.miner)
          await ask(node, 'hardhat_mine', `0x${step.blocks.toString(16)}`)
        } else if (step.depth <= height) {
          await ask(
            node,
            step.kind === 'reorg' ? 'evm_reorg' : 'anvil_rollback',
            step.kind === 'reorg' ? { depth: step.depth } : step.depth,
          )
        }
        const sums = { own: 0, network: 0 }
        const coinbase = await ask(node, 'eth_coinbase')
        for (let at = Number(await ask(node, 'eth_blockNumber')); at > 0; at--) {
          const { timestamp, difficulty, miner } = await ask(
            node,
            'eth_getBlockByNumber',
            `0x${at.toString(16)}`,
            false,
          )
          if (Number(timestamp) < time - 3600) break
          sums.network += Number(difficulty)
          if (miner === coinbase) sums.own += Number(difficulty)
        }
        expect(Number(await ask(node, 'eth_hashrate'))).toBe(Math.floor(sums.own / 3600))
        expect(await ask(node, 'eth_netHashrate')).toBe(Math.floor(sums.network / 3600))
      }
    }),
    { numRuns: 4 },
  )
})
