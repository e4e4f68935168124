/** Logs of the canonical chain: the index names the blocks, and their receipts hold the logs. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { matchesLog, type TopicFilter } from '../../chain/log-filter.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { LogQuery, LogView } from '../engine.ts'
import { createEventLoopYield, type EventLoopYield } from '../event-loop.ts'
import { logClauses } from '../index/log-terms.ts'
import type { SectionIndex } from '../index/section-index.ts'
import { logsOf } from './lookup.ts'

/** Times that a query starts again because the chain moved under it, before it goes through without a pause. */
const MOST_RESTARTS = 3
const neverPause: EventLoopYield = () => undefined

interface Parts extends ChainAccess {
  readonly logIndex: SectionIndex
}

/** Which logs of a block are wanted. */
export interface LogCriteria {
  /** Any of; none is any at all. */
  readonly addresses: readonly Hex[]
  readonly topics: TopicFilter
}

/** The wanted logs of a block, in order. */
export function* matchingLogs(
  block: ExecutedBlock,
  { addresses, topics }: LogCriteria,
  removed: boolean,
): Generator<LogView> {
  for (const view of logsOf(block, removed)) if (matchesLog(view.log, addresses, topics)) yield view
}

/** Answers log queries. Throws `log-limit` (docs/rpc-reference.md#77-filters-and-logs). */
export function createLogs({
  blockchain,
  blocks,
  logIndex,
}: Parts): (query: LogQuery) => Promise<readonly LogView[]> {
  function collect(hash: Hex, query: LogQuery, found: LogView[]): void {
    const block = blocks.get(hash)
    if (block === undefined) return
    const { maxLogs, tooMany } = query
    for (const view of matchingLogs(block, query, false)) {
      found.push(view)
      if (maxLogs > 0 && found.length > maxLogs) {
        throw tooMany?.() ?? new NodeError('log-limit', `Filter returned more than ${maxLogs} logs.`)
      }
    }
  }

  async function scan(
    query: LogQuery,
    from: number,
    to: number,
    breathe: EventLoopYield,
  ): Promise<LogView[]> {
    const found: LogView[] = []
    for await (const heights of logIndex.candidates(
      logClauses(query.addresses, query.topics),
      from,
      to,
      breathe,
    )) {
      for (const height of heights) {
        const hash = blockchain.hashAt(height)
        if (hash !== undefined) collect(hash, query, found)
        const pause = breathe()
        if (pause !== undefined) await pause
      }
    }
    return found
  }

  return async function logs(query) {
    const { range, maxBlocks } = query
    if ('blockHash' in range) {
      const found: LogView[] = []
      collect(range.blockHash, query, found)
      return found
    }
    for (let restarts = 0; ; restarts++) {
      const last = Math.min(range.to, blockchain.head.block.header.number)
      if (maxBlocks > 0 && last - range.from > maxBlocks) {
        throw new NodeError('log-limit', `Cannot query more than ${maxBlocks} blocks at once`)
      }
      // A block's hash stands for all blocks below it.
      const tip = blockchain.hashAt(last)
      const breathe = restarts < MOST_RESTARTS ? createEventLoopYield('query') : neverPause
      const found = await scan(query, range.from, last, breathe)
      if (blockchain.hashAt(last) === tip) return found
    }
  }
}
