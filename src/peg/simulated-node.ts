/** The Bitcoin chain in the node, as others see a Bitcoin node. */
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { RuleViolation } from '../bitcoin/chain/rule-violation.ts'
import { bestBlock, blockAt, isActive, knownBlock, type StoredBlock } from '../bitcoin/chain/state.ts'
import { fromDisplayed } from '../bitcoin/displayed-hash.ts'
import type { BitcoinNode, BlockSummary, FoundTransaction, WholeBlock } from '../bitcoin/node-interface.ts'
import { partialTree } from '../bitcoin/partial-tree.ts'
import { type Transaction, txid } from '../bitcoin/transaction.ts'
import { equal } from '../encoding/bytes.ts'
import { NodeError } from '../errors.ts'

const summaryOf = ({ hash, height, block }: StoredBlock): BlockSummary => ({
  hash,
  height,
  header: block.header,
})

/** A view of the chain; the chain itself stays open. */
export class SimulatedNode implements BitcoinNode {
  readonly #bitcoin: Bitcoin

  constructor(bitcoin: Bitcoin) {
    this.#bitcoin = bitcoin
  }

  get #state() {
    return this.#bitcoin.chain.state
  }

  async bestBlock(): Promise<BlockSummary> {
    return summaryOf(bestBlock(this.#state))
  }

  async hashAt(height: number): Promise<string | undefined> {
    return blockAt(this.#state, height)?.hash
  }

  async header(hash: string): Promise<BlockSummary | undefined> {
    const stored = this.#state.blocks.get(hash)
    return stored && summaryOf(stored)
  }

  async block(hash: string): Promise<WholeBlock | undefined> {
    const stored = this.#state.blocks.get(hash)
    return stored && { ...summaryOf(stored), transactions: stored.block.transactions }
  }

  async transaction(id: string): Promise<FoundTransaction | undefined> {
    const state = this.#state
    const waiting = state.mempool.get(id)
    if (waiting !== undefined) {
      return { transaction: waiting.transaction, block: undefined, confirmations: 0 }
    }
    const place = state.places.get(id)
    if (place === undefined) return undefined
    const stored = knownBlock(state, place.block)
    const transaction = stored.block.transactions[place.position]
    if (transaction === undefined || !isActive(state, stored)) return undefined
    const confirmations = bestBlock(state).height - stored.height + 1
    return { transaction, block: summaryOf(stored), confirmations }
  }

  async partialTree(ids: readonly string[], blockHash: string): Promise<Uint8Array | undefined> {
    const stored = this.#state.blocks.get(blockHash)
    if (stored === undefined || !ids.every((id) => stored.ids.includes(id))) return undefined
    const wanted = ids.map(fromDisplayed)
    const leaves = stored.block.transactions.map(txid)
    return partialTree(leaves, (leaf) => wanted.some((one) => equal(one, leaf)))
  }

  async mempool(): Promise<readonly string[]> {
    return [...this.#state.mempool.values()].map(({ id }) => id)
  }

  async broadcast(transaction: Transaction): Promise<string> {
    try {
      return this.#bitcoin.chain.accept(transaction).id
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error
      throw new NodeError('transaction-refused', `Bitcoin refused the transaction: ${error.message}`)
    }
  }

  onBlock(listener: (best: BlockSummary) => void): () => void {
    return this.#bitcoin.onChange(({ added, removed }) => {
      if (added.length + removed.length > 0) listener(summaryOf(bestBlock(this.#state)))
    })
  }

  async close(): Promise<void> {}
}
