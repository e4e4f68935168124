/**
 * Random programs: our machine against Ethereum's executor under equal rules, and our loop against the library's under
 * the chain's. `RANDOM_RUNS=20000 npx vitest run test/execution/random-programs.test.ts` runs that many fresh ones of
 * each sort; fast-check prints the seed and the smallest failing situation.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createVm } from '../../src/evm/vm.ts'
import { observeEthereum, observeOurs } from '../support/differential.ts'
import { createOracleVm } from '../support/oracle-vm.ts'
import { situations } from '../support/random-situations.ts'

const { RANDOM_RUNS } = process.env
/** The suite itself is the same each time. */
const PARAMETERS =
  RANDOM_RUNS === undefined ? { numRuns: 300, seed: 20_260 } : { numRuns: Number(RANDOM_RUNS) }
const TIME_LIMIT = RANDOM_RUNS === undefined ? 60_000 : 3_600_000

describe('random programs', () => {
  it(
    'give the same result as Ethereum under petersburg',
    async () => {
      const vm = createOracleVm({ chainId: 33, ruleSet: 'petersburg' })
      await fc.assert(
        fc.asyncProperty(situations('petersburg'), async (situation) => {
          expect(await observeOurs(situation, vm)).toEqual(await observeEthereum(situation, 'petersburg'))
        }),
        PARAMETERS,
      )
    },
    TIME_LIMIT,
  )

  it(
    'give the same result in our loop and in the library’s under the rules of the chain',
    async () => {
      const own = createVm({ chainId: 33 })
      const library = createOracleVm({ chainId: 33, loop: 'library' })
      await fc.assert(
        fc.asyncProperty(situations('chain'), async (situation) => {
          expect(await observeOurs(situation, own)).toEqual(await observeOurs(situation, library))
        }),
        PARAMETERS,
      )
    },
    TIME_LIMIT,
  )
})
