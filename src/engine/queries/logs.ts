/** Logs of the canonical chain: blooms first, receipts only where a match is possible. */
import { bloomMightMatch, matchesLog } from '../../chain/log-filter.ts'
import { NodeError } from '../../errors.ts'
import type { ChainAccess } from '../ancestry.ts'
import { createBreather } from '../breather.ts'
import type { LogQuery, LogView } from '../engine.ts'
import { logsOf } from './lookup.ts'

/** Answers log queries. Throws `log-limit` (rpc-methods 7.7). */
export function createLogs({
  blockchain,
  blocks,
}: ChainAccess): (query: LogQuery) => Promise<readonly LogView[]> {
  return async function logs({ range, addresses, topics, maxBlocks, maxLogs }) {
    const found: LogView[] = []
    const collect = (hash: `0x${string}`): void => {
      const block = blocks.get(hash)
      if (block === undefined) return
      for (const view of logsOf(block, false)) {
        if (!matchesLog(view.log, addresses, topics)) continue
        found.push(view)
        if (maxLogs > 0 && found.length > maxLogs) {
          throw new NodeError('log-limit', `Filter returned more than ${maxLogs} logs.`)
        }
      }
    }
    if ('blockHash' in range) {
      collect(range.blockHash)
      return found
    }
    const breathe = createBreather('query')
    const last = Math.min(range.to, blockchain.head.block.header.number)
    if (maxBlocks > 0 && last - range.from > maxBlocks) {
      throw new NodeError('log-limit', `Cannot query more than ${maxBlocks} blocks at once`)
    }
    for (let height = range.from; height <= last; height++) {
      const at = blockchain.headerAt(height)
      if (at !== undefined && bloomMightMatch(at.header.logsBloom, addresses, topics)) collect(at.hash)
      await breathe()
    }
    return found
  }
}
