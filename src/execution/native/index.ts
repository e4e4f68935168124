/** The native contracts of the chain by address (protocol 6.5). */
import type { Hex } from '../../encoding/hex.ts'
import { blake2f } from './blake2f.ts'
import { blockHeaderContract } from './block-header.ts'
import { bn128Add, bn128Multiply, bn128Pairing } from './bn128.ts'
import { bridge } from './bridge/contract.ts'
import type { NativeContract } from './contract.ts'
import { ecrecover, identity, ripemd160Contract, sha256Contract } from './elementary.ts'
import { environmentContract } from './environment.ts'
import { hdWalletContract } from './hd-wallet.ts'
import { modexp } from './modexp.ts'
import { rewardContract } from './reward.ts'
import { secp256k1Add, secp256k1Multiply } from './secp256k1.ts'

export {
  type NativeAncestor,
  type NativeCallKind,
  type NativeContract,
  type NativeEnvironment,
  NativeFailure,
  type Portions,
} from './contract.ts'

const CONTRACTS: ReadonlyMap<Hex, NativeContract> = new Map<Hex, NativeContract>([
  ['0x0000000000000000000000000000000000000001', ecrecover],
  ['0x0000000000000000000000000000000000000002', sha256Contract],
  ['0x0000000000000000000000000000000000000003', ripemd160Contract],
  ['0x0000000000000000000000000000000000000004', identity],
  ['0x0000000000000000000000000000000000000005', modexp],
  ['0x0000000000000000000000000000000000000006', bn128Add],
  ['0x0000000000000000000000000000000000000007', bn128Multiply],
  ['0x0000000000000000000000000000000000000008', bn128Pairing],
  ['0x0000000000000000000000000000000000000009', blake2f],
  ['0x0000000000000000000000000000000001000006', bridge],
  ['0x0000000000000000000000000000000001000008', rewardContract],
  ['0x0000000000000000000000000000000001000009', hdWalletContract],
  ['0x0000000000000000000000000000000001000010', blockHeaderContract],
  ['0x0000000000000000000000000000000001000011', environmentContract],
  ['0x0000000000000000000000000000000001000016', secp256k1Add],
  ['0x0000000000000000000000000000000001000017', secp256k1Multiply],
])

/** Every native contract that is active, by lower-case address; the same map each time. */
export function nativeContracts(): ReadonlyMap<Hex, NativeContract> {
  return CONTRACTS
}
