/** Blocks of the upstream's chain up to the fork point with their uncles and receipts: verified, and kept. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Header } from '../../chain/header.ts'
import { type Hex, toQuantity } from '../../encoding/hex.ts'
import type { RpcCall } from '../../upstream/replies.ts'
import { RecentMap } from '../recent-map.ts'
import type { Asker } from './asker.ts'
import type { BlockCache } from './cache/block-cache.ts'
import { blockParameter, type Capabilities } from './capabilities.ts'
import { ChainAnswers } from './chain-answers.ts'
import { ChainHeaders, type HeaderParts, rawHeaderCall } from './chain-headers.ts'
import { checkEthereumRoots } from './ethereum-roots.ts'
import type { RemoteLocation } from './model.ts'
import { WireBlock, WireHeader, WireLocation, WireReceipt, WireTransaction } from './wire.ts'
import { type BlockAnswer, readBlock } from './wire-block.ts'
import type { ReadHeader } from './wire-header.ts'

/** Blocks that are kept in memory. */
const KEPT_BLOCKS = 256

/** What reading blocks takes. */
export interface BlockParts extends HeaderParts {
  readonly asker: Asker
  /** That of the fork point. */
  readonly cache: BlockCache
  readonly capabilities: Capabilities
  /** Called once, with the reason why transactions and receipts are taken without a proof. */
  readonly notice: (message: string) => void
}

/** A block as it was answered, with the results of the other calls of the request. */
interface Answered {
  readonly fields: WireBlock
  readonly rawHeader: unknown
  /** Of `eth_getBlockReceipts`. */
  readonly receipts: unknown
}

/** The blocks of the upstream's chain. At first only the hash of the fork point is known. */
export class ChainBlocks {
  readonly headers: ChainHeaders
  readonly #answers: ChainAnswers
  readonly #parts: BlockParts
  readonly #blocks = new RecentMap<Hex, ExecutedBlock>(KEPT_BLOCKS)
  #isNoticed = false

  constructor(parts: BlockParts) {
    this.#parts = parts
    this.#answers = new ChainAnswers(parts.asker, parts.cache)
    this.headers = new ChainHeaders(this.#answers, parts)
  }

  /** A canonical block at or below the fork point. Throws `upstream` for a wrong answer. */
  async byHash(hash: Hex): Promise<ExecutedBlock | undefined> {
    const known = this.#blocks.get(hash)
    if (known !== undefined) return known
    const answered = await this.#ask(hash)
    if (answered === undefined) return undefined
    const hidden = await this.#hiddenOf(answered.fields)
    const transactions = [...answered.fields.transactions, ...hidden.transactions]
    const fields = { ...answered.fields, transactions }
    const read = this.headers.read(fields, answered.rawHeader)
    if ((await this.headers.hashAt(fields.number)) !== hash) return undefined
    this.headers.add(fields, read)
    const [uncles, receipts] = await Promise.all([
      this.#unclesOf(fields),
      this.#receiptsOf(answered.fields, answered.receipts),
    ])
    const { config, isSameFamily } = this.#parts
    const answer = { fields, header: read.header, uncles, receipts: [...receipts, ...hidden.receipts] }
    const block = readBlock(answer, config, isSameFamily)
    if (typeof block === 'string') throw this.#answers.wrong(block)
    if (!isSameFamily) await this.#checkRoots(answer, read)
    this.#blocks.set(hash, block)
    return block
  }

  /** The canonical block; `undefined` above the fork point. Throws `upstream` where it is not served. */
  async byNumber(number: number): Promise<ExecutedBlock | undefined> {
    const hash = await this.headers.hashAt(number)
    if (hash === undefined) return undefined
    const block = await this.byHash(hash)
    if (block === undefined) throw this.headers.notServed(number)
    return block
  }

  /** Where a transaction is mined; `undefined` where it is not, or only above the fork point. */
  async locationOf(hash: Hex): Promise<RemoteLocation | undefined> {
    const call: RpcCall = { method: 'eth_getTransactionByHash', params: [hash] }
    const [result] = await this.#answers.ask([call], `transaction ${hash}`)
    if (result === null) return undefined
    const found = this.#answers.read(WireLocation, result, call.method)
    if (found.hash !== hash) {
      throw this.#answers.wrong(`transaction ${hash} was asked for, and ${found.hash} answered`)
    }
    const { blockHash, blockNumber, transactionIndex } = found
    if (blockHash == null || blockNumber == null || transactionIndex == null) return undefined
    if (blockNumber > this.#parts.point.number) return undefined
    return { block: { number: blockNumber, hash: blockHash }, index: transactionIndex }
  }

  async #ask(hash: Hex): Promise<Answered | undefined> {
    const { capabilities, isSameFamily } = this.#parts
    const call: RpcCall = { method: 'eth_getBlockByHash', params: [hash, true] }
    // The form that names a block by its hash alone does not take the height into account.
    const byHash = blockParameter({ number: 0, hash }, capabilities.anchor)
    const canAskAll = capabilities.blockReceipts && capabilities.anchor !== 'number'
    const calls = [
      call,
      ...(isSameFamily ? [rawHeaderCall(hash)] : []),
      ...(canAskAll ? [{ method: 'eth_getBlockReceipts', params: [byHash] }] : []),
    ]
    const results = await this.#answers.ask(calls, `block ${hash}`)
    if (results[0] === null) return undefined
    const fields = this.#answers.read(WireBlock, results[0], call.method)
    if (fields.hash !== hash)
      throw this.#answers.wrong(`block ${hash} was asked for, and ${fields.hash} answered`)
    return {
      fields,
      rawHeader: isSameFamily ? results[1] : undefined,
      receipts: canAskAll ? results.at(-1) : undefined,
    }
  }

  /** The transactions that the block was answered without, and their receipts. */
  async #hiddenOf({ number, hiddenTransactions }: WireBlock): Promise<{
    readonly transactions: WireTransaction[]
    readonly receipts: WireReceipt[]
  }> {
    const hidden = hiddenTransactions ?? []
    const calls = hidden.flatMap((hash): RpcCall[] => [
      { method: 'eth_getTransactionByHash', params: [hash] },
      { method: 'eth_getTransactionReceipt', params: [hash] },
    ])
    const found = await this.#answers.ask(calls, `the hidden transactions of block ${number}`)
    const transactions = hidden.map((_, index) =>
      this.#answers.read(WireTransaction, found[2 * index], 'eth_getTransactionByHash'),
    )
    return { transactions, receipts: hidden.map((_, index) => this.#readReceipt(found[2 * index + 1])) }
  }

  async #unclesOf({ number, hash, uncles }: WireBlock): Promise<Header[]> {
    if (!this.#parts.isSameFamily) return []
    const method = 'eth_getUncleByBlockHashAndIndex'
    const calls = uncles.flatMap((uncle, index): RpcCall[] => [
      { method, params: [hash, toQuantity(index)] },
      rawHeaderCall(uncle),
    ])
    const found = await this.#answers.ask(calls, `the uncles of block ${number}`)
    return uncles.map((uncle, index) => {
      const fields = this.#answers.read(WireHeader, found[2 * index], method)
      if (fields.hash !== uncle) {
        throw this.#answers.wrong(
          `uncle ${uncle} of block ${number} was asked for, and ${fields.hash} answered`,
        )
      }
      return this.headers.read(fields, found[2 * index + 1]).header
    })
  }

  /** The receipts out of `all`, the result of `eth_getBlockReceipts`, or one by one where the upstream does not serve it. */
  async #receiptsOf({ number, transactions }: WireBlock, all: unknown): Promise<WireReceipt[]> {
    if (Array.isArray(all)) return all.map((receipt) => this.#readReceipt(receipt))
    const calls = transactions.map(({ hash }): RpcCall => {
      return { method: 'eth_getTransactionReceipt', params: [hash] }
    })
    const found = await this.#answers.ask(calls, `the receipts of block ${number}`)
    return found.map((receipt) => this.#readReceipt(receipt))
  }

  #readReceipt(receipt: unknown): WireReceipt {
    return this.#answers.read(WireReceipt, receipt, 'eth_getTransactionReceipt')
  }

  /**
   * Throws where transactions and receipts of another family contradict their header. Gives one notice where they cannot be
   * proven.
   */
  async #checkRoots({ fields, receipts }: BlockAnswer, read: ReadHeader): Promise<void> {
    const { wrong, unproven } = read.isVerified
      ? await checkEthereumRoots(fields.transactions, receipts, read.header)
      : { unproven: `the hash of block ${fields.number} is not that of the known members of its header` }
    if (wrong !== undefined) throw this.#answers.wrong(wrong)
    if (unproven === undefined || this.#isNoticed) return
    this.#isNoticed = true
    this.#parts.notice(
      `Transactions and receipts of the fork are not proven by the upstream ${this.#answers.origin()}: ${unproven}.`,
    )
  }
}
