/** Which waiting transactions the disk holds, so that only those are deleted there. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Write } from '../../store/table.ts'

/** The pool's part of the database, as writes to put into a batch. */
export class KeptPool {
  readonly #blocks: BlockStore
  readonly #kept: Set<Hex>

  constructor(blocks: BlockStore) {
    this.#blocks = blocks
    this.#kept = new Set(blocks.poolEntries().map(({ hash }) => hash))
  }

  /** Notes transactions behind those that are there. */
  put(transactions: Iterable<Transaction>): Write[] {
    const writes: Write[] = []
    for (const transaction of transactions) {
      if (this.#kept.has(transaction.hash)) continue
      this.#kept.add(transaction.hash)
      writes.push(this.#blocks.putPool(transaction))
    }
    return writes
  }

  /** Drops those that are there. */
  drop(hashes: Iterable<Hex>): Write[] {
    const writes: Write[] = []
    for (const hash of hashes) if (this.#kept.delete(hash)) writes.push(this.#blocks.dropPool(hash))
    return writes
  }

  /** Drops all. */
  clear(): Write[] {
    return this.drop([...this.#kept])
  }
}
