/** The pool on disk. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StoredPool } from '../../store/stored-pool.ts'
import type { Write } from '../../store/table.ts'
import { HashSet } from './hash-set.ts'

/** Makes the writes of the pool's table. Knows which transactions are on disk, so that only those are deleted there. */
export class PersistedPool {
  readonly #stored: StoredPool
  #hashes = HashSet.of([])

  constructor(stored: StoredPool) {
    this.#stored = stored
    this.reload()
  }

  /** Reads the hashes again from what the store read. */
  reload(): void {
    this.#hashes = HashSet.of(this.#stored.entries.map(({ hash }) => hash))
  }

  /** Those of the pool between two commands. */
  get hashes(): HashSet {
    return this.#hashes
  }

  /** Goes back to earlier ones: the batch of the writes since then was refused. */
  restore(hashes: HashSet): void {
    this.#hashes = hashes
  }

  /** Appends transactions that are not on disk yet. */
  put(transactions: Iterable<Transaction>): Write[] {
    const writes: Write[] = []
    for (const transaction of transactions) {
      if (this.#hashes.has(transaction.hash)) continue
      this.#hashes = this.#hashes.with(transaction.hash)
      writes.push(this.#stored.put(transaction))
    }
    return writes
  }

  /** Deletes those that are on disk. */
  drop(hashes: Iterable<Hex>): Write[] {
    const writes: Write[] = []
    for (const hash of hashes) {
      if (!this.#hashes.has(hash)) continue
      this.#hashes = this.#hashes.without(hash)
      writes.push(this.#stored.drop(hash))
    }
    return writes
  }

  /** Deletes all. */
  clear(): Write[] {
    const writes = Array.from(this.#hashes, (hash) => this.#stored.drop(hash))
    this.#hashes = HashSet.of([])
    return writes
  }
}
