/** Peg-ins by the rules of earlier upgrades: whitelist, locking cap, events (the reference node's `legacyRegisterPegin`). */
import { describe, expect, it } from 'vitest'
import { formatAddress, TEST_VERSIONS } from '../../../../../src/bitcoin/address.ts'
import { toPublicKey } from '../../../../../src/bitcoin/output-script.ts'
import { multisig } from '../../../../../src/bitcoin/redeem-script.ts'
import { OP } from '../../../../../src/bitcoin/script.ts'
import type { Input, Output } from '../../../../../src/bitcoin/transaction.ts'
import { type IsActive, isActive as isActiveOn } from '../../../../../src/chain/activations.ts'
import { RULE_HEIGHTS } from '../../../../../src/chain/shipped-networks.ts'
import { concat, EMPTY } from '../../../../../src/encoding/bytes.ts'
import { doubleSha256, keccakHex } from '../../../../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../../../../src/encoding/hex.ts'
import { createBridge, openBridge } from '../../../../../src/evm/precompiles/bridge/bridge.ts'
import { REGTEST } from '../../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import { PrecompileFailure } from '../../../../../src/evm/precompiles/precompile.ts'
import { dataOf, FEDERATOR } from '../calls.ts'
import { ACCOUNT, input, KEY, pushes, SIGNATURE } from './inputs.ts'
import { FEDERATION_SCRIPT, peggedBridge, rawOf } from './parent-blocks.ts'

/** Heights of the public chain at which these were its last upgrades. */
const LAST = { wasabi: 2_000_000, papyrus: 2_500_000, iris: 4_000_000, fingerroot: 5_500_000 } as const
const rulesOf =
  (upgrade: keyof typeof LAST): IsActive =>
  (rule) =>
    isActiveOn(RULE_HEIGHTS.mainnet, rule, LAST[upgrade])

const WHITELISTER: Hex = '0x87d2a0f33744929da08b65fd62b627ea52b25f8e'
const topic = (signature: string) => keccakHex(new TextEncoder().encode(signature))
const NAMES = new Map(
  [
    'lock_btc(address,bytes32,string,int256)',
    'pegin_btc(address,bytes32,int256,int256)',
    'rejected_pegin(bytes32,int256)',
    'unrefundable_pegin(bytes32,int256)',
    'release_requested(bytes32,bytes32,uint256)',
  ].map((signature) => [topic(signature), signature.slice(0, signature.indexOf('('))]),
)

function earlyBridge(upgrade: keyof typeof LAST, balance?: () => bigint) {
  const rules = rulesOf(upgrade)
  const contract = createBridge(REGTEST, rules)
  const bridge = peggedBridge({ isLocal: false, ...(balance && { balance }) })
  const run = (data: Hex, caller: Hex): Hex | 'failure' => {
    try {
      return toHex(contract.run(fromHex(data), { ...bridge.env, caller }))
    } catch (error) {
      if (error instanceof PrecompileFailure) return 'failure'
      throw error
    }
  }
  const register = (first: Input, outputs: readonly Output[], caller: Hex = FEDERATOR) => {
    const bytes = rawOf([first], outputs)
    const { height, tree } = bridge.block([doubleSha256(bytes)])
    const before = bridge.logs.length
    const result = run(dataOf('registerBtcTransaction', toHex(bytes), BigInt(height), tree(0)), caller)
    const events = bridge.logs.slice(before).map(({ topics: [first = '0x'], data }) => {
      const name = NAMES.get(first) ?? first
      return name.endsWith('pegin') ? `${name} ${BigInt(data)}` : name
    })
    return result === '0x' ? events : result
  }
  const allow = (address: string, amount: bigint) =>
    run(dataOf('addOneOffLockWhitelistAddress', address, amount), WHITELISTER)
  const waiting = () => openBridge(bridge.env, REGTEST, rules).peg.waiting.get().length
  return { ...bridge, register, allow, waiting }
}

const pays = (value: bigint): Output => ({ value, script: FEDERATION_SCRIPT })
const byKey = (index = 0) => input({ index, script: pushes(SIGNATURE, KEY) })
const byKeys = (index = 0) => input({ index, script: pushes(EMPTY, SIGNATURE, multisig(1, [KEY])) })
const ADDRESS = formatAddress(toPublicKey(KEY), TEST_VERSIONS)
const note = (hex: string): Output => ({
  value: 0n,
  script: concat(Uint8Array.of(OP.RETURN), pushes(fromHex(`0x52534b54${hex}`))),
})
const COIN = 100_000_000n

describe.each(['iris', 'fingerroot'] as const)('a peg-in after %s', (upgrade) => {
  it('is for who is on the whitelist, once, and goes back to all others', () => {
    const bridge = earlyBridge(upgrade)
    expect(bridge.register(byKey(1), [pays(COIN)])).toEqual(['release_requested'])
    bridge.allow(ADDRESS, COIN)
    expect(bridge.register(byKey(2), [pays(COIN + 1n)])).toEqual(['release_requested'])
    expect(bridge.register(byKey(3), [pays(COIN)])).toEqual(['pegin_btc'])
    expect(bridge.transfers).toEqual([[ACCOUNT, COIN * 10n ** 10n]])
    expect(bridge.register(byKey(4), [pays(COIN)])).toEqual(['release_requested'])
    expect(bridge.waiting()).toBe(3)
  })

  it('of many keys goes back, and of an unknown sender is lost', () => {
    const bridge = earlyBridge(upgrade)
    expect(bridge.register(byKeys(), [pays(COIN)])).toEqual(['rejected_pegin 2', 'release_requested'])
    expect(bridge.register(input(), [pays(COIN)])).toEqual(['rejected_pegin 4', 'unrefundable_pegin 1'])
    expect(bridge.register(input(), [pays(COIN)])).toEqual([])
    expect(bridge.register(byKey(), [pays(COIN), note('02')])).toEqual([
      'rejected_pegin 4',
      'release_requested',
    ])
    expect(bridge.transfers).toEqual([])
  })

  it('with instructions needs no whitelist', () => {
    const bridge = earlyBridge(upgrade)
    const receiver = '0a'.repeat(20)
    expect(bridge.register(input(), [pays(COIN), note(`01${receiver}`)], `0x${'33'.repeat(20)}`)).toEqual([
      'pegin_btc',
    ])
    expect(bridge.transfers).toEqual([[`0x${receiver}`, COIN * 10n ** 10n]])
  })

  it('above the locking cap goes back, if there is an address', () => {
    // So many coins are gone that the cap of a thousand is reached.
    const bridge = earlyBridge(upgrade, () => (21_000_000n - 1_000n) * 10n ** 18n)
    bridge.allow(ADDRESS, COIN)
    expect(bridge.register(byKey(1), [pays(COIN)])).toEqual(['rejected_pegin 1', 'release_requested'])
    const instructions = `01${'0a'.repeat(20)}`
    expect(bridge.register(input(), [pays(COIN), note(instructions)])).toEqual([
      'rejected_pegin 1',
      'unrefundable_pegin 2',
    ])
    const back = `${instructions}01${'0b'.repeat(20)}`
    expect(bridge.register(input({ index: 3 }), [pays(COIN), note(back)])).toEqual([
      'rejected_pegin 1',
      'release_requested',
    ])
    // The attempt has used up the entry of the whitelist.
    expect(bridge.register(byKey(2), [pays(COIN)])).toEqual(['rejected_pegin 1', 'release_requested'])
  })
})

describe('a peg-in after papyrus', () => {
  it('is reported as a lock; others than federators may not register it', () => {
    const bridge = earlyBridge('papyrus')
    bridge.allow(ADDRESS, COIN)
    expect(bridge.register(byKey(), [pays(COIN)], `0x${'33'.repeat(20)}`)).toBe('failure')
    expect(bridge.register(byKey(), [pays(COIN)])).toEqual(['lock_btc'])
    expect(bridge.transfers).toEqual([[ACCOUNT, COIN * 10n ** 10n]])
  })

  it('of an unknown sender is ignored, and of many keys goes back in silence', () => {
    const bridge = earlyBridge('papyrus')
    expect(bridge.register(input(), [pays(COIN)])).toEqual([])
    expect(bridge.register(byKeys(), [pays(COIN)])).toEqual(['release_requested'])
    expect(bridge.waiting()).toBe(1)
  })
})

describe('a peg-in after wasabi', () => {
  it('has no events, no cap, and one kind of sender', () => {
    const bridge = earlyBridge('wasabi', () => 1_000_000n * 10n ** 18n)
    bridge.allow(ADDRESS, COIN)
    expect(bridge.register(byKeys(), [pays(COIN)])).toEqual([])
    expect(bridge.waiting()).toBe(0)
    expect(bridge.register(byKey(), [pays(COIN)])).toEqual([])
    expect(bridge.transfers).toEqual([[ACCOUNT, COIN * 10n ** 10n]])
    expect(bridge.register(byKey(), [pays(COIN)])).toEqual([])
    expect(bridge.transfers).toHaveLength(1)
  })
})
