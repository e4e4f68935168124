import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { type Arrived, createCandidates, type SenderQueue } from '../../../src/engine/pool/order.ts'
import { tx } from './pool-cases.ts'

const template = tx(0, 0)

/** A sender's transactions at these prices, from nonce 0 on. */
function queueOf(
  from: Hex,
  prices: readonly number[],
  arrivals: Iterator<number, number | undefined>,
): SenderQueue {
  const all: Arrived[] = prices.map((price, nonce) => ({
    transaction: { ...template, from, nonce: BigInt(nonce), gasPrice: BigInt(price) },
    arrival: arrivals.next().value ?? Number.NaN,
  }))
  return { first: all[0], after: (nonce) => all[Number(nonce) + 1] }
}

/** The rule read literally: of all senders' next transactions, the best price, the earliest of equals; or the earliest. */
function plainOrder(
  queues: readonly SenderQueue[],
  rule: 'fees' | 'fifo',
  skipped: (transaction: Transaction) => boolean,
): Transaction[] {
  const order: Transaction[] = []
  let heads = queues.map((queue) => ({ queue, at: queue.first }))
  for (;;) {
    heads = heads.filter(({ at }) => at !== undefined)
    const best = [...heads].sort(
      ({ at: a }, { at: b }) =>
        (rule === 'fees' && Number((b?.transaction.gasPrice ?? 0n) - (a?.transaction.gasPrice ?? 0n))) ||
        (a?.arrival ?? 0) - (b?.arrival ?? 0),
    )[0]
    if (best?.at === undefined) return order
    order.push(best.at.transaction)
    best.at = skipped(best.at.transaction) ? undefined : best.queue.after(best.at.transaction.nonce)
  }
}

describe('candidates', () => {
  it.each(['fees', 'fifo'] as const)(
    'are ordered by %s among senders, by nonce within one sender, and by arrival among equals',
    (rule) => {
      const price = fc.nat({ max: 5 })
      const senders = fc.array(fc.array(price, { maxLength: 6 }), { maxLength: 12 })
      // No two transactions arrive as the same one, so the rule always names exactly one order.
      const everyArrival = Array.from({ length: 12 * 6 }, (_, place) => place)
      const shuffled = fc.shuffledSubarray(everyArrival, { minLength: everyArrival.length })
      fc.assert(
        fc.property(senders, shuffled, fc.nat({ max: 7 }), (prices, order, badNonce) => {
          const arrivals = order.values()
          const queues = prices.map((list, index) => queueOf(`0x${index.toString(16)}`, list, arrivals))
          const skipped = ({ nonce, gasPrice }: Transaction) =>
            nonce === BigInt(badNonce) && gasPrice % 2n === 0n
          const candidates = createCandidates(queues, rule)
          const taken: Transaction[] = []
          for (let next = candidates.next(); next !== undefined; next = candidates.next()) {
            taken.push(next)
            if (skipped(next)) candidates.skipSender(next.from)
          }
          expect(candidates.next()).toBeUndefined()
          expect(taken).toEqual(plainOrder(queues, rule, skipped))
        }),
      )
    },
  )

  it('are empty without senders', () => {
    expect(createCandidates([]).next()).toBeUndefined()
  })
})
