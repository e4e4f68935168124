/**
 * Networks from JSON files. Heights of the shipped ones are those of fixtures/chain/activation-heights.json
 * (activations.test.ts); the constants of testnet2 are those of `Constants.testnet2`, `remasc.json` and `testnet2.conf` of
 * the reference node (master, 2026).
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CHAINS, configOfNetwork } from '../../src/chain/config.ts'
import { networkFile } from '../../src/chain/network.ts'
import { readNetwork } from '../../src/chain/read-network.ts'
import { NETWORKS } from '../../src/chain/shipped-networks.ts'

const file = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`../../src/chain/networks/${name}.json`, import.meta.url), 'utf8'))

describe('the shipped networks', () => {
  it.each(Object.keys(NETWORKS))('%s is read from its file, and written as it was', (name) => {
    const json = file(name)
    expect(json.name).toBe(name)
    expect(networkFile(readNetwork(json, 'x'))).toEqual(json)
  })

  it('have testnet2', () => {
    const { testnet2, testnet } = CHAINS
    expect(testnet2).toMatchObject({
      name: 'testnet2',
      chainId: 34,
      maxSecondsInFuture: 540,
      minimumSequentialGas: 10_000_000n,
      gasLimitMinimum: 3_000_000n,
    })
    expect(testnet2.difficulty.goalSeconds).toBe(14)
    expect(testnet2.difficulty.minimumAt(2_581_799)).toBe(131_072n)
    expect(testnet2.difficulty.minimumAt(2_581_800)).toBe(550_000_000n)
    expect(testnet2.difficulty.boundDivisorAt(862_999)).toBe(50n)
    expect(testnet2.difficulty.boundDivisorAt(863_000)).toBe(400n)
    expect(testnet2.parentChainTimeWindowAt(2_060_499)).toBeUndefined()
    expect(testnet2.parentChainTimeWindowAt(2_060_500)).toBe(300)
    expect(testnet2.parentChainTimeWindowAt(3_103_000)).toBe(7200)
    expect(testnet2.reward.labsAddressAt(5_000_000)).toBe('0xdabadabadabadabadabadabadabadabadaba0004')
    expect(testnet2.reward).toMatchObject({ maturity: 50, syntheticSpan: 10 })
    // BridgeTestNetConstants is that of both.
    expect(testnet2.reward.federators).toEqual(testnet.reward.federators)
    expect(testnet2.network).toMatchObject({ bridge: 'testnet', genesis: 'testnet' })
  })

  it('keep the difficulty that each had', () => {
    const floors = Object.values(CHAINS).map(({ name, difficulty }) => [
      name,
      difficulty.minimumAt(9_000_000),
      difficulty.boundDivisorAt(0),
      difficulty.boundDivisorAt(9_000_000),
    ])
    expect(floors).toEqual([
      ['regtest', 1n, 2048n, 2048n],
      ['devnet', 131_072n, 400n, 400n],
      ['testnet', 550_000_000n, 50n, 400n],
      ['testnet2', 550_000_000n, 50n, 400n],
      ['mainnet', 7_000_000_000_000_000n, 50n, 400n],
    ])
  })
})

describe('a network file', () => {
  const own = () => ({ ...file('regtest'), name: 'mine', chainId: 77 })

  it('defines a network', () => {
    const rules = { rskip546: 10, rskip543: 10 }
    const config = configOfNetwork(readNetwork({ ...own(), rules }, 'x'))
    expect(config).toMatchObject({ name: 'mine', chainId: 77 })
    expect(config.rulesAt(9).typedTransactions).toBe(false)
    expect(config.rulesAt(10).typedTransactions).toBe(true)
    // An upgrade that the file does not name never comes.
    const none = configOfNetwork(readNetwork({ ...own(), upgrades: {}, rules: {} }, 'x'))
    expect(none.rulesAt(1_000_000)).toMatchObject({ headerVersion: 0, unifiedTrie: false })
  })

  it.each<[object, string]>([
    [{ chainId: 0 }, 'file x: chainId: '],
    [{ chainId: '77' }, 'file x: chainId: '],
    [{ name: 'Mine!' }, 'file x: name: must be up to 32 lower-case letters, digits and hyphens'],
    [{ bridge: 'mine' }, 'file x: bridge: '],
    [
      { upgrades: { lovell70: 0 } },
      'file x: upgrades.lovell70: "lovell70" is no rule or upgrade that this version knows; the nearest is lovell700.',
    ],
    [{ rules: { rskip1: 0 } }, 'file x: rules.rskip1: "rskip1" is no rule'],
    [{ rules: { rskip85: -1 } }, 'file x: rules.rskip85: '],
    [{ rules: { rskip85: 2 ** 31 } }, 'file x: rules.rskip85: '],
    [{ rules: { rskip546: 1 } }, 'file x: rules: rskip546 cannot hold without rskip543.'],
    [{ difficulty: { minimum: 1, boundDivisor: 0, goalSeconds: 1 } }, 'file x: difficulty.boundDivisor: '],
    [
      { remasc: { ...(own() as { remasc?: object }).remasc, federators: ['0x12'] } },
      'file x: remasc.federators.0: must be an address of 20 bytes in hex',
    ],
    [{ gasLimt: {} }, 'file x: Unrecognized key: "gasLimt"'],
    [{ maxSecondsInFuture: undefined }, 'file x: maxSecondsInFuture: '],
  ])('is refused with the path of the member: %j', (change, message) => {
    expect(() => readNetwork({ ...own(), ...change }, 'file x')).toThrow(message)
  })

  it('is an object', () => {
    for (const json of [null, [], 5, 'regtest']) expect(() => readNetwork(json, 'file x')).toThrow('file x: ')
  })
})
