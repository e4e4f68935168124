import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT } from '../../../src/chain/account.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { type AdmissionOptions, createAdmission } from '../../../src/engine/pool/admission.ts'
import { costOf } from '../../../src/engine/pool/policy.ts'
import { PoolBooks } from '../../../src/engine/pool/pool-books.ts'
import { CONFIG, head, RICH, SENDERS, tx } from './pool-cases.ts'

const account = { ...EMPTY_ACCOUNT, balance: RICH }
const admissionOf = (options: Partial<AdmissionOptions> = {}) =>
  createAdmission({ config: CONFIG, now: () => 1_000, ...options })

/** The book of sender 0 with its first nonces runnable. */
function bookOf(count: number) {
  const books = new PoolBooks()
  const book = books.open(SENDERS[0] as Hex, 0n)
  for (let nonce = 0; nonce < count; nonce++) {
    const transaction = tx(0, nonce)
    books.place(book, transaction, { cost: costOf(transaction), height: 1, time: 1_000 })
    books.promote(book)
  }
  return book
}

describe('admission to the pool', () => {
  it('is checked against the head, or against the header overrides', () => {
    const cheap = tx(0, 0, { gasPrice: 5n, gasLimit: 30_000n })
    const dear = head(1, [], { minimumGasPrice: 6n })
    expect(admissionOf().refusal(cheap, account, head())).toBeUndefined()
    expect(admissionOf().refusal(cheap, account, dear)).toBe(
      "transaction's gas price lower than block's minimum",
    )
    const cheaper = admissionOf({ headerOverrides: () => ({ minimumGasPrice: 5n }) })
    expect(cheaper.refusal(cheap, account, dear)).toBeUndefined()
    const smaller = admissionOf({ headerOverrides: () => ({ gasLimit: 29_999n }) })
    expect(smaller.refusal(cheap, account, head())).toBe(
      "transaction's gas limit of 30000 is higher than the block's gas limit of 29999",
    )
  })

  it('allows 16 nonces, or the configured number', () => {
    expect(admissionOf().refusal(tx(0, 15), account, head())).toBeUndefined()
    expect(admissionOf().refusal(tx(0, 16), account, head())).toBe('transaction nonce too high')
    expect(admissionOf({ accountSlots: 1 }).refusal(tx(0, 1), account, head())).toBe(
      'transaction nonce too high',
    )
  })
})

describe('admission to the executable part', () => {
  const each = 21_000n * 100n + 1n

  it('requires the balance for all runnable transactions before it, but not for the replaced one', () => {
    const funds = (balance: bigint) => ({ ...account, balance })
    const late = (nonce: number, price: bigint, balance: bigint) =>
      admissionOf().lateRefusal(tx(0, nonce, { gasPrice: price }), funds(balance), bookOf(2), head())
    const poor = 'insufficient funds to pay for pending and new transactions'
    expect(late(2, 100n, 3n * each)).toBeUndefined()
    expect(late(2, 100n, 3n * each - 1n)).toBe(poor)
    expect(late(1, 140n, 2n * each + 21_000n * 40n)).toBeUndefined()
    expect(late(1, 140n, 2n * each + 21_000n * 40n - 1n)).toBe(poor)
    expect(late(1, 139n, RICH)).toBe('gas price not enough to bump transaction')
  })

  it('uses up the quota with each check when quotas are on', () => {
    const kept = admissionOf({ accountQuota: true })
    const [sender] = SENDERS as readonly [Hex]
    expect(kept.quotaOf(sender)).toBeUndefined()
    expect(kept.lateRefusal(tx(0, 0), account, bookOf(0), head())).toBeUndefined()
    expect(kept.quotaOf(sender)).toEqual({ available: 0, since: 1_000 })
    expect(kept.lateRefusal(tx(0, 1), account, bookOf(1), head())).toBe('account exceeds quota')
    const free = admissionOf()
    expect(free.lateRefusal(tx(0, 1), account, bookOf(1), head())).toBeUndefined()
    expect(free.quotaOf(sender)).toBeUndefined()
  })
})
