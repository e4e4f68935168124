import { describe, expect, it } from 'vitest'
import limits from '../../fixtures/chain/sublist-limits.json' with { type: 'json' }
import type { ChainName } from '../../src/chain/activations.ts'
import {
  CHAINS,
  maxTransactionGas,
  sublistLimits,
  withBlockGasLimit,
  withMinimumGasPrice,
} from '../../src/chain/config.ts'
import { byChain, CHAIN_NAMES } from '../../src/chain/consensus-rules.ts'
import { headerWith } from './headers.ts'

describe('a record by chain', () => {
  it('is made of a network when that is first read, once', () => {
    const made: ChainName[] = []
    const record = byChain((name) => {
      made.push(name)
      return { name }
    })
    expect(Object.keys(record)).toEqual([...CHAIN_NAMES])
    expect(made).toEqual([])
    expect(record.testnet).toBe(record.testnet)
    expect(made).toEqual(['testnet'])
    expect(Object.values(record).map(({ name }) => name)).toEqual([...CHAIN_NAMES])
    expect(made).toHaveLength(CHAIN_NAMES.length)
  })
})

describe('header versions', () => {
  it.each<[ChainName, number, 0 | 1 | 2]>([
    ['regtest', 0, 0],
    ['regtest', 1, 2],
    ['devnet', 0, 0],
    ['devnet', 1, 2],
    ['testnet', 7_139_599, 0],
    ['testnet', 7_139_600, 1],
    ['testnet', 7_604_199, 1],
    ['testnet', 7_604_200, 2],
    ['mainnet', 0, 0],
    ['mainnet', 50_000_000, 0],
  ])('%s at %d', (chain, height, version) => {
    const rules = CHAINS[chain].rulesAt(height)
    expect(rules.headerVersion).toBe(version)
    expect(rules.parallelSublists).toBe(version > 0)
  })
})

describe('rules', () => {
  it.each<[ChainName, 'rskip92' | 'rskip97' | 'umm' | 'forkDetection', number, number]>([
    ['mainnet', 'rskip92', 728_999, 729_000],
    ['mainnet', 'rskip97', 728_999, 729_000],
    ['mainnet', 'forkDetection', 1_590_999, 1_591_000],
    ['mainnet', 'umm', 2_392_699, 2_392_700],
    ['testnet', 'forkDetection', 448, 449],
    ['testnet', 'umm', 862_999, 863_000],
    ['devnet', 'umm', 0, 1],
    ['regtest', 'umm', 0, 1],
    ['regtest', 'forkDetection', 448, 449],
  ])('%s: %s begins after %d', (chain, rule, before, from) => {
    expect(CHAINS[chain].rulesAt(before)[rule]).toBe(false)
    expect(CHAINS[chain].rulesAt(from)[rule]).toBe(true)
  })

  it('activate RSKIP-92 at genesis and RSKIP-97 never, except on mainnet', () => {
    for (const chain of ['regtest', 'devnet', 'testnet'] as const) {
      expect(CHAINS[chain].rulesAt(0).rskip92).toBe(true)
      expect(CHAINS[chain].rulesAt(50_000_000).rskip97).toBe(false)
    }
  })

  it('are one record for each range of heights', () => {
    expect(CHAINS.regtest.rulesAt(500)).toBe(CHAINS.regtest.rulesAt(501))
  })

  it('widen the window between the clocks on testnet only', () => {
    expect(CHAINS.testnet.parentChainTimeWindowAt(2_060_499)).toBeUndefined()
    expect(CHAINS.testnet.parentChainTimeWindowAt(3_102_999)).toBe(300)
    expect(CHAINS.testnet.parentChainTimeWindowAt(3_103_000)).toBe(7200)
    expect(CHAINS.mainnet.parentChainTimeWindowAt(3_614_799)).toBeUndefined()
    expect(CHAINS.mainnet.parentChainTimeWindowAt(9_000_000)).toBe(300)
  })
})

it('map the chain ids to the names of the networks', () => {
  const ids = Object.values(CHAINS).map(({ name, chainId }) => [name, chainId])
  expect(Object.fromEntries(ids)).toEqual({ mainnet: 30, testnet: 31, devnet: 32, regtest: 33, testnet2: 34 })
})

describe('sublist limits', () => {
  it.each(limits)(
    '$chain at $height, $blockGasLimit gas',
    ({ chain, height, blockGasLimit, parallel, sequential }) => {
      const config = CHAINS[chain as ChainName]
      expect(sublistLimits(config, BigInt(blockGasLimit), height)).toEqual({
        parallel: BigInt(parallel),
        sequential: BigInt(sequential),
      })
      const header = headerWith({ number: height, gasLimit: BigInt(blockGasLimit) })
      expect(maxTransactionGas(config, header)).toBe(BigInt(Math.max(parallel, sequential)))
    },
  )

  it('never allow one transaction more than 2^60 gas', () => {
    const config = withBlockGasLimit(CHAINS.regtest, 1n << 62n)
    expect(maxTransactionGas(config, headerWith({ gasLimit: 1n << 62n }))).toBe(1n << 60n)
  })
})

describe('settings', () => {
  it('fix the gas limit and switch the split off', () => {
    const config = withBlockGasLimit(CHAINS.regtest, 30_000_000n)
    expect(config).toMatchObject({ gasLimitTarget: 30_000_000n, gasLimitMinimum: 30_000_000n })
    expect(config.genesis).toEqual({ gasLimit: 30_000_000n })
    expect(sublistLimits(config, 30_000_000n, 5)).toEqual({ parallel: 0n, sequential: 30_000_000n })
  })

  it('can be combined', () => {
    const config = withMinimumGasPrice(withBlockGasLimit(CHAINS.regtest, 9_000_000n), 60_000_000n)
    expect(config.genesis).toEqual({ gasLimit: 9_000_000n, minimumGasPrice: 60_000_000n })
    expect(config.minimumGasPriceTarget).toBe(60_000_000n)
    expect(CHAINS.regtest.genesis).toBeUndefined()
  })
})
