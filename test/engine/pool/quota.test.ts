import { describe, expect, it } from 'vitest'
import { AccountQuota, virtualGas } from '../../../src/engine/pool/quota.ts'
import { tx } from './pool-cases.ts'

const LIMIT = 7_500_000n

describe('virtual gas', () => {
  it('grows with gas, size, share of the block, a new account, a future nonce and a replacement', () => {
    const plain = tx(0, 4)
    const size = 1 + plain.raw.length / 25_000
    const share = 1 + (4 * 21_000) / 7_500_000
    const base = 21_000 * (1 + 4 / 5) * size * share
    expect(virtualGas(plain, { blockGasLimit: LIMIT, accountNonce: 4n })).toBeCloseTo(base, 6)
    expect(virtualGas(tx(0, 4), { blockGasLimit: LIMIT, accountNonce: 4n, replacedPrice: 50n })).toBeCloseTo(
      base * 1.5,
      6,
    )
    expect(virtualGas(tx(0, 5), { blockGasLimit: LIMIT, accountNonce: 4n })).toBeCloseTo(base * 2, 6)
    expect(virtualGas(tx(0, 0), { blockGasLimit: LIMIT, accountNonce: 0n })).toBeCloseTo(
      21_000 * 5 * size * share,
      6,
    )
  })
})

describe('an account quota', () => {
  it('covers the first transaction of a new account, and must then accumulate', () => {
    const wall = { now: 100 }
    const quota = new AccountQuota(() => wall.now)
    const fresh = { blockGasLimit: LIMIT, accountNonce: 0n }
    expect(quota.accept(tx(0, 0, { gasLimit: 6_800_000n }), fresh)).toBe(true)
    expect(quota.accept(tx(0, 1), fresh)).toBe(false)
    // 6.75 million virtual gas a second; a near-limit deployment costs more than 300 million.
    wall.now += 1
    expect(quota.accept(tx(0, 1), fresh)).toBe(true)
    expect(quota.accept(tx(0, 2, { gasLimit: 6_800_000n }), fresh)).toBe(false)
    wall.now += 60
    expect(quota.accept(tx(0, 2, { gasLimit: 6_800_000n }), fresh)).toBe(true)
  })

  it('starts full for an account with a history, and never exceeds that', () => {
    const wall = { now: 100 }
    const quota = new AccountQuota(() => wall.now)
    const old = { blockGasLimit: LIMIT, accountNonce: 999n }
    const large = tx(1, 999, { gasLimit: 6_800_000n })
    const full = 0.9 * Number(LIMIT) * 2_000
    const affordable = Math.floor(full / virtualGas(large, old))
    for (const wait of [0, 1_000_000]) {
      wall.now += wait
      for (let i = 0; i < affordable; i++) expect(quota.accept(large, old)).toBe(true)
      expect(quota.accept(large, old)).toBe(false)
    }
  })

  it('is separate for each sender', () => {
    const quota = new AccountQuota(() => 0)
    const fresh = { blockGasLimit: LIMIT, accountNonce: 0n }
    expect(quota.accept(tx(0, 0), fresh)).toBe(true)
    expect(quota.accept(tx(0, 1), fresh)).toBe(false)
    expect(quota.accept(tx(1, 0), fresh)).toBe(true)
  })
})
