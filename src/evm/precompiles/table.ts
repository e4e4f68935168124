/** The native contracts of the chain by address (docs/protocol.md#65-precompiled-contracts). */
import type { Hex } from '../../encoding/hex.ts'
import { blake2f } from './blake2f.ts'
import { blockHeaderContract } from './block-header.ts'
import { bn128Add, bn128Multiply, bn128Pairing } from './bn128.ts'
import { bridge } from './bridge/bridge.ts'
import { ecrecover, identity, ripemd160Contract, sha256Contract } from './elementary.ts'
import { environmentContract } from './environment.ts'
import { hdWalletContract } from './hd-wallet.ts'
import { modexp } from './modexp.ts'
import type { Precompile } from './precompile.ts'
import { remascContract } from './remasc.ts'
import { secp256k1Add, secp256k1Multiply } from './secp256k1.ts'

export {
  type AncestorBlock,
  type Chunks,
  type Precompile,
  type PrecompileCallKind,
  type PrecompileEnvironment,
  PrecompileFailure,
} from './precompile.ts'

const CONTRACTS: ReadonlyMap<Hex, Precompile> = new Map<Hex, Precompile>([
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
  ['0x0000000000000000000000000000000001000008', remascContract],
  ['0x0000000000000000000000000000000001000009', hdWalletContract],
  ['0x0000000000000000000000000000000001000010', blockHeaderContract],
  ['0x0000000000000000000000000000000001000011', environmentContract],
  ['0x0000000000000000000000000000000001000016', secp256k1Add],
  ['0x0000000000000000000000000000000001000017', secp256k1Multiply],
])

/** Every native contract that is active, by lower-case address; the same map each time. */
export function precompileTable(): ReadonlyMap<Hex, Precompile> {
  return CONTRACTS
}
