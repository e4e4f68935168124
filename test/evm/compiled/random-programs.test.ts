/**
 * Random programs by compiled code and by the interpreter: the same gas, result, refunds, logs, state and failure.
 * `npm run test:compiled` runs 100,000 fresh ones; fast-check prints the seed and the smallest failing situation.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createVm } from '../../../src/evm/vm.ts'
import { observeOurs } from '../../support/differential.ts'
import { situations } from '../../support/random-situations.ts'

const { COMPILED_RUNS } = process.env
/** The suite itself is the same each time. */
const PARAMETERS =
  COMPILED_RUNS === undefined ? { numRuns: 250, seed: 20_261 } : { numRuns: Number(COMPILED_RUNS) }
const TIME_LIMIT = COMPILED_RUNS === undefined ? 120_000 : 14_400_000

it(
  'gives the same result in compiled code as in the interpreter',
  async () => {
    const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })
    const compiled = createVm({ chainId: 33, hotAfter: 0 })
    await fc.assert(
      fc.asyncProperty(situations('chain'), async (situation) => {
        expect(await observeOurs(situation, compiled)).toEqual(await observeOurs(situation, interpreted))
      }),
      PARAMETERS,
    )
  },
  TIME_LIMIT,
)
