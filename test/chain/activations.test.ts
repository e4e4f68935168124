/** Heights by the reference node's own settings: fixtures/chain/activation-heights.json. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import heights from '../../fixtures/chain/activation-heights.json' with { type: 'json' }
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { activatingRules, isActive } from '../../src/chain/activations.ts'
import { PRECOMPILE_ADDRESS as AT, CHAINS } from '../../src/chain/config.ts'
import { CONSENSUS_RULES, DRAFT_RULES, type RuleName } from '../../src/chain/consensus-rules.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { activatePrecompiles } from '../../src/chain/precompile-accounts.ts'
import { RULE_HEIGHTS } from '../../src/chain/shipped-networks.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { NOTHING } from '../support/execution.ts'

const NETWORKS = ['regtest', 'testnet', 'testnet2', 'mainnet'] as const
const RULES = (Object.keys(CONSENSUS_RULES) as RuleName[]).filter((rule) => !DRAFT_RULES.includes(rule))

describe('activation heights', () => {
  it.each(NETWORKS)('of %s equal those of the reference node', (network) => {
    const own = Object.fromEntries(RULES.map((rule) => [rule, RULE_HEIGHTS[network][rule] ?? -1]))
    expect(own).toEqual(heights[network])
  })

  it('of devnet equal those of regtest', () => {
    for (const rule of RULES) expect(RULE_HEIGHTS.devnet[rule]).toBe(RULE_HEIGHTS.regtest[rule])
  })

  it('apply from the block of that height on', () => {
    expect(isActive(RULE_HEIGHTS.mainnet, 'rskip125', 1_590_999)).toBe(false)
    expect(isActive(RULE_HEIGHTS.mainnet, 'rskip125', 1_591_000)).toBe(true)
    expect(isActive(RULE_HEIGHTS.regtest, 'areBridgeTxsPaid', 50_000_000)).toBe(false)
    expect(activatingRules(RULE_HEIGHTS.mainnet, 8_052_200)).toEqual(['rskip305', 'rskip516'])
    expect(activatingRules(RULE_HEIGHTS.mainnet, 8_052_201)).toEqual([])
  })
})

describe('accounts of precompiled contracts', () => {
  const marked = { ...EMPTY_ACCOUNT, isContract: true }
  const rich = { ...EMPTY_ACCOUNT, balance: 5n, nonce: 2n }

  it('are created at RSKIP-126 where absent, and existing ones stay unchanged', () => {
    const state = new Overlay(NOTHING)
    state.putAccount(AT.identity, rich)
    activatePrecompiles(state, RULE_HEIGHTS.mainnet, 1_591_000)
    expect(state.account(AT.identity)).toEqual({ ...rich, isContract: true })
    for (const address of [AT.ecrecover, AT.modexp, AT.bridge, AT.remasc]) {
      expect(state.account(address)).toEqual(marked)
    }
    expect(state.account(AT.bn128Add)).toBeUndefined()
  })

  it.each([
    [1_591_000, [AT.hdWalletUtils, AT.blockHeader]],
    [2_392_700, [AT.bn128Add, AT.bn128Mul, AT.bn128Pairing]],
    [3_614_800, [AT.blake2f]],
    [6_223_700, [AT.environment]],
    [8_052_200, [AT.secp256k1Add, AT.secp256k1Mul]],
  ])('are created again by their own rule: mainnet %d', (height, addresses) => {
    const state = new Overlay(NOTHING)
    for (const address of addresses) state.putAccount(address, rich)
    activatePrecompiles(state, RULE_HEIGHTS.mainnet, height)
    for (const address of addresses) expect(state.account(address)).toEqual(marked)
  })

  it('change nothing between activations', () => {
    const state = new Overlay(NOTHING)
    activatePrecompiles(state, RULE_HEIGHTS.mainnet, 1_591_001)
    activatePrecompiles(state, RULE_HEIGHTS.mainnet, 1)
    expect(state.changes().accounts.size).toBe(0)
  })

  it('give the genesis of each network its state root', () => {
    // docs/internals/protocol.md#72-regtest-genesis, and the header of testnet's genesis.
    const expected = {
      regtest: '0x9c13f6bf26a9d1b13b708b5da083cb8f4e948bb7f903174081ad95810d52723f',
      testnet: '0x45bce5168430c42b3d568331753f900a32457b4f3748697cbd8375ff4da72641',
    }
    for (const network of ['regtest', 'testnet'] as const) {
      const file = new URL(`../../genesis/${network}.json`, import.meta.url)
      const trie = new StateTrie({ node: () => undefined, code: () => undefined })
      const state = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
      parseGenesis(JSON.parse(readFileSync(file, 'utf8')), CHAINS[network]).apply(state)
      expect(trie.commit(EMPTY_TRIE_ROOT, state.changes()).root).toBe(expected[network])
    }
  })
})
