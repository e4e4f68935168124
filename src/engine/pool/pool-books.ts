/** The contents of the pool: each sender's book, all entries by hash in order of arrival, and the evicted hashes. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { type PoolEntry, SenderBook } from './sender-book.ts'

/** The books of a pool, consistent after every change; a change touches only the entries that it concerns. */
export class PoolBooks {
  readonly #books = new Map<Hex, SenderBook>()
  /** In order of arrival, so that the oldest is the first. */
  readonly #entries = new Map<Hex, PoolEntry>()
  #evicted: Hex[] = []
  #pendingCount = 0
  #arrivals = 0

  /** Books with the same contents, which change by themselves. */
  copy(): PoolBooks {
    const copy = new PoolBooks()
    for (const [sender, book] of this.#books) copy.#books.set(sender, book.copy())
    for (const [hash, entry] of this.#entries) copy.#entries.set(hash, entry)
    copy.#evicted = [...this.#evicted]
    copy.#pendingCount = this.#pendingCount
    copy.#arrivals = this.#arrivals
    return copy
  }

  /** Numbers of transactions that are runnable, and that are queued behind a missing nonce. */
  get size(): { readonly pending: number; readonly queued: number } {
    return { pending: this.#pendingCount, queued: this.#entries.size - this.#pendingCount }
  }

  /** Whether the pool holds it, runnable or queued. */
  has(hash: Hex): boolean {
    return this.#entries.has(hash)
  }

  /** All transactions, runnable and queued, in order of arrival. */
  inOrder(): Transaction[] {
    return [...this.#entries.values()].map(({ transaction }) => transaction)
  }

  /** A runnable transaction. */
  runnable(hash: Hex): Transaction | undefined {
    const transaction = this.#entries.get(hash)?.transaction
    if (transaction === undefined) return undefined
    const book = this.#books.get(transaction.from)
    return book !== undefined && transaction.nonce < book.next ? transaction : undefined
  }

  /** The book of a sender with pooled transactions. */
  of(sender: Hex): SenderBook | undefined {
    return this.#books.get(sender)
  }

  /** The book of a sender, or a new one that `place` will add. `nonce` is the account's. */
  open(sender: Hex, nonce: bigint): SenderBook {
    return this.#books.get(sender) ?? new SenderBook(nonce)
  }

  senders(): Iterable<Hex> {
    return this.#books.keys()
  }

  books(): Iterable<SenderBook> {
    return this.#books.values()
  }

  /**
   * Puts a transaction at its nonce; returns the one that it replaces. `cost`: at most, to its sender, wei; `height` is that
   * of the head, `time` Unix seconds.
   */
  place(
    book: SenderBook,
    transaction: Transaction,
    { cost, height, time }: Pick<PoolEntry, 'cost' | 'height' | 'time'>,
  ): Transaction | undefined {
    const replaced = book.at(transaction.nonce)?.transaction
    if (replaced !== undefined) {
      this.#entries.delete(replaced.hash)
      this.#evicted.push(replaced.hash)
    }
    const entry: PoolEntry = { transaction, arrival: this.#arrivals++, cost, height, time }
    this.#entries.set(transaction.hash, entry)
    this.#books.set(transaction.from, book)
    book.put(entry)
    return replaced
  }

  /** Makes the queued entry at the book's next nonce runnable. */
  promote(book: SenderBook): void {
    const before = book.pendingCount
    book.promote()
    this.#recount(book, before)
  }

  /** Makes all entries of a book queued, and returns them in order of nonce. */
  demote(book: SenderBook): readonly PoolEntry[] {
    const before = book.pendingCount
    const entries = book.demote()
    this.#recount(book, before)
    return entries
  }

  /** Sets the account's nonce: entries below it are removed, and evicted unless they were mined. */
  settle(book: SenderBook, nonce: bigint, mined?: ReadonlySet<Hex>): void {
    const before = book.pendingCount
    const stale = book.settle(nonce)
    this.#recount(book, before)
    for (const { transaction } of stale) {
      this.#entries.delete(transaction.hash)
      if (!mined?.has(transaction.hash)) this.#evicted.push(transaction.hash)
    }
  }

  /** Removes an empty book. */
  removeIfEmpty(sender: Hex, book: SenderBook): void {
    if (book.isEmpty) this.#books.delete(sender)
  }

  /** Removes a transaction, runnable or queued; those with later nonces become queued. */
  drop(hash: Hex): void {
    const entry = this.#entries.get(hash)
    if (entry !== undefined) this.#remove(entry)
  }

  /** Removes an entry and adds its hash to the evicted ones. */
  evict(entry: PoolEntry): void {
    this.#remove(entry)
    this.#evicted.push(entry.transaction.hash)
  }

  /** Evicts, from the oldest on, entries that arrived when the head was below a height, or not after a time (Unix seconds). */
  evictOlder(height: number, time: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.height >= height && entry.time > time) return
      this.evict(entry)
    }
  }

  /** Hashes evicted since the last call. */
  takeEvicted(): readonly Hex[] {
    const taken = this.#evicted
    this.#evicted = []
    return taken
  }

  clear(): void {
    this.#books.clear()
    this.#entries.clear()
    this.#pendingCount = 0
  }

  #remove({ transaction: { hash, from, nonce } }: PoolEntry): void {
    this.#entries.delete(hash)
    const book = this.#books.get(from)
    if (book === undefined) return
    const before = book.pendingCount
    book.remove(nonce)
    this.#recount(book, before)
    this.removeIfEmpty(from, book)
  }

  #recount(book: SenderBook, before: number): void {
    this.#pendingCount += book.pendingCount - before
  }
}
