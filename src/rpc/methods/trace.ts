/** Flat traces of blocks and transactions (rpc-methods 7.10). */
import { z } from 'zod'
import type { Hex } from '../../encoding/hex.ts'
import type { Queries } from '../../engine/engine.ts'
import { type FlatTrace, flatTraces } from '../../engine/queries/trace-filter.ts'
import { invalidParams } from '../../errors.ts'
import { method } from '../method.ts'
import { toTraceQuery } from '../trace-range.ts'
import { TransactionHash } from '../wire/scalars.ts'
import { TraceBlock, TraceFilterObject, TracePosition } from '../wire/trace/filter.ts'
import { TraceObject, toRpcTrace } from '../wire/trace/flat.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`
const NOBODY = '0x00000000000000000000000000000000000dead1'

/** The rows of a mined transaction; `undefined` when it is unknown or pending. */
async function rowsOf(hash: Hex, queries: Queries): Promise<readonly FlatTrace[] | undefined> {
  const { block, index } = queries.transaction(hash) ?? {}
  if (block === undefined || index === undefined) return undefined
  return flatTraces(await queries.trace(block, index))
}

export const trace_transaction = method({
  name: 'trace_transaction',
  summary: 'All calls, creations and self-destructs of a mined transaction, in order.',
  params: { transactionHash: TransactionHash },
  result: z.array(TraceObject).nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ transactionHash }, { engine }) {
    return (await rowsOf(transactionHash, engine.queries))?.map(toRpcTrace) ?? null
  },
})

export const trace_block = method({
  name: 'trace_block',
  summary: 'The traces of every transaction of a block, the one that collects the fees last.',
  params: { block: TraceBlock },
  result: z.array(TraceObject).nullable(),
  errors: ['block-not-found'],
  examples: [
    { params: ['earliest'], result: [] },
    { params: ['0xffffff'], result: null },
  ],
  async run({ block }, { engine: { queries } }) {
    const view = await queries.block(block.reference)
    if (view === undefined) return null
    return (await queries.traces(view.executed)).flatMap(flatTraces).map(toRpcTrace)
  },
})

export const trace_filter = method({
  name: 'trace_filter',
  summary: 'Traces of transactions by sender and receiver over a range of blocks, page by page.',
  params: { filter: TraceFilterObject },
  result: z.array(TraceObject),
  errors: ['block-not-found', 'too-many'],
  examples: [{ params: [{ fromBlock: '0x0', toBlock: 'latest', fromAddress: NOBODY }], result: [] }],
  async run({ filter }, { engine: { queries }, options }) {
    const query = toTraceQuery(filter, queries, options)
    return query === undefined ? [] : (await queries.traceFilter(query)).map(toRpcTrace)
  },
})

export const trace_get = method({
  name: 'trace_get',
  summary: 'One trace of a mined transaction by its index, counted from 0 in the order of trace_transaction.',
  params: { transactionHash: TransactionHash, positions: TracePosition },
  result: TraceObject.nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [UNKNOWN, ['0x0']], result: null }],
  async run({ transactionHash, positions }, { engine }) {
    const rows = await rowsOf(transactionHash, engine.queries)
    if (rows === undefined) return null
    const row = rows[positions]
    if (row === undefined) {
      throw invalidParams(`Invalid positions: the transaction has ${rows.length} traces.`)
    }
    return toRpcTrace(row)
  },
})

/** The methods of this file, in the order of the document. */
export const TRACE_METHODS = [trace_block, trace_transaction, trace_filter, trace_get] as const
