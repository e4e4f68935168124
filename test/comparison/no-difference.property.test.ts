/** Where both sides have the same rules nothing may drift: random programs under petersburg, here and on Ethereum. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareRules } from '../../src/comparison/compare.ts'
import type { ComparisonSide } from '../../src/comparison/report.ts'
import { stateOf } from '../support/differential.ts'
import { createOracleVm } from '../support/oracle-vm.ts'
import { situations } from '../support/random-situations.ts'

const { RANDOM_RUNS } = process.env
const PARAMETERS =
  RANDOM_RUNS === undefined ? { numRuns: 60, seed: 20_261 } : { numRuns: Number(RANDOM_RUNS) }

/** Tracers know the precompiled contracts of the chain's own rules only, so what these use under others counts as lost. */
function comparable({ reason: _, gas, ...side }: ComparisonSide) {
  const groups = new Map<string, bigint>(gas)
  groups.set('losses', (gas.get('losses') ?? 0n) + (gas.get('natives') ?? 0n))
  groups.delete('natives')
  return { ...side, groups }
}

describe('random programs under equal rules', () => {
  it('take the same path at the same prices in every group', async () => {
    const vm = createOracleVm({ chainId: 33, ruleSet: 'petersburg' })
    let ran = 0
    await fc.assert(
      fc.asyncProperty(situations('petersburg'), async ({ accounts, transaction, env }) => {
        const state = stateOf(accounts)
        const parts = { transaction, state, env, vm, chainId: 33, fork: 'petersburg' } as const
        const { chain, ethereum, ...drift } = await compareRules(parts)
        expect(drift).toEqual({ fork: 'petersburg', sameResult: true, sameLogs: true })
        expect(comparable(chain)).toEqual(comparable(ethereum))
        expect(chain.gas.get('losses')).toBeGreaterThanOrEqual(0n)
        expect(ethereum.gas.get('losses')).toBeGreaterThanOrEqual(0n)
        if (chain.status !== 'rejected') ran++
      }),
      PARAMETERS,
    )
    expect(ran).toBeGreaterThan(PARAMETERS.numRuns / 2)
  }, 3_600_000)
})
