/** Logs of the canonical chain: the index finds the blocks, their receipts hold the logs. */
import { matchesLog, type TopicFilter } from '../../chain/log-filter.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { LogBlock } from '../../store/log-block.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import { createEventLoopYield, type EventLoopYield } from '../event-loop.ts'
import type { Fork } from '../fork/fork.ts'
import type { ChainIndexes } from '../index/chain-indexes.ts'
import type { LogQuery, LogView } from '../model.ts'

/** Number of restarts because the chain changed during a query; after them the query runs without yielding. */
const MAX_RESTARTS = 3
const neverYield: EventLoopYield = () => undefined

interface Parts extends ChainAccess {
  readonly indexes: Pick<ChainIndexes, 'withLogs'>
  readonly fork: Fork | undefined
}

/** Filter for the logs of a block. */
export interface LogCriteria {
  /** Any of; empty matches all. */
  readonly addresses: readonly Hex[]
  readonly topics: TopicFilter
}

/** The matching logs of a block, in order. */
export function matchingLogs(
  block: LogBlock,
  { addresses, topics }: LogCriteria,
  removed: boolean,
): LogView[] {
  const found: LogView[] = []
  let logIndex = 0
  for (let transactionIndex = 0; transactionIndex < block.receipts.length; transactionIndex++) {
    for (const log of block.receipts[transactionIndex]?.logs ?? []) {
      const index = logIndex++
      if (!matchesLog(log, addresses, topics)) continue
      const transaction = block.block.transactions[transactionIndex]
      if (transaction === undefined)
        throw new Error(`block ${block.hash} has more receipts than transactions`)
      found.push({ log, block, transaction, transactionIndex, logIndex: index, removed })
    }
  }
  return found
}

function tooManyLogs(maxLogs: number, tooMany: LogQuery['tooMany']): NodeError {
  return tooMany?.() ?? new NodeError('log-limit', `Filter returned more than ${maxLogs} logs.`)
}

/** Makes the log query. It throws `log-limit` (docs/rpc-reference.md#77-filters-and-logs). */
export function createLogs({
  blockchain,
  blocks,
  indexes,
  fork,
}: Parts): (query: LogQuery) => Promise<readonly LogView[]> {
  function collect(block: LogBlock | undefined, query: LogQuery, found: LogView[]): void {
    if (block === undefined) return
    const { maxLogs, tooMany } = query
    for (const view of matchingLogs(block, query, false)) {
      found.push(view)
      if (maxLogs > 0 && found.length > maxLogs) {
        throw tooManyLogs(maxLogs, tooMany)
      }
    }
  }

  async function scan(
    query: LogQuery,
    from: number,
    to: number,
    yieldIfDue: EventLoopYield,
    before: readonly LogView[],
  ): Promise<LogView[]> {
    const found = [...before]
    const { addresses, topics } = query
    for await (const heights of indexes.withLogs(addresses, topics, { from, to }, yieldIfDue)) {
      for (const height of heights) {
        const hash = blockchain.hashAt(height)
        if (hash !== undefined) collect(blocks.logBlock(hash, height), query, found)
        const wait = yieldIfDue()
        if (wait !== undefined) await wait
      }
    }
    return found
  }

  /** Logs below the first block of a fork. */
  async function past({ addresses, topics, maxLogs, tooMany }: LogQuery, from: number, to: number) {
    if (fork === undefined || from > to) return []
    const found = await fork.remote.logs({ range: { from, to }, addresses, topics })
    if (maxLogs > 0 && found.length > maxLogs) throw tooManyLogs(maxLogs, tooMany)
    return found.map(({ log, block, transactionHash, transactionIndex, logIndex }): LogView => {
      const { hash, number } = block
      return {
        log,
        block: { hash, block: { header: { number } } },
        transaction: { hash: transactionHash },
        transactionIndex,
        logIndex,
        removed: false,
      }
    })
  }

  return async function logs(query) {
    const { range, maxBlocks } = query
    if ('blockHash' in range) {
      const found: LogView[] = []
      collect(blocks.get(range.blockHash), query, found)
      return found
    }
    for (let restarts = 0; ; restarts++) {
      const last = Math.min(range.to, blockchain.head.block.header.number)
      if (maxBlocks > 0 && last - range.from > maxBlocks) {
        throw new NodeError('log-limit', `Cannot query more than ${maxBlocks} blocks at once`)
      }
      // The hash of the last block identifies all blocks below it.
      const tip = blockchain.hashAt(last)
      const yieldIfDue = restarts < MAX_RESTARTS ? createEventLoopYield('query') : neverYield
      const before = await past(query, range.from, Math.min(last, blocks.first - 1))
      const found = await scan(query, Math.max(range.from, blocks.first), last, yieldIfDue, before)
      if (blockchain.hashAt(last) === tip) return found
    }
  }
}
