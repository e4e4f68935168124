/**
 * Random programs by compiled code and by the interpreter: the same gas, result, refunds, logs, state and failure, and the
 * same calls with the causes of their failures.
 * `npm run test:compiled` runs 100,000 fresh ones; fast-check prints the seed and the smallest failing situation.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Vm } from '../../../src/evm/rules.ts'
import type { CallFrame } from '../../../src/evm/tracing/call-frame.ts'
import { CallTracer } from '../../../src/evm/tracing/call-tracer.ts'
import { TraceBudget } from '../../../src/evm/tracing/trace-budget.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { observeOurs } from '../../support/differential.ts'
import { situations } from '../../support/random-situations.ts'

const { COMPILED_RUNS } = process.env
/** The suite itself is the same each time. */
const PARAMETERS =
  COMPILED_RUNS === undefined ? { numRuns: 250, seed: 20_261 } : { numRuns: Number(COMPILED_RUNS) }
const TIME_LIMIT = COMPILED_RUNS === undefined ? 120_000 : 14_400_000

/** A VM that reports each run to a tracer of its own, and the tree of calls of the last one. */
function traced(vm: Vm): { readonly vm: Vm; root(): CallFrame } {
  let tracer = new CallTracer(new TraceBudget(1 << 26))
  return {
    vm: {
      ...vm,
      run: (message, state, env, options) => {
        tracer = new CallTracer(new TraceBudget(1 << 26))
        return vm.run(message, state, env, { ...options, tracer })
      },
    },
    root: () => tracer.root,
  }
}

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

it(
  'reports the same calls to a tracer',
  async () => {
    const interpreted = traced(createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY }))
    const compiled = traced(createVm({ chainId: 33, hotAfter: 0 }))
    await fc.assert(
      fc.asyncProperty(situations('chain'), async (situation) => {
        const expected = await observeOurs(situation, interpreted.vm)
        expect(await observeOurs(situation, compiled.vm)).toEqual(expected)
        if (expected.status !== 'rejected') expect(compiled.root()).toEqual(interpreted.root())
      }),
      PARAMETERS,
    )
  },
  TIME_LIMIT,
)
