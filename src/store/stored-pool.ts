/** The transactions that wait, in the database. */
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { PoolEntry } from './records.ts'
import type { Write } from './table.ts'
import type { ChainTables } from './tables.ts'

/** The table of the pool. */
export class StoredPool {
  readonly #table: ChainTables['pool']
  #entries: readonly Transaction[] = []
  #nextArrival = 1

  constructor(table: ChainTables['pool']) {
    this.#table = table
  }

  /** Reads the table again. */
  async reload(): Promise<void> {
    const found: PoolEntry[] = []
    for await (const [, entry] of this.#table.range()) found.push(entry)
    found.sort((a, b) => a.arrival - b.arrival)
    this.#entries = found.map(({ transaction }) => transaction)
    this.#nextArrival = (found.at(-1)?.arrival ?? 0) + 1
  }

  /** Those that waited when the database was opened or read again, oldest first. */
  get entries(): readonly Transaction[] {
    return this.#entries
  }

  get(hash: Hex): Transaction | undefined {
    return this.#table.get(hash)?.transaction
  }

  /** Notes a transaction, behind those noted before. */
  put(transaction: Transaction): Write {
    return this.#table.put(transaction.hash, { arrival: this.#nextArrival++, transaction })
  }

  drop(hash: Hex): Write {
    return this.#table.del(hash)
  }
}
