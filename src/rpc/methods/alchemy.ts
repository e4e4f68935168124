/**
 * Alchemy's simulations of transactions (https://www.alchemy.com/docs/reference/simulation-asset-changes). Logos come from
 * a service there and are null here; calls and events are decoded with the ABIs that this node knows.
 */
import { z } from 'zod'
import { invalidParams } from '../../errors.ts'
import { literals } from '../json-forms.ts'
import { type Context, method } from '../method.ts'
import { arrayOf, either, expected, object, optional, type Parameter, scalar } from '../parameter.ts'
import {
  MOST_TRANSACTIONS,
  namedTransactions,
  onlyTransaction,
  simulateTransactions,
} from '../transaction-simulation.ts'
import {
  AssetChangesObject,
  type ExecutionFormat,
  ExecutionObject,
  toAssetChanges,
  toExecution,
} from '../wire/alchemy.ts'
import { type BlockArgument, CallBlock } from '../wire/block-reference.ts'
import { type CallArgument, NamedCallObject } from '../wire/call.ts'
import { NO_OVERRIDES } from '../wire/overrides.ts'
import { replySize } from '../wire/trace/reply-size.ts'
import { COW, COW1 } from './example-accounts.ts'

const Transactions = arrayOf(NamedCallObject, {
  indexed: true,
  most: MOST_TRANSACTIONS,
})

const Format: Parameter<ExecutionFormat> = scalar({
  form: literals('FLAT', 'NESTED'),
  decode: (value) => value,
  refusal: (_, name) => expected(name, 'FLAT or NESTED'),
})
const FormatOptions = object({ format: Format }, { nullIsAbsent: true })

const isText = (value: unknown): boolean => typeof value === 'string'
const isPlainText = (value: unknown): boolean => isText(value) || typeof value === 'number'

/** Whether it is a call: an object, but none that names a block (EIP-1898). */
function isCall(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !('blockHash' in value || 'blockNumber' in value)
}

const CallOnly: Parameter<CallArgument> = {
  schema: () => z.intersection(NamedCallObject.schema(), z.looseObject({}).refine(isCall)),
  read: (value, name) => NamedCallObject.read(value, name),
}

/** The calls on a block, without overrides. */
function simulate(calls: ReadonlyMap<string, CallArgument>, block: BlockArgument, context: Context) {
  const sent = { block, stateOverrides: NO_OVERRIDES, blockOverrides: undefined }
  return simulateTransactions(calls, sent, context)
}

const replyOf = (context: Context) => ({ names: context.engine.names, size: replySize(context) })

const RULES =
  'The nonce is not checked, and without a gas price there is no fee. A transaction that fails, or cannot run, has an `error`.'
const ASSETS_SUMMARY =
  'and returns its transfers and approvals of the native coin and of tokens (ERC-20, ERC-721, ERC-1155), as Alchemy does: an approval without `tokenId` is for all tokens, one without `amount` for any amount, one of 0 takes it back. `logo` is null.'
const EXAMPLE_CHANGES = {
  changes: [
    {
      assetType: 'NATIVE',
      changeType: 'TRANSFER',
      from: COW,
      to: COW1,
      rawAmount: '1500000000000000000',
      contractAddress: null,
      tokenId: null,
      decimals: 18,
      symbol: 'COIN',
      name: 'Coin',
      logo: null,
      amount: '1.5',
    },
  ],
  gasUsed: '0x5208',
  error: null,
}
const TRANSFER = { from: COW, to: COW1, value: '0x14d1120d7b160000' }

export const alchemy_simulateAssetChanges = method({
  name: 'alchemy_simulateAssetChanges',
  summary: `Simulates a transaction ${ASSETS_SUMMARY} ${RULES}`,
  params: { transaction: NamedCallObject, block: optional(CallBlock, 'latest') },
  result: () => AssetChangesObject,
  errors: ['block-not-found'],
  examples: [{ params: [TRANSFER], result: EXAMPLE_CHANGES }],
  async run({ transaction, block }, context) {
    const [step] = await simulate(onlyTransaction(transaction), block, context)
    if (step === undefined) throw new Error('the step has no result')
    return toAssetChanges(step, replyOf(context))
  },
})

export const alchemy_simulateAssetChangesBundle = method({
  name: 'alchemy_simulateAssetChangesBundle',
  summary: `Simulates transactions, each on the state that the previous one left, and returns for each what alchemy_simulateAssetChanges returns.`,
  params: { transactions: Transactions, block: optional(CallBlock, 'latest') },
  result: () => z.array(AssetChangesObject),
  errors: ['block-not-found'],
  examples: [{ params: [[TRANSFER]], result: [EXAMPLE_CHANGES] }],
  async run({ transactions, block }, context) {
    const reply = replyOf(context)
    return (await simulate(namedTransactions(transactions), block, context)).map((step) =>
      toAssetChanges(step, reply),
    )
  },
})

/** A transaction, its block and the format of the result. */
interface SentExecution {
  readonly transaction: CallArgument
  readonly block: BlockArgument
  readonly format: ExecutionFormat
}

const LATEST = CallBlock.read('latest', 'block')

/** Reads both documented orders: transaction, block, options; and format, transaction, block. */
function sentExecution(
  first: CallArgument | ExecutionFormat,
  second: CallArgument | BlockArgument,
  third: BlockArgument | { readonly format?: ExecutionFormat },
): SentExecution {
  if (typeof first === 'string') {
    if ('reference' in second) throw invalidParams(expected('block', 'a transaction after the format'))
    return { format: first, transaction: second, block: 'reference' in third ? third : LATEST }
  }
  if (!('reference' in second)) throw invalidParams(expected('block', 'a block after the transaction'))
  if ('reference' in third) throw invalidParams(expected('options', 'an object'))
  return { format: third.format ?? 'FLAT', transaction: first, block: second }
}

const EXAMPLE_CALL = {
  type: 'CALL',
  from: COW,
  to: COW1,
  value: '0x14d1120d7b160000',
  gas: '0x989680',
  gasUsed: '0x5208',
  input: '0x',
  output: '0x',
  decoded: null,
}
const EXAMPLE_EXECUTION = { calls: [EXAMPLE_CALL], logs: [], error: null, revertReason: null }

export const alchemy_simulateExecution = method({
  name: 'alchemy_simulateExecution',
  summary: `Simulates a transaction and returns its calls and logs as Alchemy does, decoded where this node knows the ABI: \`FLAT\` as a list, or \`NESTED\` as the tree of calls with the logs of each. The parameters may also be format, transaction and block. \`authority\` is the only value that Alchemy documents. ${RULES}`,
  params: {
    transaction: either(isText, Format, NamedCallObject),
    block: optional(either(isCall, CallOnly, CallBlock), 'latest'),
    options: optional(either(isPlainText, CallBlock, FormatOptions), {}),
  },
  result: () => ExecutionObject,
  errors: ['block-not-found'],
  examples: [
    { params: [TRANSFER], result: EXAMPLE_EXECUTION },
    { params: ['NESTED', TRANSFER, 'latest'], result: EXAMPLE_CALL },
  ],
  async run({ transaction: first, block: second, options }, context) {
    const { transaction, block, format } = sentExecution(first, second, options)
    const [step] = await simulate(onlyTransaction(transaction), block, context)
    if (step === undefined) throw new Error('the step has no result')
    return toExecution(step, format, replyOf(context))
  },
})

export const alchemy_simulateExecutionBundle = method({
  name: 'alchemy_simulateExecutionBundle',
  summary:
    'Simulates transactions, each on the state that the previous one left, and returns for each what alchemy_simulateExecution returns.',
  params: {
    transactions: Transactions,
    block: optional(CallBlock, 'latest'),
    options: optional(FormatOptions, {}),
  },
  result: () => z.array(ExecutionObject),
  errors: ['block-not-found'],
  examples: [{ params: [[TRANSFER]], result: [EXAMPLE_EXECUTION] }],
  async run({ transactions, block, options: { format = 'FLAT' } }, context) {
    const reply = replyOf(context)
    return (await simulate(namedTransactions(transactions), block, context)).map((step) =>
      toExecution(step, format, reply),
    )
  },
})

/** The methods of this file, in the order of the document. */
export const ALCHEMY_METHODS = [
  alchemy_simulateAssetChanges,
  alchemy_simulateAssetChangesBundle,
  alchemy_simulateExecution,
  alchemy_simulateExecutionBundle,
] as const
