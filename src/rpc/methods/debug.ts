/**
 * Traces of single transactions, of blocks and of calls, by a tracer of the caller's choice
 * (docs/rpc-reference.md#711-debug).
 */
import { z } from 'zod'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateOverrides } from '../../engine/engine.ts'
import { invalidParams } from '../../errors.ts'
import { TraceBudget } from '../../evm/tracing/trace-budget.ts'
import { requireCallable } from '../block-lookup.ts'
import { timeLeft } from '../deadlines.ts'
import { type Context, method } from '../method.ts'
import { optional, type Parameter } from '../parameter.ts'
import { jsonArray, jsonObject } from '../raw-json.ts'
import { type BlockArgument, CallBlock, LookupBlock } from '../wire/block-reference.ts'
import { CallObject } from '../wire/call.ts'
import { OverrideSet } from '../wire/overrides.ts'
import { BlockHash, QuantityText, TransactionHash } from '../wire/scalars.ts'
import { NOWHERE, toRpcCallTree } from '../wire/trace/call-tracer.ts'
import { ExactAddress } from '../wire/trace/filter.ts'
import { type TraceOptions, TraceOptionsObject } from '../wire/trace/options.ts'
import { replyRoom } from '../wire/trace/reply-room.ts'
import { startTrace, type TraceRun } from '../wire/trace/tracers.ts'
import { COW, COW1 } from './example-accounts.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`

const TraceResult = z.unknown().describe('What the tracer says; null when there is no such transaction')
const BlockTraces = z
  .unknown()
  .describe(
    'An array with an entry a transaction: by the default tracer its object, by the others { txHash, result }; null when there is no such block',
  )

function budgetOf({ options }: Context): TraceBudget {
  return new TraceBudget(options.maxTraceBytes, options.maxTraceAnswer)
}

/** The traces of a block's transactions, or of the one at an index. */
async function traceTransactions(
  block: ExecutedBlock,
  options: TraceOptions,
  context: Context,
  only?: number,
): Promise<readonly { readonly hash: Hex; readonly result: unknown }[]> {
  const { engine } = context
  const { transactions } = block.block
  const placeOf = (index: number) => ({
    transactionHash: transactions[index]?.hash ?? NOWHERE.transactionHash,
    firstLogIndex: block.receipts.slice(0, index).reduce((sum, { logs }) => sum + logs.length, 0),
  })
  if (transactions.length === 0) return []
  const room = replyRoom(context)
  if (options.tracer === 'callTracer') {
    const { trace, traces } = engine.queries
    const found =
      only === undefined
        ? await traces(block, timeLeft(context))
        : [await trace(block, only, timeLeft(context))]
    return found.map(({ transaction, index, root }) => ({
      hash: transaction.hash,
      result: toRpcCallTree(root, options.flags, placeOf(index), room),
    }))
  }
  const budget = budgetOf(context)
  const runs = new Map<number, TraceRun>()
  await engine.queries.replay(
    block,
    (_, index) => {
      if (only !== undefined && index !== only) return undefined
      const run = startTrace(options, budget, room)
      runs.set(index, run)
      return run.tracer
    },
    { lastIndex: only, timeoutMs: timeLeft(context) },
  )
  return [...runs].map(([index, run]) => {
    const place = placeOf(index)
    return { hash: place.transactionHash, result: run.result(place) }
  })
}

async function traceBlock(
  block: BlockArgument['reference'],
  options: TraceOptions,
  context: Context,
): Promise<unknown> {
  const view = await context.engine.queries.block(block)
  if (view === undefined) return null
  const found = await traceTransactions(view.executed, options, context)
  const entries = found.map(({ hash, result }) =>
    options.tracer === 'rskTracer'
      ? result
      : jsonObject([
          ['txHash', hash],
          ['result', result],
        ]),
  )
  return jsonArray(entries)
}

export const debug_traceTransaction = method({
  name: 'debug_traceTransaction',
  summary: 'Runs a mined transaction again and tells of it: struct logs, or what another tracer says.',
  params: { transactionHash: TransactionHash, options: optional(TraceOptionsObject, {}) },
  result: TraceResult,
  errors: ['block-not-found'],
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ transactionHash, options }, context) {
    const { block, index } = context.engine.queries.transaction(transactionHash) ?? {}
    if (block === undefined || index === undefined) return null
    return (await traceTransactions(block, options, context, index))[0]?.result ?? null
  },
})

export const debug_traceBlockByHash = method({
  name: 'debug_traceBlockByHash',
  summary: 'Runs a block again and tells of each transaction.',
  params: { blockHash: BlockHash, options: optional(TraceOptionsObject, {}) },
  result: BlockTraces,
  errors: ['block-not-found'],
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ blockHash, options }, context) {
    return traceBlock({ hash: blockHash }, options, context)
  },
})

export const debug_traceBlockByNumber = method({
  name: 'debug_traceBlockByNumber',
  summary: 'Runs a block again and tells of each transaction.',
  params: { block: LookupBlock, options: optional(TraceOptionsObject, {}) },
  result: BlockTraces,
  errors: ['block-not-found'],
  examples: [
    { params: ['earliest'], result: [] },
    { params: ['0xffffff', { tracer: 'callTracer' }], result: null },
  ],
  async run({ block, options }, context) {
    return traceBlock(block.reference, options, context)
  },
})

/** The options of a traced call: those of a trace, and pretended state. */
const CallTraceOptions: Parameter<{ options: TraceOptions; overrides: StateOverrides }> = {
  schema: z.intersection(
    TraceOptionsObject.schema,
    z.object({ stateOverrides: OverrideSet.schema.optional() }),
  ),
  read(value, name) {
    const options = TraceOptionsObject.read(value, name)
    const { stateOverrides, blockOverrides } = value as Record<string, unknown>
    if (blockOverrides !== undefined && blockOverrides !== null) {
      throw invalidParams(`Invalid ${name}.blockOverrides: a block cannot be overridden.`)
    }
    const overrides =
      stateOverrides === undefined || stateOverrides === null
        ? new Map()
        : OverrideSet.read(stateOverrides, `${name}.stateOverrides`)
    return { options, overrides }
  },
}

export const debug_traceCall = method({
  name: 'debug_traceCall',
  summary: 'Runs a message as eth_call does and tells of it.',
  params: {
    transaction: CallObject,
    block: optional(CallBlock, 'latest'),
    options: optional(CallTraceOptions, {}),
  },
  result: TraceResult,
  errors: ['block-not-found'],
  examples: [
    {
      params: [{ from: COW, to: COW1, value: '0x1', gas: '0x5208' }, 'latest', { tracer: 'callTracer' }],
      result: {
        type: 'CALL',
        from: COW,
        to: COW1,
        value: '0x1',
        gas: '0x5208',
        gasUsed: '0x5208',
        input: '0x',
        output: '0x',
      },
    },
  ],
  async run({ transaction, block, options: { options, overrides } }, context) {
    const { engine, session } = context
    const entitled = context.options.stateOverride && session.entitlements.has('stateOverride')
    if (overrides.size > 0 && !entitled) throw invalidParams('State override is not allowed')
    requireCallable(block, engine.queries)
    const run = startTrace(options, budgetOf(context), replyRoom(context))
    const pretended = overrides.size > 0 ? overrides : undefined
    await engine.queries.traceCall(transaction, block.reference, run.tracer, pretended, timeLeft(context))
    return run.result(NOWHERE)
  },
})

export const debug_wireProtocolQueueSize = method({
  name: 'debug_wireProtocolQueueSize',
  summary: 'Messages of other nodes that wait: none, since this node speaks to no other.',
  params: {},
  result: QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: () => '0x0' as const,
})

export const debug_accountTransactionQuota = method({
  name: 'debug_accountTransactionQuota',
  summary: 'Virtual gas that a sender may still spend, with --account-quota; null for one that has not sent.',
  params: { address: ExactAddress },
  result: z.strictObject({ timestamp: z.int(), availableVirtualGas: z.number() }).nullable(),
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
