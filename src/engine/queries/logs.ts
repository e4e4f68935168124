/** Logs of the canonical chain: the index finds the blocks, their receipts hold the logs. */
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import { encodedLogs, matchesLog, type TopicFilter } from '../../chain/log-filter.ts'
import type { Log } from '../../chain/receipt.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { LogBlock } from '../../store/log-block.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import { createEventLoopYield, type EventLoopYield } from '../event-loop.ts'
import type { Fork } from '../fork/fork.ts'
import type { ChainIndexes } from '../index/chain-indexes.ts'
import type { LogQuery, LogView } from '../model.ts'
import { atOneHead } from './at-one-head.ts'
import { type LogWalk, type LogWalks, walkLogs } from './log-walk.ts'

/** Receipts and blocks that are read between two readings of the clock; a reading takes longer than most blocks. */
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

/** What a query looks for, and what it has found. */
interface LogCollection {
  readonly query: LogQuery
  /** Whether encoded receipts may hold a matching log. */
  readonly mayMatch: (receipts: Uint8Array) => boolean
  readonly found: LogView[]
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

/** Throws `log-limit` when more logs were found than the query may return. */
function checkCount(found: readonly unknown[], { maxLogs, tooMany }: LogQuery): void {
  if (maxLogs === 0 || found.length <= maxLogs) return
  throw tooMany?.() ?? new NodeError('log-limit', `Filter returned more than ${maxLogs} logs.`)
}

/** The log query of a chain (docs/internals/rpc-reference.md#77-filters-and-logs). */
export class LogSearch implements LogWalks {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The matching logs, in order. Throws `log-limit`. */
  async find(query: LogQuery): Promise<readonly LogView[]> {
    const { range } = query
    if ('blockHash' in range) {
      const block = this.#parts.blocks.get(range.blockHash)
      const found = block === undefined ? [] : matchingLogs(block, query, false)
      checkCount(found, query)
      return found
    }
    return atOneHead(
      this.#parts.blockchain,
      (last, mayYield) =>
        this.#findIn(query, range.from, last, mayYield ? createEventLoopYield('query') : neverYield),
      { upTo: range.to, isStrict: true },
    )
  }

  walkLogs(walk: Pick<LogWalk, 'addresses' | 'filters'> & Partial<LogWalk>): AsyncGenerator<LogView> {
    return walkLogs((query) => this.find(query), { ...walk, ...this.walkRange(walk) })
  }

  /** The range and order of a walk: from the first local block and to the head, the newest first, unless given. */
  walkRange({
    from,
    to,
    isDescending = true,
  }: Partial<LogWalk>): Pick<LogWalk, 'from' | 'to' | 'isDescending'> {
    const { blockchain, blocks } = this.#parts
    const head = blockchain.head.block.header.number
    return { from: from ?? blocks.first, to: Math.min(to ?? head, head), isDescending }
  }

  async #findIn(query: LogQuery, from: number, to: number, yieldIfDue: EventLoopYield): Promise<LogView[]> {
    const { blocks, indexes } = this.#parts
    const { maxBlocks, addresses, topics } = query
    if (maxBlocks > 0 && to - Math.max(from, blocks.lowest) > maxBlocks) {
      // The text of RSKj's `LogFilter`, which has the plural for 1 too.
      throw new NodeError('log-limit', `Cannot query more than ${maxBlocks} blocks at once`)
    }
    const found = await this.#findUpstream(query, from, Math.min(to, blocks.first - 1))
    const range = { from: Math.max(from, blocks.first), to }
    const mayMatch = encodedLogs(addresses, topics)
    for await (const heights of indexes.withLogs(addresses, topics, range, yieldIfDue)) {
      for (let at = 0; at < heights.length; ) {
        at = this.#collectSome(heights, at, { query, mayMatch, found })
        const wait = yieldIfDue()
        if (wait !== undefined) await wait
      }
    }
    return found
  }

  /**
   * Collects from the blocks at `heights`, from the one at index `start`, until as many receipts are read as two readings
   * of the clock may have between them. Returns the index of the next block.
   */
  #collectSome(heights: readonly number[], start: number, { query, mayMatch, found }: LogCollection): number {
    const { blockchain, blocks } = this.#parts
    let at = start
    for (let read = 0; read < RECEIPTS_PER_CHECK; at++, read++) {
      const height = heights[at]
      if (height === undefined) break
      const hash = blockchain.hashAt(height)
      const block = hash === undefined ? undefined : blocks.logBlock(hash, height, mayMatch)
      if (block === undefined) continue
      addMatchingLogs(block, query, false, found)
      checkCount(found, query)
      read += block.receipts.length
    }
    return at
  }

  /** Logs below the first block of a fork. */
  async #findUpstream(query: LogQuery, from: number, to: number): Promise<LogView[]> {
    const { fork } = this.#parts
    const { addresses, topics, hideRemasc = false } = query
    if (fork === undefined || from > to) return []
    const all = await fork.remote.logs({ range: { from, to }, addresses, topics })
    const found = hideRemasc ? all.filter(({ log }) => !isOfRemasc(log)) : all
    checkCount(found, query)
    return found.map(({ log, block, timestamp, transactionHash, transactionIndex, logIndex }) => ({
      log,
      block: { hash: block.hash, block: { header: { number: block.number, timestamp } } },
      transaction: { hash: transactionHash },
      transactionIndex,
      logIndex,
      removed: false,
    }))
  }
}
