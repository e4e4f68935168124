/** The node in this process, as others use it. */

import { NodeError } from '../errors.ts'
import type { Bitcoin } from './bitcoin.ts'
import { entriesInOrder } from './chain/mempool.ts'
import { encodePartialTree } from './chain/merkle-root.ts'
import { RuleViolation } from './chain/rule-violation.ts'
import { bestBlock, blockAt, isActive, type StoredBlock } from './chain/state.ts'
import type { BitcoinNode, BlockSummary, FoundTransaction, WholeBlock } from './node-interface.ts'
import { type Transaction, txid } from './transaction.ts'

function summary({ hash, height, block }: StoredBlock): BlockSummary {
  return { hash, height, header: block.header }
}

/** The interface of the node in this process. */
export class LocalBitcoinNode implements BitcoinNode {
  readonly #bitcoin: Bitcoin

  constructor(bitcoin: Bitcoin) {
    this.#bitcoin = bitcoin
  }

  async bestBlock(): Promise<BlockSummary> {
    return summary(bestBlock(this.#state))
  }

  async hashAt(height: number): Promise<string | undefined> {
    return blockAt(this.#state, height)?.hash
  }

  async header(hash: string): Promise<BlockSummary | undefined> {
    const stored = this.#state.blocks.get(hash)
    return stored && summary(stored)
  }

  async block(hash: string): Promise<WholeBlock | undefined> {
    const stored = this.#state.blocks.get(hash)
    return stored && { ...summary(stored), transactions: stored.block.transactions }
  }

  async transaction(id: string): Promise<FoundTransaction | undefined> {
    const state = this.#state
    const place = state.places.get(id)
    const stored = place && state.blocks.get(place.block)
    const transaction = place && stored?.block.transactions[place.position]
    if (stored !== undefined && transaction !== undefined && isActive(state, stored)) {
      return { transaction, block: summary(stored), confirmations: state.active.size - stored.height }
    }
    const entry = state.mempool.get(id)
    return entry && { transaction: entry.transaction, block: undefined, confirmations: 0 }
  }

  async partialTree(ids: readonly string[], blockHash: string): Promise<Uint8Array | undefined> {
    const stored = this.#state.blocks.get(blockHash)
    const places = ids.map((id) => stored?.ids.indexOf(id) ?? -1)
    if (stored === undefined || places.includes(-1)) return undefined
    return encodePartialTree(stored.block.transactions.map(txid), new Set(places))
  }

  async mempool(): Promise<readonly string[]> {
    return entriesInOrder(this.#state).map(({ id }) => id)
  }

  async broadcast(transaction: Transaction): Promise<string> {
    try {
      return this.#bitcoin.chain.accept(transaction).id
    } catch (error) {
      if (error instanceof RuleViolation) throw new NodeError('transaction-refused', error.message)
      throw error
    }
  }

  onBlock(listener: (best: BlockSummary) => void): () => void {
    return this.#bitcoin.onChange(({ added, removed, after }) => {
      if (added.length + removed.length > 0) listener(summary(bestBlock(after)))
    })
  }

  async close(): Promise<void> {}

  get #state() {
    return this.#bitcoin.chain.state
  }
}
