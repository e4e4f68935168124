import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Claims, dividePayout } from '../../../src/execution/remasc/division.ts'
import { fixedHex } from '../../support/arbitraries.ts'

const wei = fc.bigInt({ min: 0n, max: 10n ** 24n })

const siblings = fc.array(
  fc.record({
    hash: fixedHex(32),
    coinbase: fixedHex(20),
    paidFees: wei,
    uncleCount: fc.nat(10),
    publisher: fixedHex(20),
    blocksLate: fc.nat(6),
  }),
  { maxLength: 10 },
)

const claims: fc.Arbitrary<Claims> = fc.record({
  labs: fixedHex(20),
  federators: fc.array(fixedHex(20), { minLength: 1, maxLength: 15 }),
  federationBalance: wei,
  leastFederatorPay: wei,
  miner: fixedHex(20),
  siblings,
  punished: fc.boolean(),
})

describe('dividing a reward', () => {
  it('neither creates nor loses a wei, and makes no negative payment', () => {
    fc.assert(
      fc.property(wei, claims, (reward, parties) => {
        const { payments, burned, federationBalance } = dividePayout(reward, parties)
        const paid = payments.reduce((sum, { amount }) => sum + amount, 0n)
        expect(paid + burned + federationBalance).toBe(reward + parties.federationBalance)
        for (const amount of [burned, federationBalance, ...payments.map((payment) => payment.amount)]) {
          expect(amount >= 0n).toBe(true)
        }
      }),
    )
  })

  it('pays labs first, then the federation, publishers, siblings and the miner of the chain', () => {
    fc.assert(
      fc.property(wei, claims, (reward, parties) => {
        const { payments, federationBalance } = dividePayout(reward, parties)
        const waits = federationBalance > 0n || payments.length === 2 + 2 * parties.siblings.length
        expect(payments.map(({ to }) => to)).toEqual([
          parties.labs,
          ...(waits ? [] : parties.federators),
          ...parties.siblings.map(({ publisher }) => publisher),
          ...parties.siblings.map(({ coinbase }) => coinbase),
          parties.miner,
        ])
      }),
    )
  })

  const one = { hash: '0x01', coinbase: '0x02', paidFees: 0n, uncleCount: 0, publisher: '0x03' } as const
  const parties: Claims = {
    labs: '0x0a',
    federators: ['0x0b', '0x0c', '0x0d'],
    federationBalance: 0n,
    leastFederatorPay: 0n,
    miner: '0x0f',
    siblings: [],
    punished: false,
  }
  const amounts = (reward: bigint, changes: Partial<Claims>) =>
    dividePayout(reward, { ...parties, ...changes })

  // 100,000: labs 20,000; federation 1% of 80,000 = 800 = 3 × 266 + 2; 79,200 are left.
  it('gives the last federator the remainder, and the miner the rest', () => {
    const { payments, burned } = amounts(100_000n, {})
    expect(payments.map(({ amount }) => amount)).toEqual([20_000n, 266n, 266n, 268n, 79_200n])
    expect(burned).toBe(0n)
  })

  it('retains the federation’s part until each federator gets the minimum', () => {
    const { payments, federationBalance } = amounts(100_000n, { leastFederatorPay: 267n })
    expect(payments.map(({ amount }) => amount)).toEqual([20_000n, 79_200n])
    expect(federationBalance).toBe(800n)
    const later = amounts(100_000n, { leastFederatorPay: 267n, federationBalance })
    expect(later.payments.map(({ amount }) => amount)).toEqual([20_000n, 533n, 533n, 534n, 79_200n])
    expect(later.federationBalance).toBe(0n)
  })

  it('burns a tenth of the reward of a punished miner', () => {
    const { payments, burned } = amounts(100_000n, { punished: true })
    expect(payments.at(-1)?.amount).toBe(71_280n)
    expect(burned).toBe(7920n)
  })

  // 79,200: publishers 7,920, three times 2,640; miners 71,280, four times 17,820.
  it('burns a twentieth of a sibling’s part for each block of late inclusion', () => {
    const late = [0, 1, 6].map((blocksLate) => ({ ...one, blocksLate }))
    const { payments, burned } = amounts(100_000n, { siblings: late })
    expect(payments.slice(4).map(({ amount }) => amount)).toEqual([
      2640n,
      2640n,
      2640n,
      17_820n,
      16_929n,
      12_474n,
      17_820n,
    ])
    expect(burned).toBe(891n + 5346n)
  })
})
