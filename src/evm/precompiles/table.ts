/** The precompiled contracts of the chain (docs/protocol.md#65-precompiled-contracts): a row for each. */
import { PRECOMPILE_ADDRESS as AT } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import { blake2f, blake2fGas } from './blake2f.ts'
import { blockHeaderContract } from './block-header.ts'
import { bn128Add, bn128Multiply, bn128Pairing, PAIR_SIZE } from './bn128.ts'
import { bridge } from './bridge/bridge.ts'
import { ecrecover, identity, ripemd160Contract, sha256Contract } from './elementary.ts'
import { environmentContract } from './environment.ts'
import { hdWalletContract } from './hd-wallet.ts'
import { modexp, modexpGas } from './modexp.ts'
import type { Precompile, PrecompileCode, PrecompileGas } from './precompile.ts'
import { remascContract } from './remasc.ts'
import { secp256k1Add, secp256k1Multiply } from './secp256k1.ts'

/** The same gas for every input. */
const flat =
  (gas: bigint): PrecompileGas =>
  () =>
    gas

/** Gas per whole or started 32-byte word over a base. */
const byWord =
  (base: bigint, word: bigint): PrecompileGas =>
  (input) =>
    base + word * BigInt(Math.ceil(input.length / 32))

/** Gas per whole pair of points over a base. */
const byPair =
  (base: bigint, pair: bigint): PrecompileGas =>
  (input) =>
    base + pair * BigInt(Math.floor(input.length / PAIR_SIZE))

const row = (address: Hex, name: string, requiredGas: PrecompileGas, code: PrecompileCode) =>
  [address, { ...code, name, requiredGas }] as const

/** Every active precompiled contract by lower-case address. */
export const PRECOMPILES: ReadonlyMap<Hex, Precompile> = new Map<Hex, Precompile>([
  row(AT.ecrecover, 'ecrecover', flat(3000n), ecrecover),
  row(AT.sha256, 'sha256', byWord(60n, 12n), sha256Contract),
  row(AT.ripemd160, 'ripemd160', byWord(600n, 120n), ripemd160Contract),
  row(AT.identity, 'identity', byWord(15n, 3n), identity),
  row(AT.modexp, 'modexp', modexpGas, modexp),
  row(AT.bn128Add, 'ecAdd', flat(150n), bn128Add),
  row(AT.bn128Mul, 'ecMul', flat(6000n), bn128Multiply),
  row(AT.bn128Pairing, 'ecPairing', byPair(45_000n, 34_000n), bn128Pairing),
  row(AT.blake2f, 'blake2f', blake2fGas, blake2f),
  row(AT.bridge, 'Bridge', bridge.methodGas, bridge),
  row(AT.remasc, 'REMASC', flat(0n), remascContract),
  row(AT.hdWalletUtils, 'HDWalletUtils', hdWalletContract.methodGas, hdWalletContract),
  row(AT.blockHeader, 'BlockHeader', blockHeaderContract.methodGas, blockHeaderContract),
  row(AT.environment, 'Environment', environmentContract.methodGas, environmentContract),
  row(AT.secp256k1Add, 'secp256k1Add', flat(150n), secp256k1Add),
  row(AT.secp256k1Mul, 'secp256k1Mul', flat(3000n), secp256k1Multiply),
])
