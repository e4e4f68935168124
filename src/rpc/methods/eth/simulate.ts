/** Methods that run several messages in a row without sending them. */
import { z } from 'zod'
import { concat } from '../../../encoding/bytes.ts'
import { keccakHex } from '../../../encoding/hash.ts'
import { fromHex, toHex } from '../../../encoding/hex.ts'
import type { BundledTransaction, SequencedCall } from '../../../engine/queries/call-sequence.ts'
import { invalidParams, NodeError } from '../../../errors.ts'
import { requireBase, requireCallable } from '../../block-lookup.ts'
import { timeLeft } from '../../deadlines.ts'
import { integer } from '../../json-forms.ts'
import { method } from '../../method.ts'
import {
  arrayOf,
  either,
  expected,
  object,
  optional,
  orNull,
  type Parameter,
  scalar,
  type ValueOf,
} from '../../parameter.ts'
import { requireOwnChain, simulatedOverridesOf, stateOverridesOf } from '../../simulation-options.ts'
import { heightOf, simulatedRequest } from '../../typed-request.ts'
import {
  BLOCK_OVERRIDE_MEMBERS,
  BlockOverridesObject,
  blockOverridesOf,
  namedTwice,
} from '../../wire/block-overrides.ts'
import { CallBlock, StateBlock } from '../../wire/block-reference.ts'
import { PricedCalls } from '../../wire/call.ts'
import { StateOverrideSet } from '../../wire/overrides.ts'
import { AddressText, Data, DataText, HashText, wholeNumber } from '../../wire/scalars.ts'
import { SimulatedBlockObject, SimulationObject, toRpcSimulatedBlock } from '../../wire/simulation.ts'
import { COW, COW1, NOBODY } from '../example-accounts.ts'
import { readSigned } from './submit.ts'

export const eth_simulateV1 = method({
  name: 'eth_simulateV1',
  heavy: true,
  summary:
    'Simulates blocks of calls on top of a block, each on the state after the previous one, and returns the blocks with the results of their calls. The blocks have no REMASC transaction; `baseFeePerGas` overrides the minimum gas price. All calls together may use the gas of `--call-gas-cap`.',
  params: { payload: SimulationObject, block: optional(StateBlock, 'latest') },
  result: () => z.array(SimulatedBlockObject),
  errors: [
    'base-not-found',
    'nonce-too-low',
    'nonce-too-high',
    'price-too-low',
    'intrinsic-gas-too-low',
    'cost-not-covered',
    'block-gas-exceeded',
    'block-order',
    'timestamp-order',
    'precompile-moved-to-itself',
    'precompiles-moved-to-same',
    'initcode-too-long',
    'simulation-limit',
  ],
  examples: [
    {
      params: [{ blockStateCalls: [{ calls: [{ from: COW, to: NOBODY, value: '0x5' }] }] }, 'earliest'],
      result: [
        {
          number: '0x1',
          hash: '0xf0ddc6a97ffefb745991ba744019aa29ad7e9dfacea055c4fa6d5e89dcacf076',
          parentHash: '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe',
          mixHash: '0x0000000000000000000000000000000000000000000000000000000000000000',
          nonce: '0x0000000000000000',
          sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
          logsBloom:
            '0x00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',
          transactionsRoot: '0xeaed58131df0cba3d68fdb3cf37e3e358b07c4b1808d95415dbd88dc971c6c30',
          stateRoot: '0x488cc8408d81c8bb26f593ea9ac5494bb55cea0f2f1a07d15c320e5539c7e6d4',
          receiptsRoot: '0xf98d6a85d8c70e7d098c465900328549add3b69cc63f5e34a148338dda3669a7',
          miner: '0x0000000000000000000000000000000000000000',
          difficulty: '0x1',
          totalDifficulty: '0x2',
          extraData: '0x',
          size: '0x1f9',
          gasLimit: '0x989680',
          gasUsed: '0x5208',
          timestamp: '0xa',
          transactions: ['0xff7c764511560cc8f43e2f9d6e7291a1de3a99689bc007059df929cb9598a754'],
          uncles: [],
          minimumGasPrice: '0x0',
          bitcoinMergedMiningHeader: '0x',
          bitcoinMergedMiningCoinbaseTransaction: '0x',
          bitcoinMergedMiningMerkleProof: '0x',
          hashForMergedMining: '0xf0ddc6a97ffefb745991ba744019aa29ad7e9dfacea055c4fa6d5e89dcacf076',
          paidFees: '0x0',
          cumulativeDifficulty: '0x1',
          rskPteEdges: [],
          baseEvent: null,
          calls: [{ status: '0x1', returnData: '0x', gasUsed: '0x5208', maxUsedGas: '0x5208', logs: [] }],
        },
      ],
    },
  ],
  async run({ payload, block }, context) {
    const { engine } = context
    const {
      blockStateCalls,
      validation = false,
      traceTransfers = false,
      returnFullTransactions = false,
    } = payload
    if (blockStateCalls.length === 0) throw invalidParams('payload.blockStateCalls: empty input')
    let height = heightOf(block.reference, engine)
    const blocks = blockStateCalls.map(({ blockOverrides = {}, stateOverrides, calls = [] }, index) => {
      const name = `payload.blockStateCalls[${index}]`
      height = blockOverrides.number ?? height + 1
      const own = height
      const requests = calls.map((call, at) => {
        requireOwnChain(call, `${name}.calls[${at}]`, engine.config)
        return simulatedRequest(call, engine, () => own, `${name}.calls[${at}]`)
      })
      return {
        name,
        overrides: blockOverrides,
        stateOverrides:
          stateOverrides && simulatedOverridesOf(stateOverrides, context, `${name}.stateOverrides`),
        calls: requests,
      }
    })
    requireBase(block, engine.queries)
    const simulated = await engine.queries.simulateBlocks({
      base: block.reference,
      blocks,
      validation,
      traceTransfers,
      timeoutMs: timeLeft(context),
    })
    return simulated.map((one) => toRpcSimulatedBlock(one, returnFullTransactions, engine.config))
  },
})

/** How many transactions of the block run before the bundles; -1 means all. */
const TransactionCount: Parameter<number | undefined> = either(
  (value) => value === -1,
  scalar({
    form: integer(-1, -1),
    decode: () => undefined,
    refusal: (_, name) => expected(name, '-1'),
  }),
  wholeNumber('number of transactions; -1: all', Number.MAX_SAFE_INTEGER),
)

const Bundles = arrayOf(
  object(
    { transactions: PricedCalls, blockOverride: BlockOverridesObject },
    { required: ['transactions'], nullIsAbsent: true },
  ),
  { indexed: true },
)

const StateContextObject = object(
  { blockNumber: StateBlock, transactionIndex: TransactionCount },
  { nullIsAbsent: true },
)
const StateContext: Parameter<ValueOf<typeof StateContextObject>> = orNull(StateContextObject, {})

function answerOf(call: SequencedCall) {
  if ('refusal' in call) return { error: call.refusal.message }
  const { failure, output } = call.outcome
  return failure === undefined ? { value: toHex(output) } : { error: failure.reason }
}

export const eth_callMany = method({
  name: 'eth_callMany',
  heavy: true,
  summary:
    'Executes bundles of calls in order on the state of a block, or on the state after its first `transactionIndex` transactions; returns the output or error of each call. Each bundle has a block of its own.',
  params: {
    bundles: Bundles,
    context: optional(StateContext, null),
    stateOverrides: optional(StateOverrideSet, null),
  },
  result: () =>
    z.array(z.array(z.union([z.strictObject({ value: DataText }), z.strictObject({ error: z.string() })]))),
  errors: ['block-not-found'],
  examples: [
    {
      params: [
        [{ transactions: [{ to: NOBODY }] }],
        { blockNumber: 'latest' },
        { [NOBODY]: { code: '0x600160005260206000f3' } },
      ],
      result: [[{ value: `0x${'1'.padStart(64, '0')}` }]],
    },
  ],
  async run({ bundles, context: place, stateOverrides }, context) {
    const { engine } = context
    if (bundles.length === 0) throw invalidParams('bundles: the list is empty')
    const overrides = stateOverridesOf(stateOverrides, context, 'stateOverrides')
    const { blockNumber, transactionIndex } = place
    if (blockNumber !== undefined) requireCallable(blockNumber, engine.queries)
    const reference = blockNumber?.reference ?? { tag: 'latest' as const }
    let next = heightOf(reference, engine)
    const sequence = bundles.map(({ transactions, blockOverride = {} }, index) => {
      const height = blockOverride.number ?? next
      next = height + 1
      const calls = transactions.map((call, at) =>
        simulatedRequest(call, engine, () => height, `bundles[${index}].transactions[${at}]`),
      )
      return { overrides: blockOverride, calls }
    })
    const results = await engine.queries.callMany(
      {
        reference,
        transactionCount: transactionIndex,
        stateOverrides: overrides,
        timeoutMs: timeLeft(context),
      },
      sequence,
    )
    return results.map((bundle) => bundle.map(answerOf))
  },
})

/** An amount of wei in decimal text, as in the specification of eth_callBundle. */
const Decimal = z.string().regex(/^[0-9]+$/)

const BundleObject = object(
  {
    txs: arrayOf(Data),
    stateBlockNumber: CallBlock,
    timeout: wholeNumber('milliseconds', Number.MAX_SAFE_INTEGER),
    stateOverrides: StateOverrideSet,
    ...BLOCK_OVERRIDE_MEMBERS,
  },
  { required: ['txs', 'blockNumber'], nullIsAbsent: true, check: namedTwice },
)

export const eth_callBundle = method({
  name: 'eth_callBundle',
  heavy: true,
  summary:
    'Executes signed transactions in order in one block on the state of another block, and returns the result and the fee of each. `gasFees` go to the REMASC contract, which pays the coinbase later; here they count as paid to the coinbase.',
  params: { bundle: BundleObject },
  result: () =>
    z.strictObject({
      bundleGasPrice: Decimal,
      bundleHash: HashText,
      coinbaseDiff: Decimal,
      ethSentToCoinbase: Decimal,
      gasFees: Decimal,
      results: z.array(
        z.strictObject({
          coinbaseDiff: Decimal,
          ethSentToCoinbase: Decimal,
          fromAddress: AddressText,
          gasFees: Decimal,
          gasPrice: Decimal,
          gasUsed: z.int(),
          toAddress: AddressText.nullable(),
          txHash: HashText,
          value: DataText.optional(),
          revert: DataText.optional(),
          error: z.string().optional(),
        }),
      ),
      stateBlockNumber: z.int(),
      totalGasUsed: z.int(),
    }),
  errors: ['block-not-found', 'transaction-refused'],
  examples: [
    {
      params: [
        {
          txs: [
            '0xf85f8001825208947986b3df570230288501eea3d890bd66948c9b79018065a0ed009c50edd6adf86011e28200b5a16eb58f9515c71727eb6500df52ea93f01ba05ef1c506a89b2d519fae419b795524db87c71f6e68a34c52f27cd944e0173cc6',
          ],
          blockNumber: '0x1',
          stateBlockNumber: 'latest',
        },
      ],
      result: {
        bundleGasPrice: '1',
        bundleHash: '0x9a88143f0c05df0630253758ed7536352f1aa1745a11e263c2e99f4a5506a4fb',
        coinbaseDiff: '21000',
        ethSentToCoinbase: '0',
        gasFees: '21000',
        results: [
          {
            coinbaseDiff: '21000',
            ethSentToCoinbase: '0',
            fromAddress: COW,
            gasFees: '21000',
            gasPrice: '1',
            gasUsed: 21000,
            toAddress: COW1,
            txHash: '0x8a6f66e7e1c0edaa6eafc05bc22f8f3161efefb98e2dae4f638aeb764011674c',
            value: '0x',
          },
        ],
        stateBlockNumber: 0,
        totalGasUsed: 21000,
      },
    },
  ],
  async run({ bundle }, context) {
    const { queries, config } = context.engine
    const { txs, stateBlockNumber, stateOverrides: overrides, timeout = 0, ...block } = bundle
    if (txs.length === 0) throw invalidParams('bundle.txs: the list is empty')
    const stateOverrides = overrides && stateOverridesOf(overrides, context, 'bundle.stateOverrides')
    if (stateBlockNumber !== undefined) requireCallable(stateBlockNumber, queries)
    const reference = stateBlockNumber?.reference ?? { tag: 'latest' as const }
    const base = (await queries.block(reference))?.executed.block.header
    if (base === undefined) throw new NodeError('block-not-found', 'Block not found')
    const left = timeLeft(context)
    const done = await queries.callBundle(
      {
        reference,
        stateOverrides,
        blockOverrides: {
          timestamp: base.timestamp + config.difficulty.goalSeconds,
          ...blockOverridesOf(block),
        },
        timeoutMs: timeout === 0 || (left !== 0 && left < timeout) ? left : timeout,
      },
      txs.map((bytes) => readSigned(bytes, context.engine)),
    )
    const sum = (part: (one: BundledTransaction) => bigint) => done.reduce((all, one) => all + part(one), 0n)
    const [fees, sent] = [sum(({ outcome }) => outcome.fee), sum(({ sentToCoinbase }) => sentToCoinbase)]
    const gasUsed = sum(({ outcome }) => outcome.gasUsed)
    return {
      bundleGasPrice: String(gasUsed === 0n ? 0n : (fees + sent) / gasUsed),
      bundleHash: keccakHex(concat(...done.map(({ transaction }) => fromHex(transaction.hash)))),
      coinbaseDiff: String(fees + sent),
      ethSentToCoinbase: String(sent),
      gasFees: String(fees),
      results: done.map(bundledResult),
      stateBlockNumber: base.number,
      totalGasUsed: Number(gasUsed),
    }
  },
})

function bundledResult({ transaction, outcome, sentToCoinbase }: BundledTransaction) {
  const { fee, gasUsed, failure, output } = outcome
  return {
    coinbaseDiff: String(fee + sentToCoinbase),
    ethSentToCoinbase: String(sentToCoinbase),
    fromAddress: transaction.from,
    gasFees: String(fee),
    gasPrice: String(transaction.gasPrice),
    gasUsed: Number(gasUsed),
    toAddress: transaction.to,
    txHash: transaction.hash,
    ...(failure === undefined
      ? { value: toHex(output) }
      : { error: failure.reason, revert: toHex(failure.output) }),
  }
}

/** The methods of this file, in the order of the document. */
export const SIMULATE_METHODS = [eth_simulateV1, eth_callMany, eth_callBundle] as const
