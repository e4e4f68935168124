import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Transaction } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { Pool } from '../../../src/engine/pool/pool.ts'
import { CONFIG, head, Ledger, refusalOf, SENDERS, tx } from './pool-cases.ts'

/** Enough for a few of the priciest transactions below, so that money runs out now and then. */
const BALANCE = 21_000n * 400n * 3n

interface Waiting {
  transaction: Transaction
  height: number
}

const costOf = ({ value, gasLimit, gasPrice }: Transaction) => value + gasLimit * gasPrice

/** The pool as a list, everything worked out anew each time. */
class Model {
  list: Waiting[] = []
  readonly ledger: Ledger

  constructor(ledger: Ledger) {
    this.ledger = ledger
  }

  at(from: Hex, nonce: bigint): Waiting | undefined {
    return this.list.find(({ transaction }) => transaction.from === from && transaction.nonce === nonce)
  }

  runOf(from: Hex): Waiting[] {
    const run: Waiting[] = []
    let nonce = this.ledger.account(from)?.nonce ?? 0n
    for (let next = this.at(from, nonce); next !== undefined; next = this.at(from, ++nonce)) run.push(next)
    return run
  }

  remove(hash: Hex): void {
    this.list = this.list.filter(({ transaction }) => transaction.hash !== hash)
  }

  /** Adds a transaction, or returns the beginning of the refusal's text. */
  add(transaction: Transaction, height: number): string | undefined {
    const { from, nonce, gasPrice } = transaction
    const account = this.ledger.account(from)
    if (account === undefined) throw new Error('no such sender')
    const run = this.runOf(from)
    const next = account.nonce + BigInt(run.length)
    const held = this.at(from, nonce)
    if (held?.transaction.hash === transaction.hash)
      return nonce < next ? 'pending transaction' : 'queued transaction'
    if (nonce < account.nonce) return 'transaction nonce too low'
    if (nonce >= account.nonce + 16n) return 'transaction nonce too high'
    if (account.balance < gasPrice * 21_000n) return 'insufficient funds'
    if (nonce <= next) {
      const replaced = nonce < next ? held?.transaction : undefined
      if (
        replaced !== undefined &&
        (gasPrice <= replaced.gasPrice || gasPrice * 100n < replaced.gasPrice * 140n)
      ) {
        return 'gas price not enough'
      }
      const others = run.filter((entry) => entry.transaction !== replaced)
      const sum = others.reduce((total, entry) => total + costOf(entry.transaction), costOf(transaction))
      if (sum > account.balance) return 'insufficient funds to pay'
    }
    if (held !== undefined) this.remove(held.transaction.hash)
    // Queued transactions are validated when they could become runnable.
    const behind = nonce === next ? this.takeBehind(from, nonce) : []
    this.list.push({ transaction, height })
    for (const entry of behind) {
      if (!this.passes(entry.transaction)) {
        this.list.push(...behind.slice(behind.indexOf(entry) + 1))
        break
      }
      this.list.push(entry)
    }
    return undefined
  }

  private takeBehind(from: Hex, nonce: bigint): Waiting[] {
    const behind: Waiting[] = []
    for (let at = nonce + 1n, next = this.at(from, at); next !== undefined; next = this.at(from, ++at))
      behind.push(next)
    this.list = this.list.filter((entry) => !behind.includes(entry))
    return behind
  }

  private passes(transaction: Transaction): boolean {
    const balance = this.ledger.account(transaction.from)?.balance ?? 0n
    const sum = this.runOf(transaction.from).reduce((total, entry) => total + costOf(entry.transaction), 0n)
    return balance >= transaction.gasPrice * 21_000n && sum + costOf(transaction) <= balance
  }

  mine(mined: readonly Transaction[], height: number): void {
    for (const { hash } of mined) this.remove(hash)
    this.list = this.list.filter(({ height: since }) => since + 10 >= height)
  }
}

const sender = fc.nat({ max: 2 })
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constant('add' as const),
      sender,
      ahead: fc.nat({ max: 5 }),
      price: fc.constantFrom(100n, 139n, 140n, 200n, 400n),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('far' as const),
      sender,
      ahead: fc.integer({ min: -2, max: 18 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('mine' as const), count: fc.nat({ max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('drop' as const), pick: fc.nat() }) },
)

function check(pool: Pool, model: Model): void {
  const runs = SENDERS.map((from) => model.runOf(from).map(({ transaction }) => transaction))
  const byHash = (transactions: readonly Transaction[]) => transactions.map(({ hash }) => hash).sort()
  expect(byHash(pool.pending())).toEqual(byHash(runs.flat()))
  expect(pool.size).toEqual({ pending: runs.flat().length, queued: model.list.length - runs.flat().length })
  expect(byHash([...pool.pending(), ...pool.queued()])).toEqual(
    byHash(model.list.map(({ transaction }) => transaction)),
  )
  for (const [index, from] of SENDERS.entries()) {
    const run = runs[index] ?? []
    expect(pool.pending().filter((transaction) => transaction.from === from)).toEqual(run)
    expect(pool.nextNonce(from, model.ledger)).toBe(
      (model.ledger.account(from)?.nonce ?? 0n) + BigInt(run.length),
    )
    for (const transaction of run) expect(pool.get(transaction.hash)).toBe(transaction)
  }
}

it('the pool has the transactions of a simple model of its rules', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      const ledger = new Ledger(BALANCE)
      const pool = new Pool({ config: CONFIG, now: () => 0 })
      const model = new Model(ledger)
      let height = 1
      const add = (transaction: Transaction) => {
        const words = model.add(transaction, height)
        if (words === undefined) pool.add(transaction, head(height), ledger)
        else expect(refusalOf(() => pool.add(transaction, head(height), ledger)).startsWith(words)).toBe(true)
      }
      for (const next of steps) {
        if (next.act === 'add' || next.act === 'far') {
          const nonce = Number(ledger.of(next.sender).nonce) + next.ahead
          add(tx(next.sender, Math.max(0, nonce), { gasPrice: next.act === 'add' ? next.price : 100n }))
        } else if (next.act === 'mine') {
          height++
          const candidates = pool.candidates()
          const mined: Transaction[] = []
          for (let i = 0; i < next.count; i++) {
            const transaction = candidates.next()
            if (transaction === undefined) break
            mined.push(transaction)
            const index = SENDERS.indexOf(transaction.from)
            expect(transaction.nonce).toBe(ledger.of(index).nonce)
            ledger.set(index, { nonce: Number(transaction.nonce) + 1 })
          }
          pool.apply({ removed: [], added: [head(height, mined)] }, head(height), ledger)
          model.mine(mined, height)
        } else {
          const picked = model.list[next.pick % Math.max(1, model.list.length)]
          if (picked !== undefined) {
            pool.drop(picked.transaction.hash)
            model.remove(picked.transaction.hash)
          }
        }
        check(pool, model)
      }
    }),
    { numRuns: 60 },
  )
})
