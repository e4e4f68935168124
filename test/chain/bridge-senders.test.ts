/** Whose calls of the bridge are free: the addresses of the local network's well-known keys. */
import { describe, expect, it } from 'vitest'
import {
  FEDERATION_VOTERS,
  FEDERATORS,
  FEE_VOTER,
  isFreeBridgeTransaction,
  LOCKING_CAP_VOTER,
  UNION_ADDRESS_AUTHORIZER,
  WHITELIST_VOTER,
} from '../../src/chain/bridge-senders.ts'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { addressOf } from '../../src/chain/signature.ts'
import { intrinsicGas } from '../../src/chain/transaction.ts'
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
const { bridge, remasc } = PRECOMPILE_ADDRESS

describe('the senders that the Bridge knows', () => {
  it('have the keys of the reference node', () => {
    expect([...FEDERATION_VOTERS, WHITELIST_VOTER, FEE_VOTER]).toEqual(voters)
    expect(LOCKING_CAP_VOTER).toBe(addressOfSeed('auth-increase_locking_cap'))
    expect(UNION_ADDRESS_AUTHORIZER).toBe(addressOfSeed('changeUnionBridgeContractAddressAuthorizer'))
  })
})

describe('free calls of the bridge', () => {
  it('are those of federators and voters', () => {
    expect([...FEDERATORS]).toEqual(federators)
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
