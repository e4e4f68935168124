import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChainName } from '../../src/chain/activations.ts'
import { CHAINS, withBlockGasLimit, withDifficulty, withMinimumGasPrice } from '../../src/chain/config.ts'
import {
  gasLimitRange,
  minimumGasPriceRange,
  nextDifficulty,
  nextGasLimit,
  nextMinimumGasPrice,
} from '../../src/chain/next-header.ts'
import { headerWith } from './headers.ts'

describe('difficulty', () => {
  const D = 10n ** 18n
  it.each<[string, ChainName, number, bigint, number, number, bigint]>([
    ['rises by a 50th below the goal', 'mainnet', 1_000, D, 13, 0, D + D / 50n],
    ['falls by a 50th above the goal', 'mainnet', 1_000, D, 15, 0, D - D / 50n],
    ['stays at the goal', 'mainnet', 1_000, D, 14, 0, D],
    ['has a goal that grows with the uncles', 'mainnet', 1_000, D, 42, 2, D],
    ['rises before the uncles’ goal', 'mainnet', 1_000, D, 41, 2, D + D / 50n],
    ['stays when time runs backwards', 'mainnet', 1_000, D, -1, 0, D],
    ['moves by a 400th from RSKIP-156 on', 'mainnet', 2_392_700, D, 13, 0, D + D / 400n],
    ['moves by a 50th until then', 'mainnet', 2_392_699, D, 13, 0, D + D / 50n],
    ['falls to the floor after 600 seconds', 'mainnet', 728_999, D, 600, 0, 7n * 10n ** 15n],
    ['not before 600 seconds', 'mainnet', 728_999, D, 599, 0, D - D / 50n],
    ['not from RSKIP-97 on', 'mainnet', 729_000, D, 600, 0, D - D / 50n],
    ['never falls below the floor', 'mainnet', 3_000_000, 7n * 10n ** 15n, 100, 0, 7n * 10n ** 15n],
    ['has a floor on testnet', 'testnet', 1_000, D, 700, 0, 131_072n],
    ['has a higher one from RSKIP-290 on', 'testnet', 2_581_800, D, 700, 0, 550_000_000n],
    ['has the lower one until then', 'testnet', 2_581_799, D, 700, 0, 131_072n],
    ['keeps the lower floor on devnet', 'devnet', 5_000_000, D, 700, 0, 131_072n],
    ['moves by a 400th on devnet', 'devnet', 1, D, 1, 0, D + D / 400n],
    ['is 1 on regtest', 'regtest', 5, 1n, 1, 0, 1n],
    ['is 1 on regtest however slow', 'regtest', 5, 1n, 599, 0, 1n],
    ['would move by a 2048th on regtest', 'regtest', 5, 4096n, 9, 0, 4098n],
    ['has a goal of 10 seconds on regtest', 'regtest', 5, 4096n, 10, 0, 4096n],
  ])('%s', (_, chain, height, difficulty, interval, uncles, expected) => {
    const parent = headerWith({ number: height - 1, difficulty, timestamp: 1_000 })
    expect(nextDifficulty(parent, 1_000 + interval, uncles, CHAINS[chain])).toBe(expected)
  })
})

describe('a fixed difficulty', () => {
  it.each([0, 9, 10, 14, 600, -1])('does not depend on the interval (%d s) or the parent', (interval) => {
    for (const chain of ['regtest', 'mainnet'] as const) {
      for (const difficulty of [1n, 10n ** 18n]) {
        const parent = headerWith({ number: 0, difficulty, timestamp: 1_000 })
        expect(nextDifficulty(parent, 1_000 + interval, 2, withDifficulty(CHAINS[chain], 5_000n))).toBe(
          5_000n,
        )
      }
    }
  })
})

describe('gas limit', () => {
  it('falls from genesis to the target on regtest, and stays there', () => {
    const limits = [10_000_000n]
    for (let height = 1; height <= 300; height++) {
      const parent = headerWith({ number: height - 1, gasLimit: limits[height - 1] as bigint })
      limits.push(nextGasLimit(parent, CHAINS.regtest))
    }
    expect(limits.slice(1, 4)).toEqual([9_990_235n, 9_980_479n, 9_970_733n])
    expect(limits[294]).toBeGreaterThan(7_500_000n)
    expect(limits.slice(295)).toEqual(new Array(6).fill(7_500_000n))
  })

  it('rises to the target by a 1024th in each block', () => {
    expect(nextGasLimit(headerWith({ gasLimit: 5_000_000n }), CHAINS.testnet)).toBe(5_004_882n)
    expect(nextGasLimit(headerWith({ gasLimit: 6_799_000n }), CHAINS.testnet)).toBe(6_800_000n)
  })

  it('does not change when a setting fixes it', () => {
    const config = withBlockGasLimit(CHAINS.regtest, 1_000_000n)
    expect(nextGasLimit(headerWith({ gasLimit: 1_000_000n }), config)).toBe(1_000_000n)
  })

  it('is always valid for the next block', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 3_000_000n, max: 1n << 62n }), (gasLimit) => {
        const parent = headerWith({ gasLimit })
        for (const config of Object.values(CHAINS)) {
          const next = nextGasLimit(parent, config)
          const { lowest, highest } = gasLimitRange(parent, config)
          expect(next >= lowest && next <= highest).toBe(true)
        }
      }),
    )
  })
})

describe('minimum gas price', () => {
  it.each([
    [0n, 0n, 0n],
    [0n, 10n, 1n],
    [5n, 0n, 4n],
    [99n, 0n, 98n],
    [1_000n, 2_000n, 1_010n],
    [1_000n, 0n, 990n],
    [1_000n, 1_005n, 1_005n],
    [183_000_000n, 0n, 181_170_000n],
  ])('from %d towards %d is %d', (price, target, expected) => {
    const config = withMinimumGasPrice(CHAINS.regtest, target)
    expect(nextMinimumGasPrice(headerWith({ minimumGasPrice: price }), config)).toBe(expected)
  })

  it('changes by at most a hundredth or 1, and is never below zero', () => {
    const range = (minimumGasPrice: bigint) => minimumGasPriceRange(headerWith({ minimumGasPrice }))
    expect(range(0n)).toEqual({ lowest: 0n, highest: 1n })
    expect(range(1n)).toEqual({ lowest: 0n, highest: 2n })
    expect(range(199n)).toEqual({ lowest: 198n, highest: 200n })
    expect(range(200n)).toEqual({ lowest: 198n, highest: 202n })
  })
})
