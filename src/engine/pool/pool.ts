/** Transactions that wait for a block: runnable ones, and queued ones that wait for an earlier nonce of their sender. */
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH } from '../../chain/account.ts'
import { authorityOf, delegateOf } from '../../chain/authorization.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { TypedFields } from '../../chain/transaction-bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { TransactionOrder } from '../../options/engine-settings.ts'
import type { StateReader } from '../../state/model.ts'
import type { ChainUpdate, PooledOfSender } from '../model.ts'
import { type Admission, type AdmissionOptions, createAdmission } from './admission.ts'
import { type Candidates, createCandidates } from './order.ts'
import { PoolBooks } from './pool-books.ts'
import type { Quota } from './quota.ts'
import type { SenderBook } from './sender-book.ts'

/** Settings of a pool. */
export interface PoolOptions extends AdmissionOptions {
  /** Order of the senders' next transactions in a block; `fees` unless given. */
  readonly order?: TransactionOrder
  /** A transaction is evicted after more blocks than this; 10 unless given. */
  readonly outdatedBlocks?: number
  /** A transaction is evicted after this many seconds; 650 unless given. */
  readonly outdatedSeconds?: number
}

/** The result of adding a transaction. */
export interface Added {
  readonly status: 'pending' | 'queued'
  /** The one with the same nonce that it replaced. */
  readonly replaced?: Transaction
  /** Transactions that became runnable: this one and the queued ones behind it. */
  readonly promoted: readonly Transaction[]
}

const NOTHING_POOLED: PooledOfSender = { pending: [], queued: [] }

/** The accounts whose nonce the authorizations of a transaction may have raised. */
function authoritiesOf(typed: TypedFields | undefined): Hex[] {
  return (typed?.authorizations ?? []).flatMap((authorization) => authorityOf(authorization) ?? [])
}

function isDelegated({ codeHash }: Account, state: StateReader): boolean {
  return codeHash !== EMPTY_CODE_HASH && delegateOf(state.code(codeHash)) !== undefined
}

/** Why an account that delegates, whose code anyone may run, may not add a transaction (RSKIP-545, in the reference node's words). */
function delegatedRefusal(book: SenderBook, nonce: bigint): string | undefined {
  if (book.pendingCount > 0 || book.queued().length > 0) {
    return 'delegated account already has a transaction in the pool'
  }
  return nonce > book.next ? 'gapped-nonce transaction from delegated account' : undefined
}

/** The pool of a node: admits transactions, and updates its books with the chain. */
export class Pool {
  readonly #options: PoolOptions
  readonly #now: () => number
  readonly #order: TransactionOrder
  readonly #outdatedBlocks: number
  readonly #outdatedSeconds: number
  readonly #admission: Admission
  #books = new PoolBooks()

  constructor(options: PoolOptions, admission = createAdmission(options)) {
    this.#options = options
    this.#now = options.now
    this.#order = options.order ?? 'fees'
    this.#outdatedBlocks = options.outdatedBlocks ?? 10
    this.#outdatedSeconds = options.outdatedSeconds ?? 650
    this.#admission = admission
  }

  /** A pool with the same transactions, which changes by itself; the quotas of the senders belong to both. */
  copy(): Pool {
    const copy = new Pool(this.#options, this.#admission)
    copy.#books = this.#books.copy()
    return copy
  }

  /** Takes the place of a copy, which is not used any more, with what it holds by now. */
  adopt(copy: Pool): void {
    this.#books = copy.#books
  }

  /** Virtual gas of a sender; `undefined` without quotas or for an unknown sender. */
  quotaOf(sender: Hex): Readonly<Quota> | undefined {
    return this.#admission.quotaOf(sender)
  }

  /** How many transactions are runnable, and how many are queued behind a missing nonce. */
  get size(): { readonly pending: number; readonly queued: number } {
    return this.#books.size
  }

  /**
   * Adds a transaction, validated against the head and the state after it. Throws `transaction-refused` with the
   * reference node's text (docs/internals/rpc-reference.md#75-sending). A queued nonce holds one transaction, the latest.
   */
  add(transaction: Transaction, head: ExecutedBlock, state: StateReader): Added {
    const { hash, from, nonce } = transaction
    if (this.#books.has(hash)) {
      const place = this.get(hash) === undefined ? 'queued' : 'pending'
      throw refused(`${place} transaction with same hash already exists`)
    }
    const reason = this.#admission.refusal(transaction, state.account(from), head)
    if (reason !== undefined) throw refused(reason)
    const account = state.account(from) ?? EMPTY_ACCOUNT
    const book = this.#books.open(from, account.nonce)
    this.#books.settle(book, account.nonce)
    const alone = isDelegated(account, state) ? delegatedRefusal(book, nonce) : undefined
    if (alone !== undefined) {
      this.#books.removeIfEmpty(from, book)
      throw refused(alone)
    }
    if (nonce > book.next) {
      const replaced = this.#place(book, transaction, head)
      return { status: 'queued', promoted: [], ...(replaced && { replaced }) }
    }
    const late = this.#admission.lateRefusal(transaction, account, book, head)
    if (late !== undefined) {
      this.#books.removeIfEmpty(from, book)
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
   * Applies a chain update: transactions of removed blocks are added again, oldest first, by the rules for new ones; those
   * with nonces below the account's are removed, and outdated ones are evicted. Returns what became runnable.
   */
  apply({ removed, added }: ChainUpdate, head: ExecutedBlock, state: StateReader): readonly Transaction[] {
    const mined = new Set<Hex>()
    const senders = new Set<Hex>()
    for (const { block } of removed) {
      for (const { from, typed } of block.transactions) {
        senders.add(from)
        for (const authority of authoritiesOf(typed)) senders.add(authority)
      }
    }
    for (const { block } of added) {
      for (const { from, hash, typed } of block.transactions) {
        senders.add(from)
        mined.add(hash)
        for (const authority of authoritiesOf(typed)) senders.add(authority)
      }
    }
    for (const sender of senders) {
      const book = this.#books.of(sender)
      if (book !== undefined) this.#books.settle(book, state.account(sender)?.nonce ?? 0n, mined)
    }
    const runnable: Transaction[] = []
    for (let i = removed.length - 1; i >= 0; i--) {
      for (const transaction of removed[i]?.block.transactions ?? []) {
        if (!mined.has(transaction.hash)) runnable.push(...this.#readd(transaction, head, state))
      }
    }
    for (const sender of senders) {
      const book = this.#books.of(sender)
      if (book === undefined) continue
      this.#promote(book, state.account(sender) ?? EMPTY_ACCOUNT, head, runnable)
      this.#books.removeIfEmpty(sender, book)
    }
    const { number } = head.block.header
    this.#books.evictOlder(number - this.#outdatedBlocks, this.#now() - this.#outdatedSeconds)
    return runnable
  }

  /**
   * Validates all transactions, or those of some senders, again in order of nonce, after the state of the head or the
   * block overrides changed; what is no longer valid is evicted. Returns what became runnable.
   */
  revalidate(
    head: ExecutedBlock,
    state: StateReader,
    senders: Iterable<Hex> = [...this.#books.senders()],
  ): Transaction[] {
    const runnable: Transaction[] = []
    for (const sender of senders) {
      const book = this.#books.of(sender)
      if (book === undefined) continue
      runnable.push(...this.#revalidateBook(book, state.account(sender), head))
      this.#books.removeIfEmpty(sender, book)
    }
    return runnable
  }

  /** A runnable transaction. */
  get(hash: Hex): Transaction | undefined {
    return this.#books.runnable(hash)
  }

  /** Whether the pool holds it, runnable or queued. */
  has(hash: Hex): boolean {
    return this.#books.has(hash)
  }

  /** Runnable transactions, sender by sender in order of nonce. */
  pending(): Transaction[] {
    return [...this.#books.books()].flatMap((book) => [...book.pending()])
  }

  /** Queued transactions, sender by sender in order of nonce. */
  queued(): Transaction[] {
    return [...this.#books.books()].flatMap((book) => book.queued())
  }

  /** The runnable transaction at a position of `pending()`; goes through the senders before its own. */
  pendingAt(position: number): Transaction | undefined {
    let before = 0
    for (const book of this.#books.books()) {
      const found = book.pendingAt(position - before)
      if (found !== undefined) return found
      before += book.pendingCount
    }
    return undefined
  }

  /** The transactions of a sender, in order of nonce. */
  ofSender(address: Hex): PooledOfSender {
    const book = this.#books.of(address)
    return book === undefined ? NOTHING_POOLED : { pending: [...book.pending()], queued: book.queued() }
  }

  /** The transaction of a sender with a nonce, runnable or queued. */
  at(address: Hex, nonce: bigint): Transaction | undefined {
    return this.#books.of(address)?.at(nonce)?.transaction
  }

  /** All transactions, runnable and queued, in order of arrival. */
  inOrder(): Transaction[] {
    return this.#books.inOrder()
  }

  /** Runnable transactions in the order in which a block includes them. */
  candidates(): Candidates {
    return createCandidates(this.#books.books(), this.#order)
  }

  /** The nonce of the sender's next transaction: the first after the runnable ones. */
  nextNonce(address: Hex, state: StateReader): bigint {
    const next = this.#books.of(address)?.next ?? 0n
    const nonce = state.account(address)?.nonce ?? 0n
    return next > nonce ? next : nonce
  }

  /** Removes a transaction, runnable or queued; those with later nonces become queued. */
  drop(hash: Hex): void {
    this.#books.drop(hash)
  }

  clear(): void {
    this.#books.clear()
  }

  /**
   * Hashes evicted since the last call: replaced, with a nonce below the account's, outdated, or no longer valid when
   * they could become runnable. The persisted pool must drop them.
   */
  takeEvicted(): readonly Hex[] {
    return this.#books.takeEvicted()
  }

  #place(book: SenderBook, transaction: Transaction, head: ExecutedBlock): Transaction | undefined {
    const cost = this.#admission.cost(transaction, head)
    const { number: height } = head.block.header
    return this.#books.place(book, transaction, { cost, height, time: this.#now() })
  }

  /** Makes the queued entries at the book's next nonces runnable and appends them to `promoted`, up to the first that is no longer valid, which is evicted. */
  #promote(book: SenderBook, account: Account, head: ExecutedBlock, promoted: Transaction[]): void {
    for (let entry = book.at(book.next); entry !== undefined; entry = book.at(book.next)) {
      const { transaction } = entry
      const reason =
        this.#admission.refusal(transaction, account, head) ??
        this.#admission.lateRefusal(transaction, account, book, head)
      if (reason !== undefined) {
        this.#books.evict(entry)
        return
      }
      this.#books.promote(book)
      promoted.push(transaction)
    }
  }

  #revalidateBook(book: SenderBook, account: Account | undefined, head: ExecutedBlock): Transaction[] {
    const before = new Set([...book.pending()].map(({ hash }) => hash))
    this.#books.settle(book, account?.nonce ?? 0n)
    for (const entry of this.#books.demote(book)) {
      const { transaction, cost } = entry
      const isNext = transaction.nonce === book.next
      const refused = this.#admission.refusal(transaction, account, head) !== undefined
      if (refused || (isNext && book.cost + cost > (account?.balance ?? 0n))) this.#books.evict(entry)
      else if (isNext) this.#books.promote(book)
    }
    return [...book.pending()].filter(({ hash }) => !before.has(hash))
  }

  #readd(transaction: Transaction, head: ExecutedBlock, state: StateReader): readonly Transaction[] {
    try {
      return this.add(transaction, head, state).promoted
    } catch (error) {
      // Transactions that are invalid on the new branch are dropped, as in the reference node.
      if (error instanceof NodeError) return []
      throw error
    }
  }
}

function refused(reason: string): NodeError {
  return new NodeError('transaction-refused', reason)
}
