/** Keeps the entries of the Bitcoin chain in the node's database. */
import type { BitcoinStore } from '../bitcoin/bitcoin.ts'
import type { EntryChange } from '../bitcoin/chain/state-entries.ts'
import type { Store } from '../store/level.ts'
import type { Table, Write } from '../store/table.ts'
import { parentChainTable } from '../store/tables.ts'

/**
 * The entries. A change is in memory at once and on disk once `settled` resolves; what the disk has refused goes with the
 * next change.
 */
export class BitcoinEntries implements BitcoinStore {
  readonly #store: Store
  readonly #table: Table<string, Uint8Array>
  readonly #loaded: readonly (readonly [string, Uint8Array])[]
  #admit: () => void = () => {}
  /** What is not on disk yet, by key. */
  readonly #unwritten = new Map<string, EntryChange>()
  #collected: EntryChange[] | undefined
  #last: Promise<void> = Promise.resolve()

  /** `loaded`: those of the database. */
  constructor(store: Store, loaded: readonly (readonly [string, Uint8Array])[] = []) {
    this.#store = store
    this.#table = parentChainTable(store)
    this.#loaded = loaded
  }

  /** Reads those of a database. */
  static async open(store: Store): Promise<BitcoinEntries> {
    return new BitcoinEntries(store, await entriesOf(store))
  }

  /** Calls this before each change from now on, which is not made when it throws. */
  admitBy(admit: () => void): void {
    this.#admit = admit
  }

  /** Those that the database had when it was opened. */
  entries(): readonly (readonly [string, Uint8Array])[] {
    return this.#loaded
  }

  write(changes: readonly EntryChange[]): void {
    if (changes.length === 0) return
    if (this.#collected === undefined) this.#admit()
    for (const change of changes) this.#unwritten.set(change.key, change)
    if (this.#collected !== undefined) {
      this.#collected.push(...changes)
      return
    }
    this.#last = this.#store.batch(this.#writesOf([...this.#unwritten.values()]))
    // Reported by `settled`.
    this.#last.catch(() => undefined)
  }

  /** Runs a change of the chain that is written in a batch of its caller's; the writes of that. */
  collect(change: () => void): Write[] {
    this.#collected = []
    try {
      change()
      return this.#writesOf(this.#collected)
    } finally {
      this.#collected = undefined
    }
  }

  /** An entry as it is on disk. */
  stored(key: string): Uint8Array | undefined {
    return this.#table.get(key)
  }

  /** All entries as they are on disk. */
  all(): Promise<readonly (readonly [string, Uint8Array])[]> {
    return entriesOf(this.#store)
  }

  /** Runs a change of the chain to a state that the database has already. */
  adopt(change: () => void): void {
    this.collect(change)
    this.#unwritten.clear()
  }

  /** Resolves when all changes so far are on disk. Throws `storage`. */
  settled(): Promise<void> {
    return this.#last
  }

  #writesOf(changes: readonly EntryChange[]): Write[] {
    const writes: Write[] = changes.map(({ key, value }) =>
      value === undefined ? this.#table.del(key) : this.#table.put(key, value),
    )
    const forget = () => {
      for (const change of changes) {
        if (this.#unwritten.get(change.key) === change) this.#unwritten.delete(change.key)
      }
    }
    return [...writes, { type: 'after', run: forget }]
  }
}

/** The entries of a database. */
async function entriesOf(store: Store): Promise<readonly (readonly [string, Uint8Array])[]> {
  const entries: (readonly [string, Uint8Array])[] = []
  for await (const entry of parentChainTable(store).range()) entries.push(entry)
  return entries
}
