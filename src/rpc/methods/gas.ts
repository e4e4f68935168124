/** Where transactions spend gas: by contract, function, line and opcode. */
import { z } from 'zod'
import { GasReportObject } from '../../gas/gas-report.ts'
import { timeLeft } from '../deadlines.ts'
import { method } from '../method.ts'
import { optional, orNull } from '../parameter.ts'
import { TransactionHash } from '../wire/scalars.ts'

export const evm_startGasProfile = method({
  name: 'evm_startGasProfile',
  changesState: true,
  summary:
    'Records from now on where the transactions of new blocks spend gas. What was recorded before is forgotten. Chains of a pool record together with the node that they are copies of. While it is on, code is interpreted, several times slower.',
  params: {},
  result: () => z.boolean(),
  examples: [{ params: [], result: true }],
  run(_, { engine }) {
    engine.gas.start()
    return true
  },
})

export const evm_stopGasProfile = method({
  name: 'evm_stopGasProfile',
  changesState: true,
  summary: 'Records no more where gas is spent; what was recorded stays. False when nothing was recorded.',
  params: {},
  result: () => z.boolean(),
  examples: [
    { params: [], result: false },
    { after: [{ method: 'evm_startGasProfile', params: [] }], params: [], result: true },
  ],
  run(_, { engine: { gas } }) {
    const wasOn = gas.isOn
    gas.stop()
    return wasOn
  },
})

const NO_GAS = {
  transactions: 0,
  gasUsed: 0,
  refunds: 0,
  deployments: [],
  methods: [],
  functions: [],
  lines: [],
  opcodes: [],
  frames: [],
  stacks: [],
  notes: [],
}

export const evm_gasProfile = method({
  name: 'evm_gasProfile',
  heavy: true,
  summary:
    'Where gas was spent since evm_startGasProfile, or by a mined transaction, which runs again for it: `deployments` and `methods` called by transactions, `functions` (`self` without what they called), `lines`, `opcodes` by group, and `stacks` of `frames`, whose gas less `refunds` is the `gasUsed` of the receipts. Null for an unknown transaction.',
  params: { transaction: optional(orNull(TransactionHash, undefined), null) },
  result: () => GasReportObject.nullable(),
  errors: ['block-not-found'],
  examples: [
    { params: [], result: NO_GAS },
    { params: [`0x${'9'.repeat(64)}`], result: null },
  ],
  async run({ transaction }, context) {
    const { gas, queries } = context.engine
    if (transaction === undefined) return gas.report()
    const { block, index } = queries.transaction(transaction) ?? {}
    if (block === undefined || index === undefined) return null
    return gas.ofTransaction(block, index, timeLeft(context))
  },
})

/** The methods of this file, in the order of the document. */
export const GAS_METHODS = [evm_startGasProfile, evm_stopGasProfile, evm_gasProfile] as const
