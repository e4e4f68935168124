/** Transactions that wait for a block: runnable ones, and ones that wait for an earlier nonce of their sender. */
import type { Account } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { StateReader } from '../../state/model.ts'
import type { ChainUpdate } from '../events.ts'
import { type Admission, type AdmissionOptions, createAdmission } from './admission.ts'
import { type Candidates, createCandidates } from './order.ts'
import { PoolBooks } from './pool-books.ts'
import type { Quota } from './quota.ts'
import type { SenderBook } from './sender-book.ts'

/** How a pool behaves. */
export interface PoolOptions extends AdmissionOptions {
  /** A transaction leaves when more blocks than this came after it, or this many seconds have passed; 10 and 650 unless told otherwise. */
  readonly outdatedBlocks?: number
  readonly outdatedSeconds?: number
}

/** What became of an accepted transaction. */
export interface Added {
  readonly status: 'pending' | 'queued'
  /** The one with the same nonce that had to go. */
  readonly replaced?: Transaction
  /** What became runnable: this one and those that had waited for it. */
  readonly promoted: readonly Transaction[]
}

/** The pool of a node: lets in what its admission passes, and lets its books follow the chain. */
export class Pool {
  readonly #now: () => number
  readonly #outdatedBlocks: number
  readonly #outdatedSeconds: number
  readonly #admission: Admission
  readonly #books = new PoolBooks()

  constructor(options: PoolOptions) {
    this.#now = options.now
    this.#outdatedBlocks = options.outdatedBlocks ?? 10
    this.#outdatedSeconds = options.outdatedSeconds ?? 650
    this.#admission = createAdmission(options)
  }

  /** The virtual gas that a sender has, where quotas are kept and it is remembered. */
  quotaOf(sender: Hex): Readonly<Quota> | undefined {
    return this.#admission.quotaOf(sender)
  }

  /** How many transactions are runnable, and how many wait for an earlier nonce. */
  get size(): { readonly pending: number; readonly queued: number } {
    return this.#books.size
  }

  /**
   * Takes a transaction in, judged by the head and the state after it. Throws `transaction-refused` in the node's words
   * (docs/rpc-reference.md#75-sending). A queued nonce holds one transaction, the last that came.
   */
  add(transaction: Transaction, head: ExecutedBlock, state: StateReader): Added {
    const { hash, from, nonce } = transaction
    if (this.#books.has(hash)) {
      const place = this.get(hash) === undefined ? 'queued' : 'pending'
      throw refused(`${place} transaction with same hash already exists`)
    }
    const account = state.account(from)
    const reason = this.#admission.refusal(transaction, account, head)
    if (reason !== undefined || account === undefined)
      throw refused(reason ?? 'the sender account is unknown')
    const book = this.#books.opened(from, account.nonce)
    this.#books.settle(book, account.nonce)
    if (nonce > book.next) {
      const replaced = this.#place(book, transaction, head)
      return { status: 'queued', promoted: [], ...(replaced && { replaced }) }
    }
    const late = this.#admission.lateRefusal(transaction, account, book, head)
    if (late !== undefined) {
      this.#books.closeIfEmpty(from, book)
      throw refused(late)
    }
    const replaced = this.#place(book, transaction, head)
    const promoted = [transaction]
    if (nonce === book.next) {
      this.#books.promote(book)
      this.#promote(book, account, head, promoted)
    }
    return { status: 'pending', promoted, ...(replaced && { replaced }) }
  }

  /**
   * The chain moved: transactions of blocks that left are offered again, oldest first, by the rules for new ones; those
   * that the new state has outrun go, and so do outdated ones. Gives what became runnable.
   */
  apply({ removed, added }: ChainUpdate, head: ExecutedBlock, state: StateReader): readonly Transaction[] {
    const mined = new Set<Hex>()
    const senders = new Set<Hex>()
    for (const { block } of removed) for (const { from } of block.transactions) senders.add(from)
    for (const { block } of added) {
      for (const { from, hash } of block.transactions) {
        senders.add(from)
        mined.add(hash)
      }
    }
    for (const sender of senders) {
      const book = this.#books.of(sender)
      if (book !== undefined) this.#books.settle(book, state.account(sender)?.nonce ?? 0n, mined)
    }
    const runnable: Transaction[] = []
    for (let i = removed.length - 1; i >= 0; i--) {
      for (const transaction of removed[i]?.block.transactions ?? []) {
        if (!mined.has(transaction.hash)) runnable.push(...this.#offerAgain(transaction, head, state))
      }
    }
    for (const sender of senders) {
      const book = this.#books.of(sender)
      if (book === undefined) continue
      const account = state.account(sender)
      if (account !== undefined) this.#promote(book, account, head, runnable)
      this.#books.closeIfEmpty(sender, book)
    }
    const { number } = head.block.header
    this.#books.forgetOlder(number - this.#outdatedBlocks, this.#now() - this.#outdatedSeconds)
    return runnable
  }

  /**
   * The state after the head was edited, or what the next block was asked to be like: all waiting transactions, or those
   * of some senders, are judged again in order of nonce, and what no longer passes is forgotten. Gives what became
   * runnable.
   */
  rejudge(
    head: ExecutedBlock,
    state: StateReader,
    senders: Iterable<Hex> = [...this.#books.senders()],
  ): Transaction[] {
    const runnable: Transaction[] = []
    for (const sender of senders) {
      const book = this.#books.of(sender)
      if (book === undefined) continue
      runnable.push(...this.#rejudgeBook(book, state.account(sender), head))
      this.#books.closeIfEmpty(sender, book)
    }
    return runnable
  }

  /** A runnable transaction. */
  get(hash: Hex): Transaction | undefined {
    return this.#books.runnable(hash)
  }

  /** Is it here, runnable or waiting? */
  has(hash: Hex): boolean {
    return this.#books.has(hash)
  }

  /** Runnable transactions, sender by sender in order of nonce. */
  pending(): Transaction[] {
    return [...this.#books.books()].flatMap((book) => [...book.pending()])
  }

  /** Waiting transactions, sender by sender in order of nonce. */
  queued(): Transaction[] {
    return [...this.#books.books()].flatMap((book) => book.queued())
  }

  /** Runnable transactions in the order in which a block takes them. */
  candidates(): Candidates {
    return createCandidates(this.#books.books())
  }

  /** The nonce that the sender's next transaction should have, behind the runnable ones. */
  nextNonce(address: Hex, state: StateReader): bigint {
    const next = this.#books.of(address)?.next ?? 0n
    const nonce = state.account(address)?.nonce ?? 0n
    return next > nonce ? next : nonce
  }

  /** Takes a transaction out, runnable or waiting; those that need it wait again. */
  drop(hash: Hex): void {
    this.#books.drop(hash)
  }

  clear(): void {
    this.#books.clear()
  }

  /**
   * Hashes that left since the last call by no block and no order from outside: replaced, outrun, outdated, or refused
   * when their turn came. For whoever keeps the pool on disk.
   */
  takeForgotten(): readonly Hex[] {
    return this.#books.takeForgotten()
  }

  #place(book: SenderBook, transaction: Transaction, head: ExecutedBlock): Transaction | undefined {
    return this.#books.place(book, transaction, head.block.header.number, this.#now())
  }

  /** Makes runnable what waited for the book's next nonce, and adds it to a list; what no longer passes is forgotten. */
  #promote(book: SenderBook, account: Account, head: ExecutedBlock, promoted: Transaction[]): void {
    for (let entry = book.at(book.next); entry !== undefined; entry = book.at(book.next)) {
      const { transaction } = entry
      const reason =
        this.#admission.refusal(transaction, account, head) ??
        this.#admission.lateRefusal(transaction, account, book, head)
      if (reason !== undefined) {
        this.#books.forget(entry)
        return
      }
      this.#books.promote(book)
      promoted.push(transaction)
    }
  }

  #rejudgeBook(book: SenderBook, account: Account | undefined, head: ExecutedBlock): Transaction[] {
    const before = new Set([...book.pending()].map(({ hash }) => hash))
    this.#books.settle(book, account?.nonce ?? 0n)
    for (const entry of this.#books.demote(book)) {
      const { transaction, cost } = entry
      const isNext = transaction.nonce === book.next
      const refused = this.#admission.refusal(transaction, account, head) !== undefined
      if (refused || (isNext && book.cost + cost > (account?.balance ?? 0n))) this.#books.forget(entry)
      else if (isNext) this.#books.promote(book)
    }
    return [...book.pending()].filter(({ hash }) => !before.has(hash))
  }

  #offerAgain(transaction: Transaction, head: ExecutedBlock, state: StateReader): readonly Transaction[] {
    try {
      return this.add(transaction, head, state).promoted
    } catch (error) {
      // What the new branch makes impossible is gone, as in the real node.
      if (error instanceof NodeError) return []
      throw error
    }
  }
}

function refused(reason: string): NodeError {
  return new NodeError('transaction-refused', reason)
}
