/** The pool after state edits or block overrides: as if its transactions were added anew, in order of nonce. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import type { HeaderOverrides } from '../../../src/engine/model.ts'
import { Pool } from '../../../src/engine/pool/pool.ts'
import { NodeError } from '../../../src/errors.ts'
import { CONFIG, head, Ledger, refusalOf, SENDERS, tx } from './pool-cases.ts'

const HEAD = head(1, [], { minimumGasPrice: 0n })
const COST = 21_000n * 100n + 1n

function poolOf(headerOverrides: () => HeaderOverrides = () => ({})) {
  return new Pool({ config: CONFIG, now: () => 0, headerOverrides })
}

function offer(pool: Pool, transaction: Transaction, ledger: Ledger): void {
  try {
    pool.add(transaction, HEAD, ledger)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
  }
}

const shown = (transactions: readonly Transaction[]) => transactions.map(({ hash }) => hash).sort()

describe('a pool that is validated again', () => {
  it('promotes and returns transactions that a new nonce makes runnable', () => {
    const [ledger, pool] = [new Ledger(), poolOf()]
    for (const nonce of [0, 3, 4]) offer(pool, tx(0, nonce), ledger)
    ledger.set(0, { nonce: 3 })
    expect(pool.revalidate(HEAD, ledger, [SENDERS[0] as Hex])).toEqual([tx(0, 3), tx(0, 4)])
    expect(pool.takeEvicted()).toEqual([tx(0, 0).hash])
    expect(pool.size).toEqual({ pending: 2, queued: 0 })
    expect(pool.revalidate(HEAD, ledger)).toEqual([])
  })

  it('evicts transactions without enough balance, and queues those with later nonces', () => {
    const [ledger, pool] = [new Ledger(), poolOf()]
    for (const nonce of [0, 1, 2]) offer(pool, tx(0, nonce), ledger)
    ledger.set(0, { balance: 2n * COST - 1n })
    expect(pool.revalidate(HEAD, ledger)).toEqual([])
    expect(pool.takeEvicted()).toEqual([tx(0, 1).hash])
    expect(shown(pool.pending())).toEqual([tx(0, 0).hash])
    expect(shown(pool.queued())).toEqual([tx(0, 2).hash])
  })

  it('does not validate senders that are not listed', () => {
    const [ledger, pool] = [new Ledger(), poolOf()]
    for (const sender of [0, 1]) offer(pool, tx(sender, 0), ledger)
    for (const sender of [0, 1]) ledger.set(sender, { balance: 0n })
    pool.revalidate(HEAD, ledger, [SENDERS[1] as Hex, SENDERS[2] as Hex])
    expect(pool.pending()).toEqual([tx(0, 0)])
  })

  it('applies the header overrides', () => {
    let headerOverrides: HeaderOverrides = {}
    const [ledger, pool] = [new Ledger(), poolOf(() => headerOverrides)]
    offer(pool, tx(0, 0, { gasPrice: 5n }), ledger)
    offer(pool, tx(1, 0, { gasLimit: 100_000n }), ledger)
    headerOverrides = { minimumGasPrice: 6n, gasLimit: 90_000n }
    pool.revalidate(HEAD, ledger)
    expect(pool.size).toEqual({ pending: 0, queued: 0 })
    expect(refusalOf(() => pool.add(tx(0, 0, { gasPrice: 5n }), HEAD, ledger))).toBe(
      "transaction's gas price lower than block's minimum",
    )
    headerOverrides = { gasLimit: 50_000_000n }
    expect(pool.add(tx(1, 0, { gasLimit: 40_000_000n, gasPrice: 0n, value: 0n }), HEAD, ledger).status).toBe(
      'pending',
    )
  })

  it('keeps the transactions that a new pool would accept', () => {
    const arrival = fc.record({
      sender: fc.nat(2),
      nonce: fc.nat(5),
      gasPrice: fc.integer({ min: 1, max: 120 }),
    })
    const change = fc.record({
      sender: fc.nat(2),
      nonce: fc.nat(7),
      funds: fc.bigInt(0n, 4n * COST),
    })
    fc.assert(
      fc.property(
        fc.array(arrival, { maxLength: 15 }),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.bigInt(1n, 60n),
        (arrivals, changes, minimumGasPrice) => {
          let headerOverrides: HeaderOverrides = {}
          const [ledger, pool] = [new Ledger(4n * COST), poolOf(() => headerOverrides)]
          for (const { sender, nonce, gasPrice } of arrivals) {
            offer(pool, tx(sender, nonce, { gasPrice: BigInt(gasPrice) }), ledger)
          }
          const before = new Set(shown(pool.pending()))
          const all = [...pool.pending(), ...pool.queued()]
          for (const { sender, nonce, funds } of changes) ledger.set(sender, { nonce, balance: funds })
          headerOverrides = { minimumGasPrice }
          pool.takeEvicted()
          const promoted = pool.revalidate(HEAD, ledger)

          const model = poolOf(() => headerOverrides)
          for (const transaction of all.toSorted((a, b) => Number(a.nonce - b.nonce))) {
            offer(model, transaction, ledger)
          }
          expect(shown(pool.pending())).toEqual(shown(model.pending()))
          expect(shown(pool.queued())).toEqual(shown(model.queued()))
          expect(pool.size).toEqual(model.size)
          expect(shown(promoted)).toEqual(shown(model.pending().filter(({ hash }) => !before.has(hash))))
          const left = all.filter(({ hash }) => !model.has(hash))
          expect([...pool.takeEvicted()].sort()).toEqual(shown(left))
          for (const sender of SENDERS) {
            expect(pool.nextNonce(sender, ledger)).toBe(model.nextNonce(sender, ledger))
          }
        },
      ),
      { numRuns: 100 },
    )
  })
})
