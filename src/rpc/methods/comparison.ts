/** The method that compares this chain's rules with Ethereum's. */
import { z } from 'zod'
import type { RuleChoice } from '../../chain/rule-choice.ts'
import { ETHEREUM_FORKS, type EthereumFork } from '../../comparison/ethereum-forks.ts'
import { GAS_GROUPS } from '../../comparison/gas-groups.ts'
import type {
  ComparisonSide,
  Divergence,
  EthereumBlock,
  NamedStep,
  PriceDifference,
  RuleComparison,
  RuleSetComparison,
} from '../../comparison/report.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import { timeLeft } from '../deadlines.ts'
import { names, text } from '../json-forms.ts'
import { method } from '../method.ts'
import {
  arrayOf,
  either,
  expected,
  mapOf,
  mapped,
  object,
  optional,
  orNull,
  type Parameter,
  scalar,
} from '../parameter.ts'
import {
  AddressText,
  DataText,
  HashText,
  QuantityText,
  TransactionHash,
  wholeNumber,
} from '../wire/scalars.ts'

const Fork: Parameter<EthereumFork> = scalar({
  form: names(...ETHEREUM_FORKS),
  decode: (value) => value.toLowerCase() as EthereumFork,
  refusal: (_, name) => expected(name, `one of ${ETHEREUM_FORKS.join(', ')}`),
})

const Side = z.lazy(() =>
  z.object({
    status: z.enum(['succeeded', 'reverted', 'failed', 'rejected']),
    reason: z.string().nullable(),
    gasUsed: QuantityText,
    refund: QuantityText,
    output: DataText,
    contractAddress: AddressText.nullable(),
    logs: z.array(z.object({ address: AddressText, topics: z.array(HashText), data: DataText })),
  }),
)

const Step = z.lazy(() =>
  z.object({
    op: z.string(),
    pc: z.int(),
    depth: z.int(),
    gasCost: z.int(),
  }),
)

/** The block of the transaction, run by Ethereum's rules on its parent's state without the REMASC transaction. */
const EthereumBlockReport = z.lazy(() =>
  z.object({
    transactions: z.int(),
    rejected: z.array(z.object({ hash: HashText, reason: z.string() })),
    gasUsed: QuantityText,
    transactionsRoot: HashText,
    receiptsRoot: HashText,
  }),
)

/** The wire form of a report. Gas of groups and steps in plain numbers. */
export const ComparisonReport = z.lazy(() =>
  z.object({
    fork: z.string(),
    chain: Side,
    ethereum: Side,
    sameResult: z.boolean(),
    sameLogs: z.boolean(),
    gas: z.array(z.object({ group: z.enum(GAS_GROUPS), chain: z.int(), ethereum: z.int() })),
    firstPriceDifference: z
      .object({ index: z.int(), address: AddressText, chain: Step, ethereum: Step })
      .nullable(),
    parting: z.object({ index: z.int(), chain: Step.nullable(), ethereum: Step.nullable() }).nullable(),
    ethereumBlock: EthereumBlockReport.nullable(),
  }),
)

function sideOf({
  status,
  reason,
  gasUsed,
  refund,
  output,
  created,
  logs,
}: ComparisonSide): z.infer<typeof Side> {
  return {
    status,
    reason: reason ?? null,
    gasUsed: toQuantity(gasUsed),
    refund: toQuantity(refund),
    output: toHex(output),
    contractAddress: created ?? null,
    logs: logs.map(({ address, topics, data }) => ({ address, topics: [...topics], data: toHex(data) })),
  }
}

function stepOf({ name, pc, depth, cost }: NamedStep): z.infer<typeof Step> {
  return { op: name, pc: pc, depth, gasCost: cost }
}

function priceOf({ index, address, chain, ethereum }: PriceDifference) {
  return { index, address, chain: stepOf(chain), ethereum: stepOf(ethereum) }
}

function divergenceOf({ index, chain, ethereum }: Divergence) {
  return { index, chain: chain ? stepOf(chain) : null, ethereum: ethereum ? stepOf(ethereum) : null }
}

function ethereumBlockOf({
  included,
  rejected,
  gasUsed,
  transactionsRoot,
  receiptsRoot,
}: EthereumBlock): z.infer<typeof EthereumBlockReport> {
  return {
    transactions: included,
    rejected: rejected.map(({ hash, reason }) => ({ hash, reason })),
    gasUsed: toQuantity(gasUsed),
    transactionsRoot,
    receiptsRoot,
  }
}

function reportOf(comparison: RuleComparison): z.infer<typeof ComparisonReport> {
  const { fork, chain, ethereum, sameResult, sameLogs, firstPriceDifference, divergence, ethereumBlock } =
    comparison
  return {
    fork,
    chain: sideOf(chain),
    ethereum: sideOf(ethereum),
    sameResult,
    sameLogs,
    gas: GAS_GROUPS.map((group) => ({
      group,
      chain: Number(chain.gas.get(group)),
      ethereum: Number(ethereum.gas.get(group)),
    })),
    firstPriceDifference: firstPriceDifference ? priceOf(firstPriceDifference) : null,
    parting: divergence ? divergenceOf(divergence) : null,
    ethereumBlock: ethereumBlock ? ethereumBlockOf(ethereumBlock) : null,
  }
}

/** The wire form of a report about other rules of this chain. Gas of groups and steps in plain numbers. */
export const RuleSetReport = z.lazy(() =>
  z.object({
    chain: Side,
    other: Side,
    sameResult: z.boolean(),
    sameLogs: z.boolean(),
    gas: z.array(z.object({ group: z.enum(GAS_GROUPS), chain: z.int(), other: z.int() })),
    firstPriceDifference: z.object({ index: z.int(), chain: Step, other: Step }).nullable(),
    divergence: z.object({ index: z.int(), chain: Step.nullable(), other: Step.nullable() }).nullable(),
  }),
)

function ruleSetReportOf(comparison: RuleSetComparison): z.infer<typeof RuleSetReport> {
  const { chain, other, sameResult, sameLogs, firstPriceDifference: price, divergence } = comparison
  return {
    chain: sideOf(chain),
    other: sideOf(other),
    sameResult,
    sameLogs,
    gas: GAS_GROUPS.map((group) => ({
      group,
      chain: Number(chain.gas.get(group)),
      other: Number(other.gas.get(group)),
    })),
    firstPriceDifference: price
      ? { index: price.index, chain: stepOf(price.chain), other: stepOf(price.other) }
      : null,
    divergence: divergence
      ? {
          index: divergence.index,
          chain: divergence.chain ? stepOf(divergence.chain) : null,
          other: divergence.other ? stepOf(divergence.other) : null,
        }
      : null,
  }
}

const RuleName = scalar({
  form: text(/^\w{1,32}(@\d{1,10})?$/),
  decode: (value) => value,
  refusal: (_, name) => expected(name, 'the name of a rule or an upgrade'),
})
const RuleHeight = orNull(wholeNumber('first block of the rule', 2 ** 31 - 1), null)

/** The name of an upgrade, `next`, or what the settings of the same names take. */
const Rules: Parameter<RuleChoice> = either(
  (value) => typeof value === 'string',
  mapped(RuleName, (rules): RuleChoice => ({ rules })),
  object(
    {
      rules: either(
        (value) => typeof value === 'string',
        RuleName,
        mapped(
          mapOf(RuleName, RuleHeight, (name, key) => `${name} key ${key}`),
          (heights) => Object.fromEntries(heights),
        ),
      ),
      activate: arrayOf(RuleName, { most: 256, indexed: true }),
      deactivate: arrayOf(RuleName, { most: 256, indexed: true }),
    },
    { closed: true },
  ),
)

const UNKNOWN: Hex = `0x${'9'.repeat(64)}`

export const debug_compareRules = method({
  name: 'debug_compareRules',
  summary:
    "Compares a mined transaction under this chain's rules and under Ethereum's; with the roots of its block under Ethereum's rules.",
  params: { transaction: TransactionHash, fork: optional(Fork, 'cancun') },
  result: () => ComparisonReport.nullable(),
  errors: ['block-not-found', 'limit-exceeded'],
  examples: [{ params: [UNKNOWN, 'london'], result: null }],
  async run({ transaction, fork }, context) {
    const comparison = await context.engine.queries.compareRules(transaction, fork, timeLeft(context))
    return comparison === undefined ? null : reportOf(comparison)
  },
})

export const debug_compareRuleSets = method({
  name: 'debug_compareRuleSets',
  summary:
    "Compares a mined transaction under this chain's rules and under other rules of this chain, on the state that it ran on: the name of an upgrade, `next`, or `rules`, `activate` and `deactivate` as the options of these names take them.",
  params: { transaction: TransactionHash, rules: Rules },
  result: () => RuleSetReport.nullable(),
  errors: ['limit-exceeded'],
  examples: [{ params: [UNKNOWN, 'vetiver900'], result: null }],
  async run({ transaction, rules }, context) {
    const { engine } = context
    const comparison = await engine.queries.compareRuleSets(transaction, rules, timeLeft(context))
    return comparison === undefined ? null : ruleSetReportOf(comparison)
  },
})

/** The methods of this file, in the order of the document. */
export const COMPARISON_METHODS = [debug_compareRules, debug_compareRuleSets] as const
