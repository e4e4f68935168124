/** The pool on disk. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Write } from '../../store/table.ts'
import { HashSet } from './hash-set.ts'

/** Makes the writes of the pool's table. Knows which transactions are on disk, so that only those are deleted there. */
export class PersistedPool {
  readonly #blocks: BlockStore
  #hashes = HashSet.of([])

  constructor(blocks: BlockStore) {
    this.#blocks = blocks
    this.reload()
  }

  /** Reads the hashes again from what the block store read. */
  reload(): void {
    this.#hashes = HashSet.of(this.#blocks.poolEntries().map(({ hash }) => hash))
  }

  /** Those of the pool between two commands. */
  get hashes(): HashSet {
    return this.#hashes
  }

  /** Appends transactions that are not on disk yet. */
  put(transactions: Iterable<Transaction>): Write[] {
    const writes: Write[] = []
    for (const transaction of transactions) {
      if (this.#hashes.has(transaction.hash)) continue
      this.#hashes = this.#hashes.with(transaction.hash)
      writes.push(this.#blocks.putPool(transaction))
    }
    return writes
  }

  /** Deletes those that are on disk. */
  drop(hashes: Iterable<Hex>): Write[] {
    const writes: Write[] = []
    for (const hash of hashes) {
      if (!this.#hashes.has(hash)) continue
      this.#hashes = this.#hashes.without(hash)
      writes.push(this.#blocks.dropPool(hash))
    }
    return writes
  }

  /** Deletes all. */
  clear(): Write[] {
    const writes = Array.from(this.#hashes, (hash) => this.#blocks.dropPool(hash))
    this.#hashes = HashSet.of([])
    return writes
  }
}
