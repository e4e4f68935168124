/** The pool on disk. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Write } from '../../store/table.ts'

/** Makes the writes of the pool's table. Knows which transactions are on disk, so that only those are deleted there. */
export class PersistedPool {
  readonly #blocks: BlockStore
  readonly #hashes: Set<Hex>

  constructor(blocks: BlockStore) {
    this.#blocks = blocks
    this.#hashes = new Set(blocks.poolEntries().map(({ hash }) => hash))
  }

  /** Appends transactions that are not on disk yet. */
  put(transactions: Iterable<Transaction>): Write[] {
    const writes: Write[] = []
    for (const transaction of transactions) {
      if (this.#hashes.has(transaction.hash)) continue
      this.#hashes.add(transaction.hash)
      writes.push(this.#blocks.putPool(transaction))
    }
    return writes
  }

  /** Deletes those that are on disk. */
  drop(hashes: Iterable<Hex>): Write[] {
    const writes: Write[] = []
    for (const hash of hashes) if (this.#hashes.delete(hash)) writes.push(this.#blocks.dropPool(hash))
    return writes
  }

  /** Deletes all. */
  clear(): Write[] {
    return this.drop([...this.#hashes])
  }
}
