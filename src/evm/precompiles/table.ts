/** The precompiled contracts of the chain (docs/internals/protocol.md#65-precompiled-contracts): a row for each. */
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
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

/** A row for each address of `PRECOMPILE_ADDRESS`: its name in call trees, its gas, its code. */
const ROWS: Readonly<
  Record<keyof typeof PRECOMPILE_ADDRESS, readonly [string, PrecompileGas, PrecompileCode]>
> = {
  ecrecover: ['ecrecover', flat(3000n), ecrecover],
  sha256: ['sha256', byWord(60n, 12n), sha256Contract],
  ripemd160: ['ripemd160', byWord(600n, 120n), ripemd160Contract],
  identity: ['identity', byWord(15n, 3n), identity],
  modexp: ['modexp', modexpGas, modexp],
  bn128Add: ['ecAdd', flat(150n), bn128Add],
  bn128Mul: ['ecMul', flat(6000n), bn128Multiply],
  bn128Pairing: ['ecPairing', byPair(45_000n, 34_000n), bn128Pairing],
  blake2f: ['blake2f', blake2fGas, blake2f],
  bridge: ['Bridge', bridge.methodGas, bridge],
  remasc: ['REMASC', flat(0n), remascContract],
  hdWalletUtils: ['HDWalletUtils', hdWalletContract.methodGas, hdWalletContract],
  blockHeader: ['BlockHeader', blockHeaderContract.methodGas, blockHeaderContract],
  environment: ['Environment', environmentContract.methodGas, environmentContract],
  secp256k1Add: ['secp256k1Add', flat(150n), secp256k1Add],
  secp256k1Mul: ['secp256k1Mul', flat(3000n), secp256k1Multiply],
}

/** Every active precompiled contract by lower-case address. */
export const PRECOMPILES: ReadonlyMap<Hex, Precompile> = new Map(
  (Object.keys(ROWS) as (keyof typeof ROWS)[]).map((key) => {
    const [name, requiredGas, code] = ROWS[key]
    return [PRECOMPILE_ADDRESS[key], { ...code, name, requiredGas }]
  }),
)
