/** The hash by which a transaction of the parent chain names the transaction of this chain that has made it. */
import { type Hex, toFixedHex } from '../../../../encoding/hex.ts'
import type { PrecompileEnvironment } from '../../precompile.ts'

/** In a simulation, whose transaction has no hash. */
const NO_HASH: Hex = toFixedHex(0n, 32)

/** The hash of the transaction that has started the call. */
export function originHash({ originHash: hash = NO_HASH }: PrecompileEnvironment): Hex {
  return hash
}

/** The hash of the transaction that calls, or of the internal transaction when code calls. */
export function creationHash(env: PrecompileEnvironment): Hex {
  return env.callHash() ?? NO_HASH
}
