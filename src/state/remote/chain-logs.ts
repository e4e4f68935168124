/** Logs of the upstream's chain: ranges in parts that the upstream answers. */
import { matchesLog } from '../../chain/log-filter.ts'
import { type Hex, toQuantity } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RpcCall } from '../../upstream/replies.ts'
import { type Asker, isUnserved } from './asker.ts'
import type { BlockCache } from './cache/block-cache.ts'
import type { ChainBlocks } from './chain-blocks.ts'
import type { ForkPoint, RemoteLog, RemoteLogQuery } from './model.ts'
import { readAnswer, WireLog, wrongAnswer } from './wire.ts'
import { logOf } from './wire-block.ts'

/** The most blocks of one query: the limit of the chain's hosted nodes. */
const MOST_BLOCKS = 5000

interface Range {
  readonly from: number
  readonly to: number
}

/** What queries take. */
export interface LogParts {
  readonly point: ForkPoint
  readonly asker: Asker
  readonly cache: BlockCache
  readonly blocks: ChainBlocks
}

/** Answers queries. Once the upstream refuses a range, all later parts are shorter. */
export class ChainLogs {
  readonly #parts: LogParts
  #most = MOST_BLOCKS

  constructor(parts: LogParts) {
    this.#parts = parts
  }

  /** In order of block and index. Throws `upstream` where a part is refused that cannot be divided, or is wrong. */
  async query(query: RemoteLogQuery): Promise<readonly RemoteLog[]> {
    const { range } = query
    if ('blockHash' in range) return this.#ofBlock(range.blockHash, query)
    const [from, to] = [Math.max(0, range.from), Math.min(range.to, this.#parts.point.number)]
    const found = await this.#ofRange({ from, to }, query)
    return found.sort((a, b) => a.block.number - b.block.number || a.logIndex - b.logIndex)
  }

  /** The logs of one block, out of its receipts. */
  async #ofBlock(hash: Hex, { addresses, topics }: RemoteLogQuery): Promise<RemoteLog[]> {
    const executed = await this.#parts.blocks.byHash(hash)
    if (executed === undefined) return []
    const { header, transactions } = executed.block
    const block = { number: header.number, hash }
    const { timestamp } = header
    let logIndex = 0
    return transactions.flatMap(({ hash: transactionHash }, transactionIndex) =>
      (executed.receipts[transactionIndex]?.logs ?? [])
        .map((log) => ({ log, block, timestamp, transactionHash, transactionIndex, logIndex: logIndex++ }))
        .filter(({ log }) => matchesLog(log, addresses, topics)),
    )
  }

  async #ofRange({ from, to }: Range, query: RemoteLogQuery): Promise<RemoteLog[]> {
    const found: RemoteLog[] = []
    for (let at = from; at <= to; ) {
      const end = Math.min(to, at + this.#most - 1)
      // Pushed one by one: a part may have more logs than a call can have arguments.
      for (const log of await this.#ofPart({ from: at, to: end }, query)) found.push(log)
      at = end + 1
    }
    return found
  }

  /** One part, or its halves one after the other where it is refused. */
  async #ofPart(range: Range, query: RemoteLogQuery): Promise<RemoteLog[]> {
    const { asker, cache } = this.#parts
    const { from, to } = range
    const filter = {
      fromBlock: toQuantity(from),
      toBlock: toQuantity(to),
      ...(query.addresses.length > 0 && { address: query.addresses }),
      topics: query.topics,
    }
    const call: RpcCall = { method: 'eth_getLogs', params: [filter] }
    const [outcome] = await asker.sendCached([call], cache, `the logs of blocks ${from} to ${to}`)
    if (outcome !== undefined && 'result' in outcome) return this.#read(outcome.result, range, query)
    const failure = outcome?.error
    if (from === to || (failure !== undefined && isUnserved(failure))) {
      const message = `The upstream ${asker.origin()} refused eth_getLogs of blocks ${from} to ${to}: ${failure?.message}`
      throw new NodeError('upstream', message)
    }
    const middle = from + ((to - from) >> 1)
    this.#most = Math.min(this.#most, middle - from + 1)
    const lower = await this.#ofPart({ from, to: middle }, query)
    return [...lower, ...(await this.#ofRange({ from: middle + 1, to }, query))]
  }

  #read(result: unknown, { from, to }: Range, { addresses, topics }: RemoteLogQuery): RemoteLog[] {
    const origin = this.#parts.asker.origin()
    if (!Array.isArray(result)) throw wrongAnswer(origin, 'eth_getLogs has no list of logs')
    return result.map((item: unknown) => {
      const wire = readAnswer(WireLog, item, 'eth_getLogs', origin)
      const { blockNumber: number, blockHash: hash, transactionHash, transactionIndex, logIndex } = wire
      const log = logOf(wire)
      if (number < from || number > to || !matchesLog(log, addresses, topics)) {
        throw wrongAnswer(origin, `eth_getLogs has a log of block ${number} that was not asked for`)
      }
      const known = this.#parts.blocks.headers.knownHash(number)
      if (known !== undefined && known !== hash) {
        throw wrongAnswer(origin, `eth_getLogs has a log of block ${hash}, and block ${number} is ${known}`)
      }
      const { blockTimestamp: timestamp } = wire
      return { log, block: { number, hash }, timestamp, transactionHash, transactionIndex, logIndex }
    })
  }
}
