/** Flat traces of blocks and transactions (docs/internals/rpc-reference.md#710-trace). */

import { z } from 'zod'
import type { Hex } from '../../encoding/hex.ts'
import type { TransactionTrace } from '../../engine/queries/replay.ts'
import { type FlatTrace, flatTraces } from '../../engine/queries/trace-filter.ts'
import { invalidParams } from '../../errors.ts'
import { timeLeft } from '../deadlines.ts'
import { type Context, method } from '../method.ts'
import { toTraceQuery } from '../trace-range.ts'
import {
  LooseHash,
  NonEmptyHash,
  TraceBlock,
  TraceFilterObject,
  TracePosition,
} from '../wire/trace/filter.ts'
import { type RowPlace, TraceObject, toRpcTrace } from '../wire/trace/flat.ts'
import { errorTextsOf } from '../wire/trace/frame-error.ts'
import { replySize, rowBytes } from '../wire/trace/reply-size.ts'
import { NOBODY } from './example-accounts.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`
/** The wire form of rows; throws `limit-exceeded` when a reply cannot hold them. */
function toRows(
  rows: readonly FlatTrace[],
  context: Context,
  places?: ReadonlyMap<TransactionTrace, RowPlace>,
): z.infer<typeof TraceObject>[] {
  const size = replySize(context)
  const texts = errorTextsOf(context.options.dialect)
  for (const { frame } of rows) size(rowBytes(frame))
  return rows.map((row) => toRpcTrace(row, texts, places?.get(row.trace)))
}

/** Where the transactions of a block are on the canonical chain; also for a side block, as on the reference node. */
function canonicalPlaces(
  traces: readonly TransactionTrace[],
  { engine }: Context,
): ReadonlyMap<TransactionTrace, RowPlace> {
  const places = new Map<TransactionTrace, RowPlace>()
  for (const trace of traces) {
    const { block, index } = engine.queries.transaction(trace.transaction.hash) ?? {}
    if (block !== undefined && index !== undefined) places.set(trace, { blockHash: block.hash, index })
  }
  return places
}

/** The rows of a mined transaction; `undefined` when it is unknown or pending. */
async function rowsOf(hash: Hex | undefined, context: Context): Promise<readonly FlatTrace[] | undefined> {
  const { queries } = context.engine
  const { block, index } = (hash && queries.transaction(hash)) || {}
  if (block === undefined || index === undefined) return undefined
  return flatTraces(await queries.trace(block, index, { timeoutMs: timeLeft(context) }))
}

export const trace_transaction = method({
  name: 'trace_transaction',
  hosted: true,
  summary: 'All calls, creations and self-destructs of a mined transaction, in order.',
  params: { transactionHash: LooseHash },
  result: () => z.array(TraceObject).nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ transactionHash }, context) {
    const rows = await rowsOf(transactionHash, context)
    return rows === undefined ? null : toRows(rows, context)
  },
})

export const trace_block = method({
  name: 'trace_block',
  hosted: true,
  summary: 'The traces of every transaction of a block, the REMASC transaction last unless hidden.',
  params: { block: TraceBlock },
  result: () => z.array(TraceObject).nullable(),
  errors: ['block-not-found'],
  examples: [
    { params: ['earliest'], result: [] },
    { params: ['0xffffff'], result: null },
  ],
  async run({ block }, context) {
    const { queries } = context.engine
    const view = await queries.block(block.reference)
    if (view === undefined) return null
    const all = await queries.traces(view.executed, timeLeft(context))
    const traces = all.filter(({ transaction }) => !(context.options.hideRemasc && transaction.isRemasc))
    return toRows(traces.flatMap(flatTraces), context, canonicalPlaces(traces, context))
  },
})

export const trace_filter = method({
  name: 'trace_filter',
  hosted: true,
  summary: 'Traces of transactions by sender and receiver over a range of blocks, page by page.',
  params: { filter: TraceFilterObject },
  result: () => z.array(TraceObject),
  errors: ['block-not-found', 'too-many'],
  examples: [{ params: [{ fromBlock: '0x0', toBlock: 'latest', fromAddress: NOBODY }], result: [] }],
  async run({ filter }, context) {
    const { queries } = context.engine
    const texts = errorTextsOf(context.options.dialect)
    const query = toTraceQuery(filter, queries, context.options)
    if (query === undefined) return []
    const found = await queries.traceFilter({
      ...query,
      timeoutMs: timeLeft(context),
      frameCheck() {
        const size = replySize(context)
        return (frame) => size(rowBytes(frame))
      },
    })
    return found.map((row) => toRpcTrace(row, texts))
  },
})

export const trace_get = method({
  name: 'trace_get',
  summary: 'One trace of a mined transaction by its index, counted from 0 in the order of trace_transaction.',
  params: { transactionHash: NonEmptyHash, positions: TracePosition },
  result: () => TraceObject.nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [UNKNOWN, ['0x0']], result: null }],
  async run({ transactionHash, positions }, context) {
    const rows = await rowsOf(transactionHash, context)
    if (rows === undefined) return null
    const row = rows[positions]
    if (row === undefined) {
      throw invalidParams(`Invalid positions: the transaction has ${rows.length} traces.`)
    }
    return toRpcTrace(row, errorTextsOf(context.options.dialect))
  },
})

/** The methods of this file, in the order of the document. */
export const TRACE_METHODS = [trace_block, trace_transaction, trace_filter, trace_get] as const
