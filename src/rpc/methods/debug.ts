/**
 * Traces of single transactions, of blocks and of calls, by a tracer of the caller's choice
 * (docs/internals/rpc-reference.md#711-debug).
 */
import { z } from 'zod'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { ReplayChanges } from '../../execution/request.ts'
import { timeLeft } from '../deadlines.ts'
import { type Context, method } from '../method.ts'
import { named, object, optional, type Parameter } from '../parameter.ts'
import { jsonArray, jsonObject } from '../raw-json.ts'
import { placedSimulation, replayChanges, requireIndexWithin } from '../simulation-options.ts'
import { traceLimits } from '../trace-limits.ts'
import { placedRequest } from '../typed-request.ts'
import { BlockOverrides } from '../wire/block-overrides.ts'
import { type BlockArgument, CallBlock } from '../wire/block-reference.ts'
import { CallObject } from '../wire/call.ts'
import { NO_OVERRIDES, StateOverrideSet } from '../wire/overrides.ts'
import { BlockHash, Data, QuantityText, wholeNumber } from '../wire/scalars.ts'
import { ExactAddress, LooseHash, NumberedBlock } from '../wire/trace/filter.ts'
import { BlockTraces, TraceOptionsObject, TraceResult, traceOptionsIn } from '../wire/trace/registry.ts'
import { NOWHERE, type TraceOptions, type TracePlace, type TraceRun } from '../wire/trace/tracer-record.ts'
import { COW, COW1 } from './example-accounts.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`

/** The place of a block's transaction. */
function placeAt({ block, receipts }: ExecutedBlock, index: number): TracePlace {
  return {
    transactionHash: block.transactions[index]?.hash ?? NOWHERE.transactionHash,
    firstLogIndex: receipts.slice(0, index).reduce((sum, { logs }) => sum + logs.length, 0),
  }
}

/** A traced transaction of a block. */
interface Traced {
  readonly hash: Hex
  readonly result: object
}

/** The traces of a block's transactions, or of the one at an index, which may have changes. */
async function traceTransactions(
  block: ExecutedBlock,
  { setup }: TraceOptions,
  context: Context,
  only?: number,
  changes?: ReplayChanges,
): Promise<readonly Traced[]> {
  const { queries } = context.engine
  const { transactions } = block.block
  if (transactions.length === 0) return []
  const isShown = (index: number) =>
    only === undefined ? !(context.options.hideRemasc && transactions[index]?.isRemasc) : index === only
  const limits = traceLimits(context)
  const { ofCallTree } = setup
  if (ofCallTree !== undefined) {
    const found =
      only === undefined
        ? await queries.traces(block, timeLeft(context))
        : [await queries.trace(block, only, { changes, timeoutMs: timeLeft(context) })]
    const shown = found.filter(({ index }) => isShown(index))
    return shown.map(({ transaction, index, root }) => ({
      hash: transaction.hash,
      result: ofCallTree(root, placeAt(block, index), limits),
    }))
  }
  const runs = new Map<number, TraceRun>()
  await queries.replay(
    block,
    (_, index) => {
      if (!isShown(index)) return undefined
      const run = setup.start(limits)
      runs.set(index, run)
      return run.tracer
    },
    { lastIndex: only, changes, timeoutMs: timeLeft(context) },
  )
  return [...runs].map(([index, run]) => {
    const place = placeAt(block, index)
    return { hash: place.transactionHash, result: run.result(place) }
  })
}

async function traceBlock(
  block: BlockArgument['reference'],
  options: TraceOptions,
  context: Context,
): Promise<object | null> {
  const view = await context.engine.queries.block(block)
  return view === undefined ? null : traceExecuted(view.executed, options, context)
}

/** The traces of all transactions of a block. */
export async function traceExecuted(
  block: ExecutedBlock,
  requested: TraceOptions,
  context: Context,
): Promise<object> {
  const options = traceOptionsIn(context.options.dialect, requested)
  const found = await traceTransactions(block, options, context)
  const entries = found.map(({ hash, result }) =>
    options.tracer.isBareInBlocks
      ? result
      : jsonObject([
          ['txHash', hash],
          ['result', result],
        ]),
  )
  return jsonArray(entries)
}

/** The options of a trace, and members beside them. */
function withTraceOptions<T>(
  others: Parameter<T>,
): Parameter<{ readonly options: TraceOptions; readonly others: T }> {
  return {
    schema: () => z.intersection(TraceOptionsObject.schema(), others.schema()),
    read: (value, name) => ({
      options: TraceOptionsObject.read(value, name),
      others: others.read(value, name),
    }),
  }
}

const Changes = object(
  { stateOverrides: StateOverrideSet, blockOverrides: BlockOverrides, input: named(Data, 'hex text') },
  { nullIsAbsent: true },
)

export const debug_traceTransaction = method({
  name: 'debug_traceTransaction',
  summary:
    'Executes a mined transaction again and returns its trace: struct logs, or the result of another tracer. `stateOverrides` and `blockOverrides` change the state and the block that it runs on, `input` its data.',
  params: { transactionHash: LooseHash, options: optional(withTraceOptions(Changes), {}) },
  result: () => TraceResult.nullable(),
  errors: ['block-not-found', 'transaction-refused'],
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ transactionHash, options: { options, others } }, context) {
    const { transaction, block, index } =
      (transactionHash && context.engine.queries.transaction(transactionHash)) || {}
    const changes = replayChanges(others, transaction, context, 'options.')
    if (block === undefined || index === undefined) return null
    const wanted = traceOptionsIn(context.options.dialect, options)
    return (await traceTransactions(block, wanted, context, index, changes))[0]?.result ?? null
  },
})

export const debug_traceBlockByHash = method({
  name: 'debug_traceBlockByHash',
  summary: 'Executes a block again and returns the trace of each transaction.',
  params: { blockHash: BlockHash, options: optional(TraceOptionsObject, {}) },
  result: () => BlockTraces.nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ blockHash, options }, context) {
    return traceBlock({ hash: blockHash }, options, context)
  },
})

export const debug_traceBlockByNumber = method({
  name: 'debug_traceBlockByNumber',
  summary: 'Executes a block again and returns the trace of each transaction.',
  params: { block: NumberedBlock, options: optional(TraceOptionsObject, {}) },
  result: () => BlockTraces.nullable(),
  errors: ['block-not-found'],
  examples: [
    { params: ['earliest'], result: [] },
    { params: ['0xffffff', { tracer: 'callTracer' }], result: null },
  ],
  async run({ block, options }, context) {
    return traceBlock(block.reference, options, context)
  },
})

const CallOptions = object(
  {
    stateOverrides: StateOverrideSet,
    blockOverrides: BlockOverrides,
    txIndex: wholeNumber('How many transactions of the block have run; all unless given', 2 ** 31 - 1),
  },
  { nullIsAbsent: true },
)

export const debug_traceCall = method({
  name: 'debug_traceCall',
  summary:
    'Executes a message like eth_call and returns its trace; with `txIndex`, on the state before that transaction of the block.',
  params: {
    transaction: CallObject,
    block: optional(CallBlock, 'latest'),
    options: optional(withTraceOptions(CallOptions), {}),
  },
  result: () => TraceResult,
  errors: ['block-not-found'],
  examples: [
    {
      params: [{ from: COW, to: COW1, value: '0x1', gas: '0x5208' }, 'latest', { tracer: 'callTracer' }],
      result: {
        type: 'CALL',
        from: COW,
        to: COW1,
        value: '0x1',
        gas: '0x0',
        gasUsed: '0x5208',
        input: '0x',
        output: '0x',
      },
    },
  ],
  async run({ transaction, block, options: { options, others } }, context) {
    const { stateOverrides = NO_OVERRIDES, blockOverrides, txIndex } = others
    const sent = { block, stateOverrides, blockOverrides }
    const place = placedSimulation(sent, context, 'options.stateOverrides')
    if (txIndex !== undefined) await requireIndexWithin(txIndex, block, context, 'options.txIndex')
    const run = traceOptionsIn(context.options.dialect, options).setup.start(traceLimits(context))
    const request = placedRequest(transaction, context.engine, place)
    await context.engine.queries.traceCall(request, place.reference, run.tracer, {
      ...place.options,
      transactionCount: txIndex,
    })
    return run.result(NOWHERE)
  },
})

export const debug_wireProtocolQueueSize = method({
  name: 'debug_wireProtocolQueueSize',
  summary: 'Number of queued messages of peers: none, since this node has no peers.',
  params: {},
  result: () => QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: () => '0x0' as const,
})

export const debug_accountTransactionQuota = method({
  name: 'debug_accountTransactionQuota',
  answeredBy: 'leader',
  summary: 'Virtual gas left to a sender under --account-quota; null for a sender without transactions.',
  params: { address: ExactAddress },
  result: () => z.strictObject({ timestamp: z.int(), availableVirtualGas: z.number() }).nullable(),
  examples: [{ params: [COW], result: null }],
  run({ address }, { engine }) {
    const quota = engine.queries.accountQuota(address)
    return quota === undefined
      ? null
      : { timestamp: quota.since * 1000, availableVirtualGas: quota.available }
  },
})

/** The methods of this file, in the order of the document. */
export const DEBUG_METHODS = [
  debug_traceTransaction,
  debug_traceBlockByHash,
  debug_traceBlockByNumber,
  debug_traceCall,
  debug_wireProtocolQueueSize,
  debug_accountTransactionQuota,
] as const
