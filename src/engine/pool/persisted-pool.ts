/** The pool on disk. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Write } from '../../store/table.ts'

/** Makes the writes of the pool's table. Knows which transactions are on disk, so that only those are deleted there. */
export class PersistedPool {
  readonly #blocks: BlockStore
  /** Those of the pool between two commands. */
  #hashes: Set<Hex>
  /** Does a snapshot hold the same set? */
  #isShared = false

  constructor(blocks: BlockStore) {
    this.#blocks = blocks
    this.#hashes = new Set(blocks.poolEntries().map(({ hash }) => hash))
  }

  /** Reads the hashes again from what the block store read. */
  reload(): void {
    this.#hashes = new Set(this.#blocks.poolEntries().map(({ hash }) => hash))
    this.#isShared = false
  }

  /** The hashes as they are now, in constant time: the next change is made to a copy. */
  share(): ReadonlySet<Hex> {
    this.#isShared = true
    return this.#hashes
  }

  #own(): Set<Hex> {
    if (this.#isShared) {
      this.#hashes = new Set(this.#hashes)
      this.#isShared = false
    }
    return this.#hashes
  }

  /** Appends transactions that are not on disk yet. */
  put(transactions: Iterable<Transaction>): Write[] {
    const writes: Write[] = []
    for (const transaction of transactions) {
      if (this.#hashes.has(transaction.hash)) continue
      this.#own().add(transaction.hash)
      writes.push(this.#blocks.putPool(transaction))
    }
    return writes
  }

  /** Deletes those that are on disk. */
  drop(hashes: Iterable<Hex>): Write[] {
    const writes: Write[] = []
    for (const hash of hashes) {
      if (!this.#hashes.has(hash)) continue
      this.#own().delete(hash)
      writes.push(this.#blocks.dropPool(hash))
    }
    return writes
  }

  /** Deletes all. */
  clear(): Write[] {
    return this.drop([...this.#hashes])
  }
}
