import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { Pool, type PoolOptions } from '../../../src/engine/pool/pool.ts'
import { CONFIG, head, Ledger, RICH, refusalOf, SENDERS, tx } from './pool-cases.ts'

/** A pool at block 1 over a ledger, with a wall clock that the test moves. */
function poolOf(options: Partial<PoolOptions> = {}, balance = RICH) {
  const wall = { now: 1_000 }
  const pool = new Pool({ config: CONFIG, now: () => wall.now, ...options })
  const ledger = new Ledger(balance)
  return { pool, ledger, wall, add: (transaction: Transaction) => pool.add(transaction, head(), ledger) }
}

const nonces = (transactions: readonly Transaction[]) => transactions.map(({ nonce }) => Number(nonce))

/** All transactions on offer to a block, as nonces of their senders. */
function offered(pool: Pool): string[] {
  const order: string[] = []
  const candidates = pool.candidates()
  for (let next = candidates.next(); next !== undefined; next = candidates.next()) {
    order.push(`${SENDERS.indexOf(next.from)}:${next.nonce}`)
  }
  return order
}

describe('adding', () => {
  it('separates runnable from queued transactions, and looks up only runnable ones', () => {
    const { pool, ledger, add } = poolOf()
    expect(add(tx(0, 0))).toEqual({ status: 'pending', promoted: [tx(0, 0)] })
    expect(add(tx(0, 2))).toEqual({ status: 'queued', promoted: [] })
    expect(pool.size).toEqual({ pending: 1, queued: 1 })
    expect(pool.get(tx(0, 0).hash)).toEqual(tx(0, 0))
    expect(pool.get(tx(0, 2).hash)).toBeUndefined()
    expect(pool.get('0x00')).toBeUndefined()
    expect(pool.pending()).toEqual([tx(0, 0)])
    expect(pool.queued()).toEqual([tx(0, 2)])
    expect(pool.nextNonce(SENDERS[0] as Hex, ledger)).toBe(1n)
    expect(pool.nextNonce(SENDERS[1] as Hex, ledger)).toBe(0n)
    expect(pool.nextNonce('0x99', ledger)).toBe(0n)
  })

  it('makes queued transactions runnable once the nonce gap closes', () => {
    const { pool, add } = poolOf()
    for (const nonce of [3, 1, 2, 5]) add(tx(0, nonce))
    expect(nonces(pool.queued())).toEqual([1, 2, 3, 5])
    expect(nonces(add(tx(0, 0)).promoted)).toEqual([0, 1, 2, 3])
    expect(nonces(pool.pending())).toEqual([0, 1, 2, 3])
    expect(pool.size).toEqual({ pending: 4, queued: 1 })
  })

  it('refuses known transactions, with a reason for runnable and for queued ones', () => {
    const { add } = poolOf()
    add(tx(0, 0))
    add(tx(0, 2))
    expect(refusalOf(() => add(tx(0, 0)))).toBe('pending transaction with same hash already exists')
    expect(refusalOf(() => add(tx(0, 2)))).toBe('queued transaction with same hash already exists')
  })

  it('limits gas to the larger sublist of the head, or to the block without sublists', () => {
    const { pool, ledger } = poolOf()
    const large = tx(0, 0, { gasLimit: 10_000_000n })
    expect(refusalOf(() => pool.add(large, head(1, [], { gasLimit: 9_990_235n }), ledger))).toBe(
      "transaction's gas limit of 10000000 is higher than the block's gas limit of 6800001",
    )
    expect(pool.add(large, head(0, [], { gasLimit: 10_000_000n }), ledger).status).toBe('pending')
  })

  it('accepts nonces up to the configured number of slots', () => {
    const { add } = poolOf()
    expect(add(tx(0, 15)).status).toBe('queued')
    expect(refusalOf(() => add(tx(0, 16)))).toBe('transaction nonce too high')
    expect(poolOf({ accountSlots: 100 }).add(tx(0, 99)).status).toBe('queued')
  })

  it('sums the maximum cost of all runnable transactions of a sender', () => {
    const each = 21_000n * 100n + 1n
    const { pool, ledger, add } = poolOf({}, 3n * each)
    for (const nonce of [0, 1, 2]) add(tx(0, nonce))
    const words = 'insufficient funds to pay for pending and new transactions'
    expect(refusalOf(() => add(tx(0, 3)))).toBe(words)
    expect(add(tx(0, 4)).status).toBe('queued')
    expect(refusalOf(() => add(tx(0, 2, { gasPrice: 140n })))).toBe(words)
    ledger.set(0, { balance: 3n * each + 40n * 21_000n })
    expect(add(tx(0, 2, { gasPrice: 140n })).status).toBe('pending')
    expect(add(tx(1, 0)).status).toBe('pending')
    expect(pool.size).toEqual({ pending: 4, queued: 1 })
  })

  it('evicts a queued transaction without enough balance when its turn comes, and stops there', () => {
    const each = 21_000n * 100n + 1n
    const { pool, add } = poolOf({}, 2n * each)
    for (const nonce of [1, 2, 3]) add(tx(0, nonce))
    expect(nonces(add(tx(0, 0)).promoted)).toEqual([0, 1])
    expect(pool.takeEvicted()).toEqual([tx(0, 2).hash])
    expect(pool.takeEvicted()).toEqual([])
    expect(nonces(pool.queued())).toEqual([3])
  })

  it('leaves no trace of a refused transaction', () => {
    const { pool, ledger, add } = poolOf({}, 21_000n * 100n)
    expect(refusalOf(() => add(tx(0, 0)))).toBe('insufficient funds to pay for pending and new transactions')
    expect(pool.size).toEqual({ pending: 0, queued: 0 })
    ledger.set(0, { balance: RICH })
    expect(add(tx(0, 0)).status).toBe('pending')
  })

  it('applies the account quota when it is on', () => {
    const { add, wall } = poolOf({ accountQuota: true })
    add(tx(0, 0))
    expect(refusalOf(() => add(tx(0, 1)))).toBe('account exceeds quota')
    expect(add(tx(0, 2)).status).toBe('queued')
    wall.now += 100
    expect(nonces(add(tx(0, 1)).promoted)).toEqual([1, 2])
  })
})

describe('replacing', () => {
  it('requires a price 40 % higher for a runnable nonce, and removes the replaced transaction', () => {
    const { pool, add } = poolOf()
    add(tx(0, 0, { gasPrice: 0x64n }))
    add(tx(0, 1))
    expect(refusalOf(() => add(tx(0, 0, { gasPrice: 0x8bn })))).toBe(
      'gas price not enough to bump transaction',
    )
    const better = tx(0, 0, { gasPrice: 0x8cn })
    expect(add(better)).toEqual({
      status: 'pending',
      replaced: tx(0, 0, { gasPrice: 0x64n }),
      promoted: [better],
    })
    expect(pool.pending()).toEqual([better, tx(0, 1)])
    expect(pool.takeEvicted()).toEqual([tx(0, 0).hash])
    expect(pool.size).toEqual({ pending: 2, queued: 0 })
  })

  it('keeps the last transaction for a queued nonce', () => {
    const { pool, add } = poolOf()
    add(tx(0, 1))
    const cheaper = tx(0, 1, { gasPrice: 1n })
    expect(add(cheaper)).toEqual({ status: 'queued', replaced: tx(0, 1), promoted: [] })
    expect(pool.queued()).toEqual([cheaper])
    expect(pool.takeEvicted()).toEqual([tx(0, 1).hash])
  })
})

describe('following the chain', () => {
  it('drops mined transactions, and those with nonces below the account’s', () => {
    const { pool, ledger, add } = poolOf()
    const mined = [tx(0, 0), tx(0, 1, { gasPrice: 7n })]
    for (const transaction of [tx(0, 0), tx(0, 1), tx(0, 2), tx(1, 0)]) add(transaction)
    ledger.set(0, { nonce: 2 })
    const block = head(2, mined)
    expect(pool.apply({ removed: [], added: [block] }, block, ledger)).toEqual([])
    expect(pool.pending()).toEqual([tx(0, 2), tx(1, 0)])
    expect(pool.takeEvicted()).toEqual([tx(0, 1).hash])
  })

  it('makes transactions runnable when a block has the missing nonce', () => {
    const { pool, ledger, add } = poolOf()
    add(tx(0, 0))
    for (const nonce of [1, 2, 3, 6]) add(tx(0, nonce + 1))
    ledger.set(0, { nonce: 3 })
    const block = head(2, [tx(0, 0), tx(0, 1), tx(0, 2, { gasPrice: 9n })])
    expect(nonces(pool.apply({ removed: [], added: [block] }, block, ledger))).toEqual([3, 4])
    expect(pool.size).toEqual({ pending: 2, queued: 1 })
    expect(pool.takeEvicted()).toEqual([tx(0, 2).hash])
  })

  it('adds transactions of removed blocks again, oldest first', () => {
    const { pool, ledger, add } = poolOf()
    add(tx(0, 0))
    ledger.set(0, { nonce: 3 })
    const old = [head(2, [tx(0, 0)]), head(3, [tx(0, 1), tx(0, 2)])]
    pool.apply({ removed: [], added: old }, old[1] as never, ledger)
    add(tx(0, 3))
    expect(nonces(pool.pending())).toEqual([3])

    ledger.set(0, { nonce: 1 })
    const other = head(2, [tx(0, 0)])
    const runnable = pool.apply({ removed: [...old].reverse(), added: [other] }, other, ledger)
    expect(nonces(runnable)).toEqual([1, 2, 3])
    expect(nonces(pool.pending())).toEqual([1, 2, 3])
    expect(pool.get(tx(0, 0).hash)).toBeUndefined()
  })

  it('queues transactions behind one that cannot be added again', () => {
    const { pool, ledger, add } = poolOf()
    ledger.set(0, { nonce: 1 })
    add(tx(0, 1))
    ledger.set(0, { nonce: 0 })
    const left = head(2, [tx(0, 0, { gasPrice: 1n })])
    const other = head(2, [], { minimumGasPrice: 50n })
    expect(pool.apply({ removed: [left], added: [other] }, other, ledger)).toEqual([])
    expect(pool.size).toEqual({ pending: 0, queued: 1 })
    expect(nonces(pool.apply({ removed: [], added: [] }, other, ledger))).toEqual([])
    expect(nonces(add(tx(0, 0)).promoted)).toEqual([0, 1])
  })

  it('evicts transactions after ten blocks', () => {
    const { pool, ledger, add } = poolOf()
    add(tx(0, 0))
    pool.add(tx(0, 1), head(2), ledger)
    const at = (number: number) => pool.apply({ removed: [], added: [head(number)] }, head(number), ledger)
    at(11)
    expect(pool.size).toEqual({ pending: 2, queued: 0 })
    at(12)
    expect(pool.size).toEqual({ pending: 0, queued: 1 })
    expect(pool.takeEvicted()).toEqual([tx(0, 0).hash])
    at(13)
    expect(pool.size).toEqual({ pending: 0, queued: 0 })
  })

  it('evicts transactions after 650 seconds', () => {
    const { pool, ledger, wall, add } = poolOf()
    add(tx(0, 0))
    wall.now += 649
    add(tx(1, 0))
    pool.apply({ removed: [], added: [head(2)] }, head(2), ledger)
    expect(pool.size.pending).toBe(2)
    wall.now += 1
    pool.apply({ removed: [], added: [head(3)] }, head(3), ledger)
    expect(pool.pending()).toEqual([tx(1, 0)])
  })
})

describe('removing', () => {
  it('queues later nonces again', () => {
    const { pool, add } = poolOf()
    for (const nonce of [0, 1, 2]) add(tx(0, nonce))
    pool.drop(tx(0, 1).hash)
    expect(pool.size).toEqual({ pending: 1, queued: 1 })
    expect(pool.takeEvicted()).toEqual([])
    expect(nonces(add(tx(0, 1)).promoted)).toEqual([1, 2])
    pool.drop('0x00')
    expect(pool.size).toEqual({ pending: 3, queued: 0 })
  })

  it('empties the pool', () => {
    const { pool, add } = poolOf()
    add(tx(0, 0))
    add(tx(0, 5))
    pool.clear()
    expect(pool.size).toEqual({ pending: 0, queued: 0 })
    expect(offered(pool)).toEqual([])
    expect(add(tx(0, 0)).status).toBe('pending')
  })
})

describe('the selection for a block', () => {
  it('takes the highest prices first, and those of a sender in order of nonce', () => {
    const { pool, add } = poolOf()
    add(tx(0, 0, { gasPrice: 10n }))
    add(tx(0, 1, { gasPrice: 1_000n }))
    add(tx(1, 0, { gasPrice: 50n }))
    add(tx(2, 0, { gasPrice: 10n }))
    add(tx(3, 1, { gasPrice: 9_000n }))
    expect(offered(pool)).toEqual(['1:0', '0:0', '0:1', '2:0'])
    expect(offered(pool)).toEqual(['1:0', '0:0', '0:1', '2:0'])
  })

  it('skips later transactions of a sender after one that did not fit', () => {
    const { pool, add } = poolOf()
    for (const nonce of [0, 1]) {
      add(tx(0, nonce))
      add(tx(1, nonce))
    }
    const candidates = pool.candidates()
    const first = candidates.next()
    candidates.skipSender(first?.from as Hex)
    expect([candidates.next(), candidates.next(), candidates.next()]).toEqual([tx(1, 0), tx(1, 1), undefined])
  })
})
