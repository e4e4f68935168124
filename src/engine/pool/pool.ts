/** Transactions that wait for a block: runnable ones, and ones that wait for an earlier nonce of their sender. */
import type { Account } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { type ChainConfig, maxTransactionGas } from '../../chain/config.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { StateReader } from '../../execution/state.ts'
import type { AskedHeader } from '../dials.ts'
import type { ChainUpdate } from '../events.ts'
import { type Candidates, createCandidates } from './order.ts'
import { costOf, refusalOf, replacementRefusal } from './policy.ts'
import { AccountQuota, type Quota } from './quota.ts'
import { type PoolEntry, SenderBook } from './sender-book.ts'

/** How a pool behaves. */
export interface PoolOptions {
  readonly config: ChainConfig
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** How many nonces, from the account's on, a sender may use; the real node's 16 unless told otherwise. */
  readonly accountSlots?: number
  /** Keep the real node's limit on what a sender may send in a time (protocol 4.5); off unless told otherwise. */
  readonly accountQuota?: boolean
  /** What the next block was asked to be like, beside what follows from the head; nothing unless told otherwise. */
  readonly asked?: () => AskedHeader
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

const NOTHING_ASKED: AskedHeader = {}

/** The pool of a node. Each change costs what it changes, never what else waits. */
export class Pool {
  readonly #config: ChainConfig
  readonly #now: () => number
  readonly #accountSlots: number
  readonly #outdatedBlocks: number
  readonly #outdatedSeconds: number
  readonly #quota: AccountQuota | undefined
  readonly #asked: () => AskedHeader
  readonly #books = new Map<Hex, SenderBook>()
  /** In order of arrival, so the oldest is found at once. */
  readonly #entries = new Map<Hex, PoolEntry>()
  #forgotten: Hex[] = []
  #pendingCount = 0
  #arrivals = 0

  constructor(options: PoolOptions) {
    this.#config = options.config
    this.#now = options.now
    this.#accountSlots = options.accountSlots ?? 16
    this.#outdatedBlocks = options.outdatedBlocks ?? 10
    this.#outdatedSeconds = options.outdatedSeconds ?? 650
    this.#asked = options.asked ?? (() => NOTHING_ASKED)
    this.#quota = options.accountQuota === true ? new AccountQuota(options.now) : undefined
  }

  /** How many transactions are runnable, and how many wait for an earlier nonce. */
  /** The virtual gas that a sender has, where quotas are kept and it is remembered. */
  quotaOf(sender: Hex): Readonly<Quota> | undefined {
    return this.#quota?.of(sender)
  }

  get size(): { readonly pending: number; readonly queued: number } {
    return { pending: this.#pendingCount, queued: this.#entries.size - this.#pendingCount }
  }

  /**
   * Takes a transaction in, judged by the head and the state after it. Throws `transaction-refused` in the node's words
   * (rpc-methods 7.5). A queued nonce holds one transaction, the last that came.
   */
  add(transaction: Transaction, head: ExecutedBlock, state: StateReader): Added {
    const { hash, from, nonce } = transaction
    const known = this.#entries.has(hash)
    if (known) {
      const place = this.get(hash) === undefined ? 'queued' : 'pending'
      throw refused(`${place} transaction with same hash already exists`)
    }
    const account = state.account(from)
    const reason = this.#refusal(transaction, account, head)
    if (reason !== undefined || account === undefined)
      throw refused(reason ?? 'the sender account is unknown')
    const book = this.#books.get(from) ?? new SenderBook(account.nonce)
    this.#settle(book, account.nonce)
    const replaced = book.at(nonce)?.transaction
    if (nonce > book.next) {
      this.#place(book, transaction, head, replaced)
      return { status: 'queued', promoted: [], ...(replaced && { replaced }) }
    }
    const late = this.#lateRefusal(transaction, account, book, head)
    if (late !== undefined) {
      if (book.isEmpty) this.#books.delete(from)
      throw refused(late)
    }
    this.#place(book, transaction, head, replaced)
    const promoted = [transaction]
    if (nonce === book.next) {
      this.#counting(book, () => book.promote())
      promoted.push(...this.#promote(book, account, head))
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
      const book = this.#books.get(sender)
      if (book !== undefined) this.#settle(book, state.account(sender)?.nonce ?? 0n, mined)
    }
    const runnable: Transaction[] = []
    for (const { block } of [...removed].reverse()) {
      for (const transaction of block.transactions) {
        if (mined.has(transaction.hash)) continue
        runnable.push(...this.#offerAgain(transaction, head, state))
      }
    }
    for (const sender of senders) {
      const book = this.#books.get(sender)
      const account = state.account(sender)
      if (book !== undefined && account !== undefined) runnable.push(...this.#promote(book, account, head))
      if (book?.isEmpty) this.#books.delete(sender)
    }
    this.#dropOutdated(head.block.header.number)
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
    senders: Iterable<Hex> = [...this.#books.keys()],
  ): Transaction[] {
    const runnable: Transaction[] = []
    for (const sender of senders) {
      const book = this.#books.get(sender)
      if (book !== undefined) runnable.push(...this.#rejudgeBook(book, state.account(sender), head))
      if (book?.isEmpty) this.#books.delete(sender)
    }
    return runnable
  }

  /** A runnable transaction. */
  get(hash: Hex): Transaction | undefined {
    const transaction = this.#entries.get(hash)?.transaction
    if (transaction === undefined) return undefined
    const book = this.#books.get(transaction.from)
    return book !== undefined && transaction.nonce < book.next ? transaction : undefined
  }

  /** Is it here, runnable or waiting? */
  has(hash: Hex): boolean {
    return this.#entries.has(hash)
  }

  /** Runnable transactions, sender by sender in order of nonce. */
  pending(): Transaction[] {
    return [...this.#books.values()].flatMap((book) => [...book.pending()])
  }

  /** Waiting transactions, sender by sender in order of nonce. */
  queued(): Transaction[] {
    return [...this.#books.values()].flatMap((book) => book.queued())
  }

  /** Runnable transactions in the order in which a block takes them. */
  candidates(): Candidates {
    return createCandidates(this.#books.values())
  }

  /** The nonce that the sender's next transaction should have, behind the runnable ones. */
  nextNonce(address: Hex, state: StateReader): bigint {
    const next = this.#books.get(address)?.next ?? 0n
    const nonce = state.account(address)?.nonce ?? 0n
    return next > nonce ? next : nonce
  }

  /** Takes a transaction out, runnable or waiting; those that need it wait again. */
  drop(hash: Hex): void {
    const entry = this.#entries.get(hash)
    if (entry !== undefined) this.#remove(entry)
  }

  clear(): void {
    this.#books.clear()
    this.#entries.clear()
    this.#pendingCount = 0
  }

  /**
   * Hashes that left since the last call by no block and no order from outside: replaced, outrun, outdated, or refused
   * when their turn came. For whoever keeps the pool on disk.
   */
  takeForgotten(): readonly Hex[] {
    const taken = this.#forgotten
    this.#forgotten = []
    return taken
  }

  #refusal(transaction: Transaction, account: Account | undefined, head: ExecutedBlock): string | undefined {
    const { header } = head.block
    const { gasLimit, minimumGasPrice } = this.#asked()
    return refusalOf(transaction, {
      minimumGasPrice: minimumGasPrice ?? header.minimumGasPrice,
      account,
      maxTransactionGas: gasLimit ?? maxTransactionGas(this.#config, header),
      accountSlots: this.#accountSlots,
    })
  }

  /** The checks that only a transaction meets which is to run next, or in place of one that does. */
  #lateRefusal(
    transaction: Transaction,
    account: Account,
    book: SenderBook,
    head: ExecutedBlock,
  ): string | undefined {
    const replaced = transaction.nonce < book.next ? book.at(transaction.nonce) : undefined
    if (replaced !== undefined) {
      const low = replacementRefusal(transaction.gasPrice, replaced.transaction.gasPrice)
      if (low !== undefined) return low
    }
    const withinQuota = this.#quota?.accept(transaction, {
      blockGasLimit: head.block.header.gasLimit,
      accountNonce: account.nonce,
      replacedPrice: replaced?.transaction.gasPrice,
    })
    if (withinQuota === false) return 'account exceeds quota'
    const cost = book.cost - (replaced?.cost ?? 0n) + costOf(transaction)
    return cost > account.balance ? 'insufficient funds to pay for pending and new transactions' : undefined
  }

  #place(book: SenderBook, transaction: Transaction, head: ExecutedBlock, replaced?: Transaction): void {
    if (replaced !== undefined) {
      this.#entries.delete(replaced.hash)
      this.#forgotten.push(replaced.hash)
    }
    const entry: PoolEntry = {
      transaction,
      arrival: this.#arrivals++,
      cost: costOf(transaction),
      height: head.block.header.number,
      time: this.#now(),
    }
    this.#entries.set(transaction.hash, entry)
    this.#books.set(transaction.from, book)
    book.put(entry)
  }

  /** Makes runnable what waited for the book's next nonce; what no longer passes is forgotten. */
  #promote(book: SenderBook, account: Account, head: ExecutedBlock): Transaction[] {
    const promoted: Transaction[] = []
    for (let entry = book.at(book.next); entry !== undefined; entry = book.at(book.next)) {
      const { transaction } = entry
      const reason =
        this.#refusal(transaction, account, head) ?? this.#lateRefusal(transaction, account, book, head)
      if (reason !== undefined) {
        this.#forget(entry)
        break
      }
      this.#counting(book, () => book.promote())
      promoted.push(transaction)
    }
    return promoted
  }

  #rejudgeBook(book: SenderBook, account: Account | undefined, head: ExecutedBlock): Transaction[] {
    const before = new Set([...book.pending()].map(({ hash }) => hash))
    this.#settle(book, account?.nonce ?? 0n)
    const entries = this.#counting(book, () => book.demote())
    for (const entry of entries) {
      const { transaction, cost } = entry
      const isNext = transaction.nonce === book.next
      const refused = this.#refusal(transaction, account, head) !== undefined
      if (refused || (isNext && book.cost + cost > (account?.balance ?? 0n))) this.#forget(entry)
      else if (isNext) this.#counting(book, () => book.promote())
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

  #settle(book: SenderBook, nonce: bigint, mined?: ReadonlySet<Hex>): void {
    const stale = this.#counting(book, () => book.settle(nonce))
    for (const { transaction } of stale) {
      this.#entries.delete(transaction.hash)
      if (!mined?.has(transaction.hash)) this.#forgotten.push(transaction.hash)
    }
  }

  #dropOutdated(height: number): void {
    const oldest = this.#now() - this.#outdatedSeconds
    for (const entry of this.#entries.values()) {
      if (entry.height + this.#outdatedBlocks >= height && entry.time > oldest) return
      this.#forget(entry)
    }
  }

  #forget(entry: PoolEntry): void {
    this.#remove(entry)
    this.#forgotten.push(entry.transaction.hash)
  }

  #remove({ transaction: { hash, from, nonce } }: PoolEntry): void {
    this.#entries.delete(hash)
    const book = this.#books.get(from)
    if (book === undefined) return
    this.#counting(book, () => book.remove(nonce))
    if (book.isEmpty) this.#books.delete(from)
  }

  #counting<T>(book: SenderBook, change: () => T): T {
    const before = book.pendingCount
    const result = change()
    this.#pendingCount += book.pendingCount - before
    return result
  }
}

function refused(reason: string): NodeError {
  return new NodeError('transaction-refused', reason)
}
