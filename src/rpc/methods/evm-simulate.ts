/** Steps that share state, with all that they would change: `evm_simulate`. */
import { z } from 'zod'
import { namingBudget } from '../../execution/variable-changes.ts'
import { method } from '../method.ts'
import { optional } from '../parameter.ts'
import { layoutsOf } from '../simulation-options.ts'
import { simulateSent } from '../step-simulation.ts'
import { CallBlock } from '../wire/block-reference.ts'
import { StepResultObject, StepSimulationObject, toRpcStepResult } from '../wire/steps.ts'
import { replySize } from '../wire/trace/reply-size.ts'
import { COW, COW1 } from './example-accounts.ts'

export const evm_simulate = method({
  name: 'evm_simulate',
  heavy: true,
  summary:
    'Simulates steps in order on the state of a block, each on the state that the previous one left, and returns what each would do and change: result, logs, call tree, transfers and approvals of assets, changed accounts. A step is a `call` (as in eth_call, but its writes stay), a `send` (as a transaction of the block, with nonce, price and fee), a `set` of state overrides, or a `warp` to a later block. Nothing is kept. A step that fails undoes its writes and the next one follows.',
  params: { simulation: StepSimulationObject, block: optional(CallBlock, 'latest') },
  result: () => z.array(StepResultObject),
  errors: ['block-not-found'],
  examples: [
    {
      params: [
        {
          steps: [
            { set: { [COW1]: { balance: '0x5' } } },
            { warp: { seconds: 60, blocks: 1 } },
            { call: { from: COW, to: COW1, value: '0x1' } },
          ],
        },
      ],
      result: [
        { kind: 'set', block: { number: '0x0', timestamp: '0x0' } },
        { kind: 'warp', block: { number: '0x1', timestamp: '0x3c' } },
        {
          kind: 'call',
          block: { number: '0x1', timestamp: '0x3c' },
          status: '0x1',
          returnData: '0x',
          gasUsed: '0x5208',
          logs: [],
          trace: {
            type: 'CALL',
            from: COW,
            to: COW1,
            value: '0x1',
            gas: '0x0',
            gasUsed: '0x5208',
            input: '0x',
            output: '0x',
          },
          assetChanges: [{ type: 'native', change: 'transfer', from: COW, to: COW1, amount: '0x1' }],
          stateChanges: [
            {
              address: COW,
              balance: { from: '0xc9f2c9cd04674edea40000000', to: '0xc9f2c9cd04674edea3fffffff' },
            },
            { address: COW1, balance: { from: '0x5', to: '0x6' } },
          ],
        },
      ],
    },
  ],
  async run({ simulation, block }, context) {
    const done = await simulateSent(simulation, block, context)
    const naming = namingBudget()
    const { names } = context.engine
    const reply = { names, layoutAt: layoutsOf(context.engine), naming, size: replySize(context) }
    return done.map((step) => toRpcStepResult(step, reply))
  },
})

/** The methods of this file, in the order of the document. */
export const STEP_METHODS = [evm_simulate] as const
