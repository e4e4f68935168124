/** One sender's transactions in the pool: runnable ones without a gap from the account's nonce on, and queued ones behind a gap. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Arrived, SenderQueue } from './order.ts'

/** A transaction in the pool. */
export interface PoolEntry extends Arrived {
  readonly transaction: Transaction
  /** Maximum that it can cost its sender, wei. */
  readonly cost: bigint
  /** Height of the head when it arrived. */
  readonly height: number
  /** When it arrived, Unix seconds. */
  readonly time: number
}

/** The book of one sender. The runnable nonces are those from the account's up to, not including, `next`. */
export class SenderBook implements SenderQueue {
  readonly #entries = new Map<bigint, PoolEntry>()
  #base: bigint
  #next: bigint
  #cost = 0n

  /** @param nonce the account's. */
  constructor(nonce: bigint) {
    this.#base = nonce
    this.#next = nonce
  }

  /** A book with the same entries, which changes by itself. */
  copy(): SenderBook {
    const copy = new SenderBook(this.#base)
    copy.#next = this.#next
    copy.#cost = this.#cost
    for (const [nonce, entry] of this.#entries) copy.#entries.set(nonce, entry)
    return copy
  }

  /** The first nonce that is not runnable. */
  get next(): bigint {
    return this.#next
  }

  /** Summed cost of the runnable transactions, wei. */
  get cost(): bigint {
    return this.#cost
  }

  get pendingCount(): number {
    return Number(this.#next - this.#base)
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  /** The entry with a nonce, runnable or not. */
  at(nonce: bigint): PoolEntry | undefined {
    return this.#entries.get(nonce)
  }

  get first(): PoolEntry | undefined {
    return this.after(this.#base - 1n)
  }

  /** The runnable entry with the next nonce. */
  after(nonce: bigint): PoolEntry | undefined {
    return nonce + 1n < this.#next ? this.#entries.get(nonce + 1n) : undefined
  }

  /** The runnable transaction at a position from the first on. */
  pendingAt(position: number): Transaction | undefined {
    return position < this.pendingCount
      ? this.#entries.get(this.#base + BigInt(position))?.transaction
      : undefined
  }

  *pending(): Generator<Transaction> {
    for (let entry = this.first; entry !== undefined; entry = this.after(entry.transaction.nonce)) {
      yield entry.transaction
    }
  }

  /** Queued transactions in order of nonce. */
  queued(): Transaction[] {
    const waiting: Transaction[] = []
    for (const [nonce, { transaction }] of this.#entries) if (nonce >= this.#next) waiting.push(transaction)
    return waiting.sort((a, b) => (a.nonce < b.nonce ? -1 : 1))
  }

  /** Puts an entry at its nonce, replacing the one there; runnable if that one was, else queued. */
  put(entry: PoolEntry): void {
    const { nonce } = entry.transaction
    if (nonce < this.#next) this.#cost += entry.cost - (this.#entries.get(nonce)?.cost ?? 0n)
    this.#entries.set(nonce, entry)
  }

  /** Makes the queued entry at `next` runnable. */
  promote(): void {
    const entry = this.#entries.get(this.#next)
    if (entry === undefined) return
    this.#cost += entry.cost
    this.#next++
  }

  /** Removes the entry of a nonce; runnable ones behind it become queued. */
  remove(nonce: bigint): void {
    if (nonce < this.#next) this.#demoteFrom(nonce)
    this.#entries.delete(nonce)
  }

  /** Sets the account's nonce. Removes and returns the entries below it; the caller promotes those that can run now. */
  settle(nonce: bigint): readonly PoolEntry[] {
    if (nonce === this.#base) return []
    const stale: PoolEntry[] = []
    if (nonce < this.#base) {
      this.#demoteFrom(this.#base)
      this.#base = nonce
      this.#next = nonce
      return stale
    }
    for (; this.#base < nonce && this.#base < this.#next; this.#base++) {
      const entry = this.#entries.get(this.#base)
      if (entry === undefined) continue
      this.#cost -= entry.cost
      this.#entries.delete(this.#base)
      stale.push(entry)
    }
    if (this.#next < nonce) {
      for (const [waiting, entry] of this.#entries) {
        if (waiting >= nonce) continue
        this.#entries.delete(waiting)
        stale.push(entry)
      }
      this.#base = nonce
      this.#next = nonce
    }
    return stale
  }

  /** Makes all entries queued, and returns them in order of nonce. */
  demote(): readonly PoolEntry[] {
    this.#demoteFrom(this.#base)
    return [...this.#entries.values()].sort((a, b) => (a.transaction.nonce < b.transaction.nonce ? -1 : 1))
  }

  #demoteFrom(nonce: bigint): void {
    for (let behind = nonce; behind < this.#next; behind++)
      this.#cost -= this.#entries.get(behind)?.cost ?? 0n
    this.#next = nonce
  }
}
