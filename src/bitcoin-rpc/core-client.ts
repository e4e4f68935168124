/** A real Bitcoin Core behind its JSON-RPC, as others use a Bitcoin node. */
import { z } from 'zod'
import { decodeBlock, idOf } from '../bitcoin/chain/block.ts'
import { decodeHeader, HEADER_BYTES } from '../bitcoin/chain/header.ts'
import { digitsOf } from '../bitcoin/displayed-hash.ts'
import type { BitcoinNode, BlockSummary, FoundTransaction, WholeBlock } from '../bitcoin/node-interface.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../bitcoin/transaction.ts'
import { NodeError } from '../errors.ts'
import { Bytes, CoreConnection, CoreError, type CoreOptions, Hash } from './core-connection.ts'
import { CODE } from './rpc-failure.ts'

const POLL_MS = 1000

const HeaderView = z.object({ hash: Hash, height: z.number().int().nonnegative() })
const RawView = z.object({
  hex: Bytes,
  blockhash: Hash.optional(),
  confirmations: z.number().int().default(0),
})

/** The client. It polls for new blocks while something listens. */
export class CoreClient implements BitcoinNode {
  readonly connection: CoreConnection
  readonly #pollMs: number

  /** Connects to nothing yet. Throws a TypeError for a malformed URL. */
  constructor(options: CoreOptions) {
    this.connection = new CoreConnection(options)
    this.#pollMs = options.pollMs ?? POLL_MS
  }

  async bestBlock(): Promise<BlockSummary> {
    const hash = await this.connection.call('getbestblockhash', [], Hash)
    const best = await this.header(hash)
    if (best === undefined) throw this.connection.failure('it does not know its best block')
    return best
  }

  hashAt(height: number): Promise<string | undefined> {
    return this.connection.find('getblockhash', [height], Hash)
  }

  async header(hash: string): Promise<BlockSummary | undefined> {
    const view = await this.connection.find('getblockheader', [hash, true], HeaderView)
    const bytes = view && (await this.connection.find('getblockheader', [hash, false], Bytes))
    if (view === undefined || bytes === undefined) return undefined
    return { ...view, header: this.connection.read(() => decodeHeader(bytes)) }
  }

  async block(hash: string): Promise<WholeBlock | undefined> {
    const view = await this.connection.find('getblockheader', [hash, true], HeaderView)
    const bytes = view && (await this.connection.find('getblock', [hash, 0], Bytes))
    if (view === undefined || bytes === undefined) return undefined
    return { ...view, ...this.connection.read(() => decodeBlock(bytes)) }
  }

  async transaction(id: string): Promise<FoundTransaction | undefined> {
    const view = await this.connection.find('getrawtransaction', [id, true], RawView)
    if (view === undefined) return undefined
    const block = view.blockhash === undefined ? undefined : await this.header(view.blockhash)
    const transaction = this.connection.read(() => decodeTransaction(view.hex))
    return { transaction, block, confirmations: block === undefined ? 0 : view.confirmations }
  }

  async partialTree(ids: readonly string[], blockHash: string): Promise<Uint8Array | undefined> {
    const proof = await this.connection.find('gettxoutproof', [ids, blockHash], Bytes)
    return proof?.slice(HEADER_BYTES)
  }

  mempool(): Promise<readonly string[]> {
    return this.connection.call('getrawmempool', [], z.array(Hash))
  }

  async broadcast(transaction: Transaction): Promise<string> {
    const hex = digitsOf(encodeTransaction(transaction))
    try {
      return await this.connection.request('sendrawtransaction', [hex], Hash)
    } catch (error) {
      if (error instanceof CoreError && error.code === CODE.ALREADY_IN_CHAIN) return idOf(transaction)
      if (error instanceof CoreError) throw new NodeError('transaction-refused', error.message)
      throw error
    }
  }

  onBlock(listener: (best: BlockSummary) => void): () => void {
    const stopped = new AbortController()
    const stop = () => stopped.abort()
    this.connection.signal.addEventListener('abort', stop, { once: true })
    void this.#poll(listener, stopped.signal)
    return stop
  }

  async close(): Promise<void> {
    this.connection.close()
  }

  /** Looks for a new best block until it is stopped. A failure is a look that found nothing. */
  async #poll(listener: (best: BlockSummary) => void, signal: AbortSignal): Promise<void> {
    let last: string | undefined
    while (!signal.aborted) {
      const best = await this.bestBlock().catch(() => undefined)
      if (signal.aborted) return
      if (best !== undefined && last !== undefined && best.hash !== last) listener(best)
      last = best?.hash ?? last
      await this.connection.deps.clock.wait(this.#pollMs, signal).catch(() => {})
    }
  }
}
