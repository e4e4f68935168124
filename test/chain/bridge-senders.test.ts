/** Whose calls of the bridge are free: the addresses of the local network's well-known keys. */
import { describe, expect, it } from 'vitest'
import { BRIDGE_SENDERS, isFreeBridgeTransaction } from '../../src/chain/bridge-senders.ts'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { intrinsicGas } from '../../src/chain/intrinsic-gas.ts'
import { addressOf } from '../../src/chain/signature.ts'
import { keccak256 } from '../../src/encoding/hash.ts'

const addressOfSeed = (seed: string) => addressOf(keccak256(new TextEncoder().encode(seed)))
const federators = ['federator1', 'federator2', 'federator3'].map(addressOfSeed)
const voters = [
  'auth-a',
  'auth-b',
  'auth-c',
  'auth-d',
  'auth-e',
  'auth-lock-whitelist',
  'auth-fee-per-kb',
].map(addressOfSeed)
const { regtest } = BRIDGE_SENDERS
const { bridge, remasc } = PRECOMPILE_ADDRESS

describe('the senders that the Bridge knows', () => {
  it('have the keys of the reference node', () => {
    const { federationVoters, whitelistVoter, feeVoters, lockingCapVoters, unionAddressAuthorizer } = regtest
    expect([...federationVoters, whitelistVoter, ...feeVoters]).toEqual(voters)
    expect([...lockingCapVoters]).toEqual([addressOfSeed('auth-increase_locking_cap')])
    expect(unionAddressAuthorizer).toBe(addressOfSeed('changeUnionBridgeContractAddressAuthorizer'))
  })
})

describe('free calls of the bridge', () => {
  it('are those of federators and voters', () => {
    expect([...regtest.federators]).toEqual(federators)
    for (const from of [...federators, ...voters]) {
      expect(isFreeBridgeTransaction(from, bridge), from).toBe(true)
      expect(isFreeBridgeTransaction(from, remasc), from).toBe(false)
      expect(isFreeBridgeTransaction(from, null), from).toBe(false)
    }
    expect(isFreeBridgeTransaction(addressOfSeed('cow'), bridge)).toBe(false)
  })

  it('have no intrinsic gas when the sender is known', () => {
    const data = Uint8Array.of(1, 0)
    for (const from of [...federators, ...voters]) {
      expect(intrinsicGas({ from, to: bridge, data })).toBe(0n)
      expect(intrinsicGas({ from, to: remasc, data })).toBe(21_020n)
    }
    expect(intrinsicGas({ to: bridge, data })).toBe(21_020n)
    expect(intrinsicGas({ from: addressOfSeed('cow'), to: bridge, data })).toBe(21_020n)
  })
})
