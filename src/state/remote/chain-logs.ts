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

/** Answers queries; parts become shorter where the upstream refuses longer ones. */
export function createChainLogs({ point, asker, cache, blocks }: LogParts) {
  let most = MOST_BLOCKS

  function read(result: unknown, { from, to }: Range, { addresses, topics }: RemoteLogQuery): RemoteLog[] {
    if (!Array.isArray(result)) throw wrongAnswer(asker.origin(), 'eth_getLogs has no list of logs')
    return result.map((item: unknown) => {
      const wire = readAnswer(WireLog, item, 'eth_getLogs', asker.origin())
      const { blockNumber: number, blockHash: hash, transactionHash, transactionIndex, logIndex } = wire
      const log = logOf(wire)
      const known = blocks.knownHash(number)
      if (number < from || number > to || !matchesLog(log, addresses, topics)) {
        throw wrongAnswer(asker.origin(), `eth_getLogs has a log of block ${number} that was not asked for`)
      }
      if (known !== undefined && known !== hash) {
        throw wrongAnswer(
          asker.origin(),
          `eth_getLogs has a log of block ${hash}, and block ${number} is ${known}`,
        )
      }
      return { log, block: { number, hash }, transactionHash, transactionIndex, logIndex }
    })
  }

  /** One part, or its halves one after another where it is refused. */
  async function part(range: Range, query: RemoteLogQuery): Promise<RemoteLog[]> {
    const { from, to } = range
    const filter = {
      fromBlock: toQuantity(from),
      toBlock: toQuantity(to),
      ...(query.addresses.length > 0 && { address: query.addresses }),
      topics: query.topics,
    }
    const call: RpcCall = { method: 'eth_getLogs', params: [filter] }
    const [outcome] = await asker.sendCached([call], cache, `the logs of blocks ${from} to ${to}`)
    if (outcome !== undefined && 'result' in outcome) return read(outcome.result, range, query)
    const failure = outcome?.error
    if (from === to || (failure !== undefined && isUnserved(failure))) {
      const message = `The upstream ${asker.origin()} refused eth_getLogs of blocks ${from} to ${to}: ${failure?.message}`
      throw new NodeError('upstream', message)
    }
    const middle = from + ((to - from) >> 1)
    most = Math.min(most, middle - from + 1)
    return [...(await part({ from, to: middle }, query)), ...(await ranged({ from: middle + 1, to }, query))]
  }

  async function ranged({ from, to }: Range, query: RemoteLogQuery): Promise<RemoteLog[]> {
    const found: RemoteLog[] = []
    for (let at = from; at <= to; ) {
      const end = Math.min(to, at + most - 1)
      found.push(...(await part({ from: at, to: end }, query)))
      at = end + 1
    }
    return found
  }

  /** Those of one block, out of its receipts. */
  async function ofBlock(hash: Hex, { addresses, topics }: RemoteLogQuery): Promise<RemoteLog[]> {
    const executed = await blocks.blockByHash(hash)
    if (executed === undefined) return []
    const block = { number: executed.block.header.number, hash }
    let logIndex = 0
    return executed.receipts.flatMap(({ logs }, transactionIndex) => {
      const transactionHash = executed.block.transactions[transactionIndex]?.hash as Hex
      return logs
        .map((log) => ({ log, block, transactionHash, transactionIndex, logIndex: logIndex++ }))
        .filter(({ log }) => matchesLog(log, addresses, topics))
    })
  }

  return async (query: RemoteLogQuery): Promise<readonly RemoteLog[]> => {
    const { range } = query
    if ('blockHash' in range) return ofBlock(range.blockHash, query)
    const found = await ranged({ from: Math.max(0, range.from), to: Math.min(range.to, point.number) }, query)
    return found.sort((a, b) => a.block.number - b.block.number || a.logIndex - b.logIndex)
  }
}
