/** Logs of the canonical chain: the index finds the blocks, their receipts hold the logs. */
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import { matchesLog, type TopicFilter } from '../../chain/log-filter.ts'
import type { Log } from '../../chain/receipt.ts'
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
/** Receipts, and blocks, that are read between two readings of the clock, which take longer than most blocks. */
const RECEIPTS_PER_CHECK = 48
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
  /** Leave out those of the REMASC contract, which only the REMASC transaction makes. */
  readonly hideRemasc?: boolean | undefined
}

const isOfRemasc = ({ address }: Log): boolean => address === PRECOMPILE_ADDRESS.remasc

/** Adds the matching logs of a block, in order. */
function addMatchingLogs(
  block: LogBlock,
  { addresses, topics, hideRemasc = false }: LogCriteria,
  removed: boolean,
  found: LogView[],
): void {
  const { receipts } = block
  let logIndex = 0
  for (let transactionIndex = 0; transactionIndex < receipts.length; transactionIndex++) {
    const { logs } = receipts[transactionIndex] as LogBlock['receipts'][number]
    for (let i = 0; i < logs.length; i++, logIndex++) {
      const log = logs[i] as Log
      if (!matchesLog(log, addresses, topics) || (hideRemasc && isOfRemasc(log))) continue
      const transaction = block.block.transactions[transactionIndex]
      if (transaction === undefined)
        throw new Error(`block ${block.hash} has more receipts than transactions`)
      found.push({ log, block, transaction, transactionIndex, logIndex, removed })
    }
  }
}

/** The matching logs of a block, in order. */
export function matchingLogs(block: LogBlock, criteria: LogCriteria, removed: boolean): LogView[] {
  const found: LogView[] = []
  addMatchingLogs(block, criteria, removed, found)
  return found
}

function tooManyLogs(maxLogs: number, tooMany: LogQuery['tooMany']): NodeError {
  return tooMany?.() ?? new NodeError('log-limit', `Filter returned more than ${maxLogs} logs.`)
}

/** Makes the log query. It throws `log-limit` (docs/internals/rpc-reference.md#77-filters-and-logs). */
export function createLogs({
  blockchain,
  blocks,
  indexes,
  fork,
}: Parts): (query: LogQuery) => Promise<readonly LogView[]> {
  /**
   * Collects from the blocks at `heights`, from the one at `start` on, until their receipts are as many as are read between
   * two looks at the clock. The result is where to go on.
   */
  function collectSome(heights: readonly number[], start: number, query: LogQuery, found: LogView[]): number {
    const { maxLogs, tooMany } = query
    let at = start
    for (let read = 0; at < heights.length && read < RECEIPTS_PER_CHECK; at++, read++) {
      const height = heights[at] as number
      const hash = blockchain.hashAt(height)
      const block = hash === undefined ? undefined : blocks.logBlock(hash, height)
      if (block === undefined) continue
      addMatchingLogs(block, query, false, found)
      if (maxLogs > 0 && found.length > maxLogs) throw tooManyLogs(maxLogs, tooMany)
      read += block.receipts.length
    }
    return at
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
      for (let at = 0; at < heights.length; ) {
        at = collectSome(heights, at, query, found)
        const wait = yieldIfDue()
        if (wait !== undefined) await wait
      }
    }
    return found
  }

  /** Logs below the first block of a fork. */
  async function past(query: LogQuery, from: number, to: number) {
    const { addresses, topics, maxLogs, tooMany, hideRemasc = false } = query
    if (fork === undefined || from > to) return []
    const all = await fork.remote.logs({ range: { from, to }, addresses, topics })
    const found = hideRemasc ? all.filter(({ log }) => !isOfRemasc(log)) : all
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
    const { range, maxBlocks, maxLogs, tooMany } = query
    if ('blockHash' in range) {
      const block = blocks.get(range.blockHash)
      const found = block === undefined ? [] : matchingLogs(block, query, false)
      if (maxLogs > 0 && found.length > maxLogs) throw tooManyLogs(maxLogs, tooMany)
      return found
    }
    for (let restarts = 0; ; restarts++) {
      const last = Math.min(range.to, blockchain.head.block.header.number)
      if (maxBlocks > 0 && last - Math.max(range.from, blocks.lowest) > maxBlocks) {
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
