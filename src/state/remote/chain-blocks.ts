/** Headers and blocks of the upstream's chain up to the fork point, verified, and kept. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import { type Hex, toQuantity } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RpcCall, RpcOutcome } from '../../upstream/replies.ts'
import { RecentMap } from '../recent-map.ts'
import type { Asker } from './asker.ts'
import type { BlockCache } from './cache/block-cache.ts'
import { blockParameter, type Capabilities } from './capabilities.ts'
import { checkEthereumRoots } from './ethereum-roots.ts'
import type { ForkPoint, RemoteHeader, RemoteLocation } from './model.ts'
import {
  Data,
  readAnswer,
  WireBlock,
  WireHeader,
  WireLocation,
  WireReceipt,
  WireTransaction,
  wrongAnswer,
} from './wire.ts'
import { type BlockAnswer, readBlock } from './wire-block.ts'
import { type ReadHeader, readHeader } from './wire-header.ts'

/** Headers and blocks that are kept in memory. */
const KEPT_HEADERS = 10_000
const KEPT_BLOCKS = 256

/** What reading blocks takes. */
export interface BlockParts {
  readonly point: ForkPoint
  readonly asker: Asker
  /** Of the fork point: all blocks before it are fixed by it. */
  readonly cache: BlockCache
  readonly config: ChainConfig
  readonly capabilities: Capabilities
  readonly isSameFamily: boolean
  /** Given in a sentence, once, why blocks are taken without a proof. */
  readonly notice: (message: string) => void
}

/** The blocks of the upstream's chain. */
export interface ChainBlocks {
  knownHash(number: number): Hex | undefined
  headerByNumber(number: number): Promise<RemoteHeader | undefined>
  headerByHash(hash: Hex): Promise<RemoteHeader | undefined>
  blockByHash(hash: Hex): Promise<ExecutedBlock | undefined>
  blockByNumber(number: number): Promise<ExecutedBlock | undefined>
  transactionLocation(hash: Hex): Promise<RemoteLocation | undefined>
}

/** The result of a call. Throws `upstream` for an error. */
function resultOf(call: RpcCall, outcome: RpcOutcome | undefined, origin: string): unknown {
  if (outcome !== undefined && 'result' in outcome) return outcome.result
  throw new NodeError('upstream', `The upstream ${origin} refused ${call.method}: ${outcome?.error.message}`)
}

const rawByHash = (hash: Hex): RpcCall => ({ method: 'rsk_getRawBlockHeaderByHash', params: [hash] })

/** Nothing is known but the hash of the fork point. */
export function createChainBlocks(parts: BlockParts): ChainBlocks {
  const { point, asker, cache, config, capabilities, isSameFamily, notice } = parts
  let isNoted = false
  const headers = new RecentMap<Hex, RemoteHeader>(KEPT_HEADERS)
  const blocks = new RecentMap<Hex, ExecutedBlock>(KEPT_BLOCKS)
  const hashes = new Map<number, Hex>([[point.number, point.hash]])

  const wrong = (what: string) => wrongAnswer(asker.origin(), what)

  /** The results of calls; of a raw header that is not served, nothing. */
  async function results(calls: readonly RpcCall[], what: string): Promise<unknown[]> {
    const outcomes = await asker.sendCached(calls, cache, what)
    return calls.map((call, index) => {
      const outcome = outcomes[index]
      const isOptional = call.method.startsWith('rsk_') || call.method === 'eth_getBlockReceipts'
      if (isOptional && outcome !== undefined && 'error' in outcome) return null
      return resultOf(call, outcome, asker.origin())
    })
  }

  function rawOf(result: unknown): Uint8Array | undefined {
    if (result === null || result === undefined) return undefined
    return readAnswer(Data, result, 'rsk_getRawBlockHeaderByHash', asker.origin())
  }

  function headerOf(fields: WireHeader, raw: unknown): ReadHeader {
    const header = readHeader({ fields, raw: rawOf(raw) }, config, isSameFamily)
    if (typeof header === 'string') throw wrong(header)
    return header
  }

  /** Refuses a canonical header that does not join those known above and below it. */
  function link(number: number, hash: Hex, header: Header): void {
    const known = hashes.get(number)
    if (known !== undefined && known !== hash)
      throw wrong(`block ${number} is ${hash}, and was ${known} before`)
    const below = hashes.get(number - 1)
    if (below !== undefined && below !== header.parentHash) {
      throw wrong(
        `the parent of block ${number} is ${header.parentHash}, and block ${number - 1} is ${below}`,
      )
    }
    const above = hashes.get(number + 1)
    const next = above === undefined ? undefined : headers.get(above)
    if (next !== undefined && next.header.parentHash !== hash) {
      throw wrong(
        `block ${number} is ${hash}, and the parent of block ${number + 1} is ${next.header.parentHash}`,
      )
    }
    hashes.set(number, hash)
    if (number > 0) hashes.set(number - 1, header.parentHash)
  }

  function keepHeader(fields: WireHeader, read: ReadHeader): RemoteHeader {
    const totalDifficulty = fields.totalDifficulty ?? read.header.difficulty
    const found = { ...read, hash: fields.hash, totalDifficulty }
    headers.set(fields.hash, found)
    return found
  }

  async function headerByHash(hash: Hex): Promise<RemoteHeader | undefined> {
    const known = headers.get(hash)
    if (known !== undefined) return known
    const call: RpcCall = { method: 'eth_getBlockByHash', params: [hash, false] }
    const [result, raw] = await results([call, ...(isSameFamily ? [rawByHash(hash)] : [])], `header ${hash}`)
    if (result === null) return undefined
    const fields = readAnswer(WireHeader, result, call.method, asker.origin())
    if (fields.hash !== hash) throw wrong(`block ${hash} was asked for, and ${fields.hash} answered`)
    return fields.number > point.number ? undefined : keepHeader(fields, headerOf(fields, raw))
  }

  async function headerByNumber(number: number): Promise<RemoteHeader | undefined> {
    if (number < 0 || number > point.number) return undefined
    const hash = hashes.get(number)
    if (hash !== undefined) {
      const found = await headerByHash(hash)
      if (found === undefined) throw notServed(number)
      link(number, hash, found.header)
      return found
    }
    const at = toQuantity(number)
    const call: RpcCall = { method: 'eth_getBlockByNumber', params: [at, false] }
    const raw: RpcCall = { method: 'rsk_getRawBlockHeaderByNumber', params: [at] }
    const [result, bytes] = await results([call, ...(isSameFamily ? [raw] : [])], `block ${number}`)
    if (result === null) throw notServed(number)
    const fields = readAnswer(WireHeader, result, call.method, asker.origin())
    if (fields.number !== number) throw wrong(`block ${number} was asked for, and ${fields.number} answered`)
    const read = headerOf(fields, bytes)
    link(number, fields.hash, read.header)
    return keepHeader(fields, read)
  }

  function notServed(number: number): NodeError {
    return new NodeError(
      'upstream',
      `The upstream ${asker.origin()} does not have block ${number}, which is below the fork point ${point.number}. Name a node with the whole chain with --fork.`,
    )
  }

  async function unclesOf(fields: WireBlock): Promise<Header[]> {
    if (!isSameFamily) return []
    const calls = fields.uncles.flatMap((hash, index): RpcCall[] => [
      { method: 'eth_getUncleByBlockHashAndIndex', params: [fields.hash, toQuantity(index)] },
      rawByHash(hash),
    ])
    const found = await results(calls, `the uncles of block ${fields.number}`)
    return fields.uncles.map((hash, index) => {
      const uncle = readAnswer(
        WireHeader,
        found[2 * index],
        'eth_getUncleByBlockHashAndIndex',
        asker.origin(),
      )
      if (uncle.hash !== hash)
        throw wrong(`uncle ${hash} of block ${fields.number} was asked for, and ${uncle.hash} answered`)
      return headerOf(uncle, found[2 * index + 1]).header
    })
  }

  async function receiptsOf(fields: WireBlock, all: unknown): Promise<WireReceipt[]> {
    const read = (receipt: unknown) =>
      readAnswer(WireReceipt, receipt, 'eth_getTransactionReceipt', asker.origin())
    if (Array.isArray(all)) return all.map(read)
    const calls = fields.transactions.map(({ hash }): RpcCall => {
      return { method: 'eth_getTransactionReceipt', params: [hash] }
    })
    return (await results(calls, `the receipts of block ${fields.number}`)).map(read)
  }

  /** The block with the transactions that it was answered without, and their receipts. */
  async function withHidden(fields: WireBlock): Promise<{ fields: WireBlock; receipts: WireReceipt[] }> {
    const hidden = fields.hiddenTransactions ?? []
    const calls = hidden.flatMap((hash): RpcCall[] => [
      { method: 'eth_getTransactionByHash', params: [hash] },
      { method: 'eth_getTransactionReceipt', params: [hash] },
    ])
    const found = await results(calls, `the hidden transactions of block ${fields.number}`)
    const transactions = hidden.map((_, index) => {
      return readAnswer(WireTransaction, found[2 * index], 'eth_getTransactionByHash', asker.origin())
    })
    const receipts = hidden.map((_, index) => {
      return readAnswer(WireReceipt, found[2 * index + 1], 'eth_getTransactionReceipt', asker.origin())
    })
    return { fields: { ...fields, transactions: [...fields.transactions, ...transactions] }, receipts }
  }

  async function isCanonical({ number, hash }: WireBlock): Promise<boolean> {
    if (number > point.number) return false
    return (hashes.get(number) ?? (await headerByNumber(number))?.hash) === hash
  }

  /** Throws where transactions and receipts of another family contradict their header; states once what it cannot prove. */
  async function holdAgainstRoots({ fields, receipts }: BlockAnswer, read: ReadHeader): Promise<void> {
    const number = `block ${fields.number}`
    const { wrong: flaw, unproven } = read.isVerified
      ? await checkEthereumRoots(fields.transactions, receipts, read.header)
      : { unproven: `the hash of ${number} is not that of the known members of its header` }
    if (flaw !== undefined) throw wrong(flaw)
    if (unproven === undefined || isNoted) return
    isNoted = true
    notice(
      `Transactions and receipts of the fork are not proven by the upstream ${asker.origin()}: ${unproven}.`,
    )
  }

  async function blockByHash(hash: Hex): Promise<ExecutedBlock | undefined> {
    const known = blocks.get(hash)
    if (known !== undefined) return known
    const call: RpcCall = { method: 'eth_getBlockByHash', params: [hash, true] }
    // The form that names a block by its hash alone does not take the height into account.
    const byHash = blockParameter({ number: 0, hash }, capabilities.anchor)
    const canAskAll = capabilities.blockReceipts && capabilities.anchor !== 'number'
    const calls = [
      call,
      ...(isSameFamily ? [rawByHash(hash)] : []),
      ...(canAskAll ? [{ method: 'eth_getBlockReceipts', params: [byHash] }] : []),
    ]
    const found = await results(calls, `block ${hash}`)
    if (found[0] === null) return undefined
    const shown = readAnswer(WireBlock, found[0], call.method, asker.origin())
    const { fields, receipts: hidden } = await withHidden(shown)
    if (fields.hash !== hash) throw wrong(`block ${hash} was asked for, and ${fields.hash} answered`)
    const read = headerOf(fields, isSameFamily ? found[1] : undefined)
    const { header } = read
    if (!(await isCanonical(fields))) return undefined
    link(fields.number, hash, header)
    keepHeader(fields, read)
    const [uncles, receipts] = await Promise.all([
      unclesOf(fields),
      receiptsOf(shown, canAskAll ? found.at(-1) : undefined),
    ])
    const answer = { fields, header, uncles, receipts: [...receipts, ...hidden] }
    const block = readBlock(answer, config, isSameFamily)
    if (typeof block === 'string') throw wrong(block)
    if (!isSameFamily) await holdAgainstRoots(answer, read)
    blocks.set(hash, block)
    return block
  }

  return {
    knownHash: (number) => hashes.get(number),
    headerByNumber,
    headerByHash,
    blockByHash,
    async blockByNumber(number) {
      if (number < 0 || number > point.number) return undefined
      const hash = hashes.get(number) ?? (await headerByNumber(number))?.hash
      const block = hash === undefined ? undefined : await blockByHash(hash)
      if (block === undefined) throw notServed(number)
      return block
    },
    async transactionLocation(hash) {
      const call: RpcCall = { method: 'eth_getTransactionByHash', params: [hash] }
      const [result] = await results([call], `transaction ${hash}`)
      if (result === null) return undefined
      const { blockHash, blockNumber, transactionIndex, ...found } = readAnswer(
        WireLocation,
        result,
        call.method,
        asker.origin(),
      )
      if (found.hash !== hash) throw wrong(`transaction ${hash} was asked for, and ${found.hash} answered`)
      if (blockHash == null || blockNumber == null || transactionIndex == null) return undefined
      if (blockNumber > point.number) return undefined
      return { block: { number: blockNumber, hash: blockHash }, index: transactionIndex }
    },
  }
}
