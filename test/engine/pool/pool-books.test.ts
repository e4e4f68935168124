import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { costOf } from '../../../src/engine/pool/policy.ts'
import { PoolBooks } from '../../../src/engine/pool/pool-books.ts'
import { SENDERS, tx } from './pool-cases.ts'

const [sender] = SENDERS as readonly [Hex]

const entry = (transaction: Transaction, height: number, time: number) => ({
  cost: costOf(transaction),
  height,
  time,
})

/** Books with these transactions of sender 0, of which those that follow one another from 0 on are runnable. */
function booksOf(...transactions: readonly Transaction[]) {
  const books = new PoolBooks()
  const book = books.open(sender, 0n)
  for (const transaction of transactions) books.place(book, transaction, entry(transaction, 1, 100))
  while (book.at(book.next) !== undefined) books.promote(book)
  return { books, book }
}

describe('the accounting of a pool', () => {
  it('starts with the first transaction of a sender and ends with the last', () => {
    const { books, book } = booksOf(tx(0, 0))
    expect(books.of(sender)).toBe(book)
    expect([...books.senders()]).toEqual([sender])
    books.drop(tx(0, 0).hash)
    expect(books.of(sender)).toBeUndefined()
    expect([...books.books()]).toEqual([])
    expect(books.size).toEqual({ pending: 0, queued: 0 })
  })

  it('counts runnable and queued transactions through every change', () => {
    const { books, book } = booksOf(tx(0, 0), tx(0, 1), tx(0, 2), tx(0, 5))
    expect(books.size).toEqual({ pending: 3, queued: 1 })
    expect(books.demote(book).map(({ transaction }) => Number(transaction.nonce))).toEqual([0, 1, 2, 5])
    expect(books.size).toEqual({ pending: 0, queued: 4 })
    books.promote(book)
    expect(books.runnable(tx(0, 0).hash)).toEqual(tx(0, 0))
    expect(books.runnable(tx(0, 1).hash)).toBeUndefined()
    books.settle(book, 2n)
    expect(books.size).toEqual({ pending: 0, queued: 2 })
    books.promote(book)
    expect(books.size).toEqual({ pending: 1, queued: 1 })
    books.clear()
    expect(books.size).toEqual({ pending: 0, queued: 0 })
    expect(books.has(tx(0, 5).hash)).toBe(false)
  })

  it('returns evicted hashes once: replaced, below the account’s nonce, evicted; not mined or dropped ones', () => {
    const { books, book } = booksOf(tx(0, 0), tx(0, 1), tx(0, 2), tx(0, 3), tx(0, 4))
    const dear = tx(0, 4, { gasPrice: 900n })
    expect(books.place(book, dear, entry(dear, 1, 100))).toEqual(tx(0, 4))
    books.settle(book, 2n, new Set([tx(0, 0).hash]))
    books.drop(tx(0, 3).hash)
    const last = book.at(4n)
    if (last !== undefined) books.evict(last)
    expect(books.takeEvicted()).toEqual([tx(0, 4).hash, tx(0, 1).hash, tx(0, 4, { gasPrice: 900n }).hash])
    expect(books.takeEvicted()).toEqual([])
    expect(books.size).toEqual({ pending: 1, queued: 0 })
  })

  it('evicts transactions that are too old by height or by time, the oldest first', () => {
    const { books, book } = booksOf(tx(0, 0))
    books.place(book, tx(0, 1), entry(tx(0, 1), 5, 200))
    books.place(book, tx(0, 2), entry(tx(0, 2), 6, 300))
    books.evictOlder(1, 99)
    expect(books.takeEvicted()).toEqual([])
    books.evictOlder(1, 100)
    expect(books.takeEvicted()).toEqual([tx(0, 0).hash])
    books.evictOlder(6, 0)
    expect(books.takeEvicted()).toEqual([tx(0, 1).hash])
    books.evictOlder(6, 299)
    expect(books.has(tx(0, 2).hash)).toBe(true)
  })
})
