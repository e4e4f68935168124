/** The Bridge by network, height and release: its first federations, who votes, and which methods there are. */
import { describe, expect, it } from 'vitest'
import { BRIDGE_SENDERS } from '../../../../src/chain/bridge-senders.ts'
import { CHAINS, PRECOMPILE_ADDRESS } from '../../../../src/chain/config.ts'
import { fromHex, type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { bridgeNetwork } from '../../../../src/evm/precompiles/bridge/constants/networks.ts'
import {
  genesisFederation,
  pegoutSize,
} from '../../../../src/evm/precompiles/bridge/federation/federation.ts'
import { memberAddress } from '../../../../src/evm/precompiles/bridge/federation/members.ts'
import type { Precompile } from '../../../../src/evm/precompiles/precompile.ts'
import { vmRulesOf } from '../../../../src/evm/rules.ts'
import { gasOf, outcome } from '../vectors.ts'
import { dataOf, freshBridge } from './calls.ts'

const all = () => true

function bridgeAt(network: Parameters<typeof vmRulesOf>[0], height: number): Precompile {
  const contract = vmRulesOf(network)(height).precompiles.get(PRECOMPILE_ADDRESS.bridge)
  if (contract === undefined) throw new Error('no Bridge')
  return contract
}

describe('the first federation', () => {
  // Addresses published by the reference node's tests, computed from its constants.
  it.each([
    ['regtest', '9.1', '2MvQSG61B4LtKLECeo1dRDeDWXgJfnr3fC7'],
    ['regtest', '9.0', '2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p'],
    ['devnet', '9.1', '2MvQSG61B4LtKLECeo1dRDeDWXgJfnr3fC7'],
    ['testnet', '9.1', '2N1N5mdHWmRUfv49f7GnUeFfuyLcBQK7hj2'],
    ['mainnet', '9.1', '39AHNvUmzaYgewA8yCtBtNsfRz7QD7ZJYi'],
    ['mainnet', '9.0', '39AHNvUmzaYgewA8yCtBtNsfRz7QD7ZJYi'],
  ] as const)('of %s in %s has the address %s', (chain, release, address) => {
    expect(genesisFederation(bridgeNetwork(chain, release), all).address).toBe(address)
  })

  it.each(['regtest', 'testnet', 'mainnet'] as const)(
    'of %s has the members that call free of charge',
    (chain) => {
      const { members } = genesisFederation(bridgeNetwork(chain), all)
      expect(new Set(members.map(memberAddress))).toEqual(BRIDGE_SENDERS[chain].federators)
    },
  )

  it('has peg-outs of the sizes that the reference node estimates', () => {
    expect(pegoutSize(genesisFederation(bridgeNetwork('regtest'), all), 2, 2)).toBe(344)
    expect(pegoutSize(genesisFederation(bridgeNetwork('regtest', '9.0'), all), 2, 2)).toBe(654)
  })
})

describe('the release of the reference node', () => {
  const data = dataOf('getFederationAddress')
  const addressIn = (contract: Precompile) => {
    const output = outcome(contract, data, freshBridge().env)
    return new TextDecoder().decode(fromHex(output).subarray(64, 64 + 35))
  }

  it('9.0 has another federation on a local chain', () => {
    expect(addressIn(bridgeAt({ ...CHAINS.regtest, bridgeRelease: '9.0' }, 1))).toBe(
      '2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p',
    )
    expect(addressIn(bridgeAt(CHAINS.regtest, 1))).toBe('2MvQSG61B4LtKLECeo1dRDeDWXgJfnr3fC7')
  })
})

describe('methods on the main network', () => {
  const MISS = 23_000n
  it.each([
    ['getBtcBlockchainBlockHashAtDepth', [0n], 729_000],
    ['addOneOffLockWhitelistAddress', ['', 0n], 729_000],
    ['addFederatorPublicKeyMultikey', ['0x', '0x', '0x'], 1_591_000],
    ['getLockingCap', [], 2_392_700],
    ['hasBtcBlockCoinbaseTransactionInformation', [toHex(new Uint8Array(32))], 2_392_700],
    ['getBtcBlockchainBestBlockHeader', [], 3_614_800],
    ['getQueuedPegoutsCount', [], 4_598_500],
  ] as const)('%s begins with its rule', (name, args, height) => {
    const input = dataOf(name, ...args)
    expect(gasOf(bridgeAt(CHAINS.mainnet, height - 1), input)).toBe(MISS)
    expect(gasOf(bridgeAt(CHAINS.mainnet, height), input)).not.toBe(MISS)
  })

  it('of one key each end with the federations of three', () => {
    const input: Hex = `0x6b89a1af${'00'.repeat(32)}`
    expect(gasOf(bridgeAt(CHAINS.mainnet, 1_590_999), input)).toBe(10_000n + 72n)
    expect(gasOf(bridgeAt(CHAINS.mainnet, 1_591_000), input)).toBe(MISS)
  })

  it('without a result fail when code calls them between RSKIP-197 and RSKIP-417', () => {
    const input = dataOf('receiveHeaders', [])
    const caller = [...BRIDGE_SENDERS.mainnet.federators][0] ?? '0x'
    const call = (height: number) =>
      outcome(bridgeAt(CHAINS.mainnet, height), input, { ...freshBridge().env, caller, number: height })
    expect(call(3_614_799)).toBe('0x')
    expect(call(3_614_800)).toBe('failure')
    expect(call(6_223_699)).toBe('failure')
    expect(call(6_223_700)).toBe('0x')
  })
})
