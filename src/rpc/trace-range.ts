/**
 * Turns the filter object of `trace_filter` into a query: heights, and the limits of the profile
 * (docs/internals/rpc-reference.md#710-trace).
 */
import { counted } from '../counted.ts'
import type { Queries } from '../engine/engine.ts'
import type { TraceQuery } from '../engine/queries/trace-filter.ts'
import { invalidParams, NodeError } from '../errors.ts'
import type { RpcOptions } from './rpc-options.ts'
import type { BlockArgument } from './wire/block-reference.ts'
import type { TraceFilter } from './wire/trace/filter.ts'

/** The hosted profile limits `after` as a node does by default, although it returns fewer traces. */
const HOSTED_AFTER = 10_000

/** A height; the pending block is the one above the head. */
function heightOf({ reference }: BlockArgument, head: number): number {
  if ('number' in reference) return reference.number
  if ('hash' in reference) throw new Error('a bound is no hash')
  return { earliest: 0, latest: head, pending: head + 1 }[reference.tag]
}

function isPending(block: BlockArgument | undefined): boolean {
  return block !== undefined && 'tag' in block.reference && block.reference.tag === 'pending'
}

function countOf({ count, after = 0 }: TraceFilter, options: RpcOptions): { after: number; count: number } {
  const most = options.maxTraces
  const furthest = options.profile === 'hosted' ? Math.max(HOSTED_AFTER, most) : most
  if (count !== undefined && count < 0) throw invalidParams('Count value cannot be negative.')
  if (count !== undefined && count > most) {
    throw invalidParams(`Count value too big. Maximum ${most} traces allowed.`)
  }
  if (after < 0) throw invalidParams('After value cannot be negative.')
  if (after > furthest) {
    throw invalidParams(`After value too big. Maximum ${furthest} traces allowed.`)
  }
  return { after, count: count ?? most }
}

/** The query of a filter at the current head, or `undefined` when it can match nothing. Throws `invalid-params` and `too-many`. */
export function toTraceQuery(
  filter: TraceFilter,
  queries: Queries,
  options: RpcOptions,
): Omit<TraceQuery, 'timeoutMs' | 'frameCheck'> | undefined {
  const slice = countOf(filter, options)
  const head = queries.head().block.header.number
  const hosted = options.profile === 'hosted'
  const from = filter.fromBlock === undefined ? (hosted ? head : 0) : heightOf(filter.fromBlock, head)
  const to = filter.toBlock === undefined ? Math.max(head, from) : heightOf(filter.toBlock, head)
  const toHeight = filter.toBlock !== undefined && 'number' in filter.toBlock.reference
  const startsPending = isPending(filter.fromBlock)
  // A range above the head is empty, unless its bounds alone are in the wrong order.
  if (from > to && (from <= head || toHeight || startsPending)) {
    throw invalidParams('fromBlock cannot be greater than toBlock')
  }
  const pending = startsPending || isPending(filter.toBlock)
  if (from > to || (from > head && !pending)) return undefined
  const last = Math.min(to, head)
  const { maxTraces, maxTraceBlocks } = options
  if (maxTraceBlocks > 0 && last - from + 1 > maxTraceBlocks) {
    const blocks = counted(maxTraceBlocks, 'block')
    throw new NodeError(
      'too-many',
      `query covers more than ${blocks}: a query may cover at most ${blocks}, ` +
        `and return at most ${counted(maxTraces, 'trace')}`,
    )
  }
  return {
    range: { from, to: last },
    pending,
    hideRemasc: options.hideRemasc,
    senders: filter.fromAddress ?? [],
    receivers: filter.toAddress ?? [],
    ...slice,
  }
}
