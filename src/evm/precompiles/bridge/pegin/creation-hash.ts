/** The hash by which a transaction of the parent chain names the transaction of this chain that has made it. */
import { PRECOMPILE_ADDRESS } from '../../../../chain/config.ts'
import { EMPTY, fromBigInt, fromBigIntFixed } from '../../../../encoding/bytes.ts'
import { keccakHex } from '../../../../encoding/hash.ts'
import { fromHex, type Hex, toFixedHex } from '../../../../encoding/hex.ts'
import { frameStrings } from '../../../../encoding/rlp-frame.ts'
import type { PrecompileEnvironment } from '../../precompile.ts'
import { utf8 } from '../events.ts'

/** In a simulation, whose transaction has no hash. */
const NO_HASH: Hex = toFixedHex(0n, 32)

/** The hash of the transaction that has started the call. */
export function originHash({ originHash: hash = NO_HASH }: PrecompileEnvironment): Hex {
  return hash
}

/**
 * The hash of what the reference node calls an internal transaction: the call of the Bridge by code. It is exact for the
 * first call that the contract of a transaction makes; its place among the calls of a frame, and the hashes of the frames
 * above it, are not known here.
 */
function internalHash(env: PrecompileEnvironment): Hex {
  const { caller, value, gasPrice, blockGasLimit, depth, kind } = env
  const isOwnCode = kind === 'delegatecall' || kind === 'callcode'
  return keccakHex(
    frameStrings([
      fromBigInt(env.callerNonce()),
      fromHex(originHash(env)),
      fromHex(caller),
      fromHex(isOwnCode ? caller : PRECOMPILE_ADDRESS.bridge),
      fromBigInt(value),
      fromBigInt(gasPrice),
      fromBigIntFixed(blockGasLimit, 32),
      EMPTY,
      utf8('call'),
      fromBigInt(BigInt(depth)),
      EMPTY,
      EMPTY,
    ]),
  )
}

/** The hash of the transaction that calls. */
export function creationHash(env: PrecompileEnvironment): Hex {
  if (env.originHash === undefined) return NO_HASH
  return env.isTop ? env.originHash : internalHash(env)
}
