/** What waits in the pool and where: each sender's book, all entries by hash in order of arrival, and what left unasked. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { costOf } from './policy.ts'
import { type PoolEntry, SenderBook } from './sender-book.ts'

/** The books of a pool: they agree with one another after every change, and each change costs what it changes. */
export class PoolBooks {
  readonly #books = new Map<Hex, SenderBook>()
  /** In order of arrival, so the oldest is found at once. */
  readonly #entries = new Map<Hex, PoolEntry>()
  #forgotten: Hex[] = []
  #pendingCount = 0
  #arrivals = 0

  /** How many transactions are runnable, and how many wait for an earlier nonce. */
  get size(): { readonly pending: number; readonly queued: number } {
    return { pending: this.#pendingCount, queued: this.#entries.size - this.#pendingCount }
  }

  /** Is it here, runnable or waiting? */
  has(hash: Hex): boolean {
    return this.#entries.has(hash)
  }

  /** A runnable transaction. */
  runnable(hash: Hex): Transaction | undefined {
    const transaction = this.#entries.get(hash)?.transaction
    if (transaction === undefined) return undefined
    const book = this.#books.get(transaction.from)
    return book !== undefined && transaction.nonce < book.next ? transaction : undefined
  }

  /** The book of a sender of whom something is here. */
  of(sender: Hex): SenderBook | undefined {
    return this.#books.get(sender)
  }

  /** The book of a sender; a new one where there is none, which `place` takes in. `nonce` is the account's. */
  opened(sender: Hex, nonce: bigint): SenderBook {
    return this.#books.get(sender) ?? new SenderBook(nonce)
  }

  senders(): Iterable<Hex> {
    return this.#books.keys()
  }

  books(): Iterable<SenderBook> {
    return this.#books.values()
  }

  /**
   * Puts a transaction at its nonce, in place of what was there, which is given. `height` is that of the head, `time`
   * Unix seconds.
   */
  place(book: SenderBook, transaction: Transaction, height: number, time: number): Transaction | undefined {
    const replaced = book.at(transaction.nonce)?.transaction
    if (replaced !== undefined) {
      this.#entries.delete(replaced.hash)
      this.#forgotten.push(replaced.hash)
    }
    const cost = costOf(transaction)
    const entry: PoolEntry = { transaction, arrival: this.#arrivals++, cost, height, time }
    this.#entries.set(transaction.hash, entry)
    this.#books.set(transaction.from, book)
    book.put(entry)
    return replaced
  }

  /** Makes the waiting entry at the book's next nonce runnable. */
  promote(book: SenderBook): void {
    const before = book.pendingCount
    book.promote()
    this.#recount(book, before)
  }

  /** Makes all of a book wait again, and gives it in order of nonce. */
  demote(book: SenderBook): readonly PoolEntry[] {
    const before = book.pendingCount
    const entries = book.demote()
    this.#recount(book, before)
    return entries
  }

  /** The account's nonce is now this: what lies below it goes, and is forgotten unless it was mined. */
  settle(book: SenderBook, nonce: bigint, mined?: ReadonlySet<Hex>): void {
    const before = book.pendingCount
    const stale = book.settle(nonce)
    this.#recount(book, before)
    for (const { transaction } of stale) {
      this.#entries.delete(transaction.hash)
      if (!mined?.has(transaction.hash)) this.#forgotten.push(transaction.hash)
    }
  }

  /** Closes a book in which nothing is left. */
  closeIfEmpty(sender: Hex, book: SenderBook): void {
    if (book.isEmpty) this.#books.delete(sender)
  }

  /** Takes a transaction out, runnable or waiting; those that need it wait again. */
  drop(hash: Hex): void {
    const entry = this.#entries.get(hash)
    if (entry !== undefined) this.#remove(entry)
  }

  /** Takes an entry out, unasked. */
  forget(entry: PoolEntry): void {
    this.#remove(entry)
    this.#forgotten.push(entry.transaction.hash)
  }

  /** Forgets, from the oldest on, what came when the head was below a height, or not after a time (Unix seconds). */
  forgetOlder(height: number, time: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.height >= height && entry.time > time) return
      this.forget(entry)
    }
  }

  /** Hashes that left since the last call by no block and no order from outside. */
  takeForgotten(): readonly Hex[] {
    const taken = this.#forgotten
    this.#forgotten = []
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
    this.closeIfEmpty(from, book)
  }

  #recount(book: SenderBook, before: number): void {
    this.#pendingCount += book.pendingCount - before
  }
}
