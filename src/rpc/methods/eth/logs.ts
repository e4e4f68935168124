/** The query for logs (rpc-methods 7.7). */
import { z } from 'zod'
import type { LogQuery, Queries } from '../../../engine/engine.ts'
import { invalidParams } from '../../../errors.ts'
import { method } from '../../method.ts'
import type { RpcOptions } from '../../rpc-options.ts'
import type { BlockArgument } from '../../wire/block-reference.ts'
import { LogObject, toRpcLog } from '../../wire/log.ts'
import { FilterObject, type LogFilter } from '../../wire/log-filter.ts'

/** Height of a bound that is a number or `earliest`; `undefined` for what moves with the head. */
function fixedHeight(block: BlockArgument | undefined): number | undefined {
  if (block === undefined) return undefined
  if ('number' in block.reference) return block.reference.number
  return 'tag' in block.reference && block.reference.tag === 'earliest' ? 0 : undefined
}

/**
 * The heights that a filter means, or `undefined` when it can match nothing. Without a `fromBlock`, or from `latest`, that
 * is the head alone, whatever `toBlock` says; a `toBlock` above the head is the head. Throws `invalid-params` when the
 * bounds are the wrong way round.
 */
function rangeOf(filter: LogFilter, head: number): { from: number; to: number } | undefined {
  const { fromBlock, toBlock } = filter
  if (fromBlock !== undefined && 'tag' in fromBlock.reference && fromBlock.reference.tag === 'pending') {
    return undefined
  }
  const from = fixedHeight(fromBlock)
  if (from === undefined) return { from: head, to: head }
  const to = fixedHeight(toBlock)
  if (to !== undefined && from > to) throw invalidParams('Invalid filter: fromBlock is greater than toBlock')
  return from > head ? undefined : { from, to: Math.min(to ?? head, head) }
}

function toLogQuery(filter: LogFilter, queries: Queries, options: RpcOptions): LogQuery | undefined {
  const { blockHash, addresses, topics } = filter
  const known = blockHash !== undefined && queries.isCanonical(blockHash) !== undefined
  const range =
    blockHash === undefined
      ? rangeOf(filter, queries.head().block.header.number)
      : known
        ? { blockHash }
        : undefined
  if (range === undefined) return undefined
  return { range, addresses, topics, maxBlocks: options.maxLogBlocks, maxLogs: options.maxLogs }
}

export const eth_getLogs = method({
  name: 'eth_getLogs',
  summary: 'Logs of a range of blocks or of one block, in order; of the head when no range is given.',
  params: { filter: FilterObject },
  result: z.array(LogObject),
  examples: [{ params: [{}], result: [] }],
  async run({ filter }, { engine, options }) {
    const query = toLogQuery(filter, engine.queries, options)
    return query === undefined ? [] : (await engine.queries.logs(query)).map(toRpcLog)
  },
})

/** The methods of this file, in the order of the document. */
export const LOG_METHODS = [eth_getLogs] as const
