/**
 * The simulations of Tenderly's node (https://docs.tenderly.co/node-rpc/guides/simulate-json-rpc). Prices and logos come
 * from a service there and are absent here, and so are `balanceChanges`, which are dollar values; calls and events are
 * decoded with the ABIs that this node knows.
 */
import { z } from 'zod'
import { toQuantity } from '../../encoding/hex.ts'
import type { ExecutedStep } from '../../engine/queries/simulate-steps.ts'
import { NodeError } from '../../errors.ts'
import { type Context, method } from '../method.ts'
import { arrayOf, optional } from '../parameter.ts'
import { placedSimulation } from '../simulation-options.ts'
import {
  MOST_TRANSACTIONS,
  namedTransactions,
  onlyTransaction,
  simulateTransactions,
  withoutZeroGas,
} from '../transaction-simulation.ts'
import { placedRequest } from '../typed-request.ts'
import { BlockOverrides } from '../wire/block-overrides.ts'
import { CallBlock } from '../wire/block-reference.ts'
import { NamedCallObject } from '../wire/call.ts'
import { StateOverrideSet } from '../wire/overrides.ts'
import { QuantityText } from '../wire/scalars.ts'
import { type TenderlyReply, TenderlySimulation, toTenderlySimulation } from '../wire/tenderly.ts'
import { replySize } from '../wire/trace/reply-size.ts'
import { COW, COW1 } from './example-accounts.ts'

const PLACE = {
  block: optional(CallBlock, 'latest'),
  stateOverrides: optional(StateOverrideSet, null),
  blockOverrides: optional(BlockOverrides, null),
} as const

const replyOf = (context: Context): TenderlyReply => ({
  names: context.engine.names,
  size: replySize(context),
})

/** Throws `transaction-refused` for a transaction that could not run; `path` names it. */
function shown(step: ExecutedStep, path: string, reply: TenderlyReply): z.infer<typeof TenderlySimulation> {
  if (step.root === undefined) {
    throw new NodeError('transaction-refused', `${path}: ${step.failure?.reason ?? ''}`)
  }
  return toTenderlySimulation(step, reply)
}

const TRANSFER = { from: COW, to: COW1, value: '0x1', gas: '0x0', gasPrice: '0x0' }
const EXAMPLE = {
  status: true,
  gasUsed: '0x5208',
  cumulativeGasUsed: '0x5208',
  blockNumber: '0x0',
  type: '0x0',
  logsBloom: `0x${'0'.repeat(512)}`,
  logs: [],
  trace: [
    {
      type: 'CALL',
      from: COW,
      to: COW1,
      gas: '0x989680',
      gasUsed: '0x5208',
      value: '0x1',
      input: '0x',
      output: '0x',
      subtraces: 0,
      traceAddress: [],
    },
  ],
  assetChanges: [
    {
      assetInfo: { standard: 'NativeCurrency', type: 'Native', symbol: 'COIN', name: 'Coin', decimals: 18 },
      type: 'Transfer',
      from: COW,
      to: COW1,
      rawAmount: '0x1',
      amount: '0.000000000000000001',
    },
  ],
  stateChanges: [
    {
      address: COW,
      nonce: { previousValue: '0x0', newValue: '0x1' },
      balance: { previousValue: '0xc9f2c9cd04674edea40000000', newValue: '0xc9f2c9cd04674edea3fffffff' },
    },
    {
      address: COW1,
      balance: { previousValue: '0xc9f2c9cd04674edea40000000', newValue: '0xc9f2c9cd04674edea40000001' },
    },
  ],
}

export const tenderly_simulateTransaction = method({
  name: 'tenderly_simulateTransaction',
  heavy: true,
  summary:
    'Simulates a transaction as the node of Tenderly does: logs, calls, transfers of assets and changed accounts, decoded where this node knows the ABI. The nonce is not checked, gas 0 is no limit, and without a gas price there is no fee. There are no prices and logos, and no `balanceChanges`, which are dollar values. `gas` and `gasUsed` of the first call include the intrinsic gas.',
  params: { transaction: NamedCallObject, ...PLACE },
  result: () => TenderlySimulation,
  errors: ['block-not-found', 'transaction-refused'],
  examples: [{ params: [TRANSFER, 'latest'], result: EXAMPLE }],
  async run({ transaction, ...sent }, context) {
    const [step] = await simulateTransactions(onlyTransaction(transaction), sent, context)
    if (step === undefined) throw new Error('the step has no result')
    return shown(step, 'transaction', replyOf(context))
  },
})

export const tenderly_simulateBundle = method({
  name: 'tenderly_simulateBundle',
  heavy: true,
  summary:
    'Simulates transactions in one block, each on the state that the previous one left, and returns for each what tenderly_simulateTransaction returns.',
  params: {
    transactions: arrayOf(NamedCallObject, { indexed: true, most: MOST_TRANSACTIONS }),
    ...PLACE,
  },
  result: () => z.array(TenderlySimulation),
  errors: ['block-not-found', 'transaction-refused'],
  examples: [{ params: [[TRANSFER], 'latest'], result: [EXAMPLE] }],
  async run({ transactions, ...sent }, context) {
    const steps = await simulateTransactions(namedTransactions(transactions), sent, context)
    const reply = replyOf(context)
    return steps.map((step, index) => shown(step, `transactions[${index}]`, reply))
  },
})

export const tenderly_estimateGas = method({
  name: 'tenderly_estimateGas',
  heavy: true,
  summary:
    'The least gas limit with which a transaction succeeds, as eth_estimateGas finds it, and the gas that it then uses, refunds deducted.',
  params: { transaction: NamedCallObject, ...PLACE },
  result: () => z.strictObject({ gas: QuantityText, gasUsed: QuantityText }),
  errors: ['block-not-found', 'transaction-refused', 'reverted'],
  examples: [{ params: [TRANSFER], result: { gas: '0x5208', gasUsed: '0x5208' } }],
  async run({ transaction, ...sent }, context) {
    const place = placedSimulation(sent, context)
    const request = withoutZeroGas(transaction)
    const message = placedRequest(request, context.engine, place)
    const gas = await context.engine.queries.estimateGas(message, place.reference, 'none', place.options)
    const [step] = await simulateTransactions(onlyTransaction({ ...request, gas }), sent, context)
    if (step === undefined) throw new Error('the step has no result')
    const { gasUsed } = shown(step, 'transaction', replyOf(context))
    return { gas: toQuantity(gas), gasUsed }
  },
})

/** The methods of this file, in the order of the document. */
export const TENDERLY_METHODS = [
  tenderly_simulateTransaction,
  tenderly_simulateBundle,
  tenderly_estimateGas,
] as const
