/** OpenEthereum's and Erigon's replays and traced calls: `trace`, `stateDiff` and `vmTrace` of a run. */
import { z } from 'zod'
import { checkChainId, decodeTransaction } from '../../chain/transaction.ts'
import { MAX_TRANSACTION_BYTES, sizeRefusal } from '../../engine/pool/policy.ts'
import { NodeError } from '../../errors.ts'
import { timeLeft } from '../deadlines.ts'
import { method } from '../method.ts'
import { arrayOf, optional, type Parameter, refuse, type ValueOf } from '../parameter.ts'
import { jsonArray } from '../raw-json.ts'
import { placedSimulation, REPLAY_CHANGES, replayChanges } from '../simulation-options.ts'
import { traceLimits } from '../trace-limits.ts'
import { placedRequest, readsTyped } from '../typed-request.ts'
import { shownTransactions } from '../wire/block.ts'
import { BlockOverrides } from '../wire/block-overrides.ts'
import { CallBlock } from '../wire/block-reference.ts'
import { CallObject } from '../wire/call.ts'
import { StateOverrideSet } from '../wire/overrides.ts'
import { Data, TransactionHash } from '../wire/scalars.ts'
import { TraceBlock } from '../wire/trace/filter.ts'
import {
  BlockReplayObject,
  ReplayObject,
  type ReplayRun,
  startReplay,
  TraceTypes,
} from '../wire/trace/replay.ts'
import { NOWHERE } from '../wire/trace/tracer-record.ts'
import { COW, COW1 } from './example-accounts.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`
/** Maximum number of calls per request: each adds a state overlay over the previous one. */
const MOST_CALLS = 100
/** A transfer by the account `cow`, with no trace requested. */
const BARE = { output: '0x', stateDiff: null, trace: [], vmTrace: null }

export const trace_call = method({
  name: 'trace_call',
  summary: 'Executes a message like eth_call and returns its traces: trace, stateDiff, vmTrace.',
  params: {
    transaction: CallObject,
    traceTypes: TraceTypes,
    block: optional(CallBlock, 'latest'),
    stateOverrides: optional(StateOverrideSet, null),
    blockOverrides: optional(BlockOverrides, null),
  },
  result: () => ReplayObject,
  errors: ['block-not-found'],
  examples: [{ params: [{ from: COW, to: COW1, value: '0x1' }, [], 'latest'], result: BARE }],
  async run({ transaction, traceTypes, ...sent }, context) {
    const place = placedSimulation(sent, context)
    const run = startReplay(traceTypes, traceLimits(context))
    const request = placedRequest(transaction, context.engine, place)
    await context.engine.queries.traceCall(request, place.reference, run.tracer, place.options)
    return run.result(NOWHERE.transactionHash)
  },
})

interface Step {
  readonly transaction: ValueOf<typeof CallObject>
  readonly traceTypes: ValueOf<typeof TraceTypes>
}

/** A call and its trace types. */
const TracedCall: Parameter<Step> = {
  schema: () => z.tuple([CallObject.schema(), TraceTypes.schema()]),
  read(value, name) {
    if (!Array.isArray(value) || value.length !== 2) refuse(name, 'a call and its trace types')
    return {
      transaction: CallObject.read(value[0], `${name}[0]`),
      traceTypes: TraceTypes.read(value[1], `${name}[1]`),
    }
  },
}

export const trace_callMany = method({
  name: 'trace_callMany',
  summary:
    'Executes messages like trace_call, each on the state after the previous one; overrides are applied before the first.',
  params: {
    calls: arrayOf(TracedCall, { most: MOST_CALLS, indexed: true }),
    block: optional(CallBlock, 'latest'),
    stateOverrides: optional(StateOverrideSet, null),
    blockOverrides: optional(BlockOverrides, null),
  },
  result: () => z.array(ReplayObject),
  errors: ['block-not-found'],
  examples: [{ params: [[[{ from: COW, to: COW1, value: '0x1' }, []]], 'latest'], result: [BARE] }],
  async run({ calls, ...sent }, context) {
    const place = placedSimulation(sent, context)
    const limits = traceLimits(context)
    const runs = calls.map(({ traceTypes }) => startReplay(traceTypes, limits))
    const steps = calls.map(({ transaction }, at) => ({
      request: placedRequest(transaction, context.engine, place, `calls[${at}][0]`),
      tracer: (runs[at] as ReplayRun).tracer,
    }))
    await context.engine.queries.traceCalls(steps, place.reference, place.options)
    return jsonArray(runs.map((run) => run.result(NOWHERE.transactionHash))) as z.infer<typeof ReplayObject>[]
  },
})

export const trace_rawTransaction = method({
  name: 'trace_rawTransaction',
  summary:
    'Executes a signed transaction on the state of the head without sending it, and returns its traces.',
  params: { transaction: Data, traceTypes: TraceTypes },
  result: () => ReplayObject,
  errors: ['transaction-refused'],
  examples: [
    {
      params: [
        '0xf85f8001825208947986b3df570230288501eea3d890bd66948c9b79018065a0ed009c50edd6adf86011e28200b5a16eb58f9515c71727eb6500df52ea93f01ba05ef1c506a89b2d519fae419b795524db87c71f6e68a34c52f27cd944e0173cc6',
        [],
      ],
      result: BARE,
    },
  ],
  async run({ transaction, traceTypes }, context) {
    const { queries, config } = context.engine
    if (transaction.length > MAX_TRANSACTION_BYTES) {
      throw new NodeError('transaction-refused', sizeRefusal(transaction.length))
    }
    const decoded = decodeTransaction(transaction, readsTyped(config))
    checkChainId(decoded, config)
    const run = startReplay(traceTypes, traceLimits(context))
    await queries.traceSigned(decoded, run.tracer, timeLeft(context))
    return run.result(decoded.hash)
  },
})

export const trace_replayTransaction = method({
  name: 'trace_replayTransaction',
  summary:
    'Executes a mined transaction again and returns its traces: trace, stateDiff, vmTrace; null when unknown. The overrides change the state and the block that it runs on, `input` its data.',
  params: {
    transactionHash: TransactionHash,
    traceTypes: TraceTypes,
    ...REPLAY_CHANGES,
  },
  result: () => ReplayObject.nullable(),
  errors: ['block-not-found', 'transaction-refused'],
  examples: [{ params: [UNKNOWN, ['stateDiff']], result: null }],
  async run({ transactionHash, traceTypes, ...sent }, context) {
    const { queries } = context.engine
    const { transaction, block, index } = queries.transaction(transactionHash) ?? {}
    const changes = replayChanges(sent, transaction, context)
    if (block === undefined || index === undefined) return null
    const run = startReplay(traceTypes, traceLimits(context))
    await queries.replay(block, (_, at) => (at === index ? run.tracer : undefined), {
      lastIndex: index,
      changes,
      timeoutMs: timeLeft(context),
    })
    return run.result(transactionHash)
  },
})

export const trace_replayBlockTransactions = method({
  name: 'trace_replayBlockTransactions',
  summary:
    'Executes a block again and returns the traces of each transaction, the REMASC transaction last unless hidden; null when unknown.',
  params: { block: TraceBlock, traceTypes: TraceTypes },
  result: () => z.array(BlockReplayObject).nullable(),
  errors: ['block-not-found'],
  examples: [
    { params: ['earliest', ['trace']], result: [] },
    { params: ['0xffffff', ['trace']], result: null },
  ],
  async run({ block, traceTypes }, context) {
    const { queries } = context.engine
    const executed = (await queries.block(block.reference))?.executed
    if (executed === undefined) return null
    // The REMASC transaction is the last one, so hiding it does not change the indexes of the others.
    const transactions = shownTransactions(executed.block, context.options.hideRemasc)
    if (transactions.length === 0) return []
    const limits = traceLimits(context)
    const runs = transactions.map(() => startReplay(traceTypes, limits))
    await queries.replay(executed, (_, at) => runs[at]?.tracer, { timeoutMs: timeLeft(context) })
    const results = transactions.map(({ hash }, at) =>
      (runs[at] as ReplayRun).result(hash, [['transactionHash', hash]]),
    )
    return jsonArray(results) as z.infer<typeof BlockReplayObject>[]
  },
})

/** The methods of this file, in the order of the document. */
export const TRACE_REPLAY_METHODS = [
  trace_call,
  trace_callMany,
  trace_rawTransaction,
  trace_replayTransaction,
  trace_replayBlockTransactions,
] as const
