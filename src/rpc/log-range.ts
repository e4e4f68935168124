/**
 * Turns the filter object of a caller into a query: the heights that it covers, and the limits that apply
 * (docs/internals/rpc-reference.md#77-filters-and-logs).
 */
import { counted } from '../counted.ts'
import type { Queries } from '../engine/engine.ts'
import type { LogQuery } from '../engine/model.ts'
import { NodeError } from '../errors.ts'
import type { RpcOptions } from './rpc-options.ts'
import type { BlockArgument } from './wire/block-reference.ts'
import type { LogFilter } from './wire/log-filter.ts'

/** No log is shorter than this in a reply, in bytes. */
const LEAST_LOG_BYTES = 300

/** Height of a bound that is a number or `earliest`; `undefined` for one that follows the head. */
export function fixedHeight(block: BlockArgument | undefined): number | undefined {
  if (block === undefined) return undefined
  if ('number' in block.reference) return block.reference.number
  return 'tag' in block.reference && block.reference.tag === 'earliest' ? 0 : undefined
}

/**
 * The heights that a filter means, or `undefined` when it can match nothing. Without a `fromBlock`, or from `latest`, that
 * is the head alone, whatever `toBlock` is; a `toBlock` above the head is the head.
 */
function rangeOf(filter: LogFilter, head: number): { from: number; to: number } | undefined {
  const { fromBlock, toBlock } = filter
  if (fromBlock !== undefined && 'tag' in fromBlock.reference && fromBlock.reference.tag === 'pending') {
    return undefined
  }
  const from = fixedHeight(fromBlock)
  if (from === undefined) return { from: head, to: head }
  const to = Math.min(fixedHeight(toBlock) ?? head, head)
  return from > to ? undefined : { from, to }
}

/**
 * What the profile allows for a range: in the node profile both limits hold, in the hosted one so many logs over any
 * range, or any number over so many blocks (docs/internals/rpc-reference.md#10-hosted-profile).
 */
function limitsOf(
  range: LogQuery['range'],
  options: RpcOptions,
): Omit<LogQuery, 'range' | 'addresses' | 'topics' | 'hideRemasc'> {
  const { maxLogs, maxLogBlocks, maxResponseBytes } = options
  if (options.profile === 'node') return { maxBlocks: maxLogBlocks, maxLogs }
  const blocks = 'blockHash' in range ? 1 : range.to - range.from + 1
  if (maxLogs > 0 && maxLogBlocks > 0 && blocks > maxLogBlocks) {
    return {
      maxBlocks: 0,
      maxLogs,
      tooMany: () =>
        new NodeError(
          'too-many',
          `query returned more than ${counted(maxLogs, 'result')}: a query may return at most ${counted(maxLogs, 'log')} over any range, ` +
            `or any number over at most ${counted(maxLogBlocks, 'block')}`,
        ),
    }
  }
  return {
    maxBlocks: 0,
    // More would not fit the reply: the query stops before it fills the memory.
    maxLogs: Math.floor(maxResponseBytes / LEAST_LOG_BYTES),
    tooMany: () =>
      new NodeError('limit-exceeded', `Response size limit of ${maxResponseBytes} bytes exceeded`),
  }
}

/** The query that a filter means now, or `undefined` when it can match nothing. */
export function toLogQuery(filter: LogFilter, queries: Queries, options: RpcOptions): LogQuery | undefined {
  const { blockHash, addresses, topics } = filter
  const known = blockHash !== undefined && queries.isCanonical(blockHash) !== undefined
  const range =
    blockHash === undefined
      ? rangeOf(filter, queries.head().block.header.number)
      : known
        ? { blockHash }
        : undefined
  const { hideRemasc } = options
  return range && { range, addresses, topics, hideRemasc, ...limitsOf(range, options) }
}
