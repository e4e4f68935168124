/** Signing hashes, and recovering the signer. */
import { toBigInt, writeWord } from '../encoding/bytes.ts'
import { keccakHexFrom } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { loadNativeCurve, nobleCurve } from './curve.ts'

/** A signature over a hash. `s` is in the lower half of the order when we signed. */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
  /** Is the y of the nonce point odd? */
  readonly parity: 0 | 1
}

/** Order of the curve's group (SEC 2). */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Noble is some twenty times slower to recover a sender. */
const curve = loadNativeCurve() ?? nobleCurve

/** r and s; written and read out within one call. */
const compact = new Uint8Array(64)
const words = new DataView(compact.buffer)

/** As `recoverPublicKey`, but a view that may be valid until the next call. */
function recover(hash: Uint8Array, r: bigint, s: bigint, parity: 0 | 1): Uint8Array | undefined {
  if (r <= 0n || r >= CURVE_ORDER || s <= 0n || s >= CURVE_ORDER) return undefined
  writeWord(words, 0, r)
  writeWord(words, 32, s)
  try {
    return curve.recover(hash, compact, parity)
  } catch {
    return undefined
  }
}

/** The signer's public key (64 bytes, x and y), or `undefined` when no key could have made this signature. */
export function recoverPublicKey(
  hash: Uint8Array,
  r: bigint,
  s: bigint,
  parity: 0 | 1,
): Uint8Array | undefined {
  return recover(hash, r, s, parity)?.slice()
}

/** The signer's address, or `undefined` when no key could have made this signature. */
export function recoverAddress(hash: Uint8Array, r: bigint, s: bigint, parity: 0 | 1): Hex | undefined {
  const key = recover(hash, r, s, parity)
  return key === undefined ? undefined : addressOfPublicKey(key)
}

/** Signs a 32-byte hash, the nonce by RFC 6979, `s` in the lower half. Throws on a key outside 1..n-1. */
export function sign(hash: Uint8Array, key: Uint8Array): Signature {
  const { compact, parity } = curve.sign(hash, key)
  return {
    r: toBigInt(compact.subarray(0, 32)),
    s: toBigInt(compact.subarray(32)),
    parity: (parity & 1) as 0 | 1,
  }
}

/** The address of a 32-byte private key. Throws on a key outside 1..n-1. */
export function addressOf(key: Uint8Array): Hex {
  return addressOfPublicKey(curve.publicKey(key))
}

/** The address of a public key of 64 bytes. */
export function addressOfPublicKey(key: Uint8Array): Hex {
  return keccakHexFrom(key, 12)
}
