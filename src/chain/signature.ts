/** secp256k1: who signed, and signing. Native code where it loads, `@noble/curves` as fallback and reference. */
import { createRequire } from 'node:module'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { concat, fromBigIntFixed, toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { type Hex, toHex } from '../encoding/hex.ts'

/** A signature over a hash. `s` is in the lower half of the order when we signed. */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
  /** Is the y of the nonce point odd? */
  readonly parity: 0 | 1
}

/** What either implementation offers, on bytes. */
export interface Curve {
  /** The 64 bytes of the public key; throws, or gives `undefined`, when there is none. */
  recover(hash: Uint8Array, compact: Uint8Array, parity: 0 | 1): Uint8Array | undefined
  sign(hash: Uint8Array, key: Uint8Array): { compact: Uint8Array; parity: number }
  /** The 64 bytes of the public key; throws on an invalid key. */
  publicKey(key: Uint8Array): Uint8Array
}

/** Order of the curve's group (SEC 2). */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The reference implementation, in JavaScript. */
export const nobleCurve: Curve = {
  recover: (hash, compact, parity) =>
    secp256k1.Signature.fromBytes(concat(Uint8Array.of(parity), compact), 'recovered')
      .recoverPublicKey(hash)
      .toBytes(false)
      .subarray(1),
  sign(hash, key) {
    const signed = secp256k1.sign(hash, key, { prehash: false, lowS: true, format: 'recovered' })
    return { compact: signed.subarray(1), parity: signed[0] as number }
  },
  publicKey: (key) => secp256k1.getPublicKey(key, false).subarray(1),
}

/** The part of the optional `secp256k1` package that is used here. */
interface NativeBindings {
  ecdsaRecover(signature: Uint8Array, parity: number, hash: Uint8Array, compressed: false): Uint8Array
  ecdsaSign(hash: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number }
  publicKeyCreate(key: Uint8Array, compressed: false): Uint8Array
}

/**
 * The native implementation, or `undefined` where no build of it loads. The package's main entry would fall back to
 * slow JavaScript without a word; its `bindings.js` throws instead.
 */
export function loadNativeCurve(): Curve | undefined {
  try {
    const bindings = createRequire(import.meta.url)('secp256k1/bindings.js') as NativeBindings
    return {
      recover: (hash, compact, parity) => bindings.ecdsaRecover(compact, parity, hash, false).subarray(1),
      sign(hash, key) {
        const { signature, recid } = bindings.ecdsaSign(hash, key)
        return { compact: signature, parity: recid }
      },
      publicKey: (key) => bindings.publicKeyCreate(key, false).subarray(1),
    }
  } catch {
    return undefined
  }
}

const native = loadNativeCurve()
const curve = native ?? nobleCurve

/** Which implementation answers; noble is some twenty times slower to recover a sender. */
export const signatureBackend: 'native' | 'noble' = native === undefined ? 'noble' : 'native'

/** The signer's public key (64 bytes, x and y), or `undefined` when no key could have made this signature. */
export function recoverPublicKey(
  hash: Uint8Array,
  r: bigint,
  s: bigint,
  parity: 0 | 1,
): Uint8Array | undefined {
  if (r <= 0n || r >= CURVE_ORDER || s <= 0n || s >= CURVE_ORDER) return undefined
  try {
    return curve.recover(hash, concat(fromBigIntFixed(r, 32), fromBigIntFixed(s, 32)), parity)
  } catch {
    return undefined
  }
}

/** The signer's address, or `undefined` when no key could have made this signature. */
export function recoverAddress(hash: Uint8Array, r: bigint, s: bigint, parity: 0 | 1): Hex | undefined {
  const key = recoverPublicKey(hash, r, s, parity)
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
  return toHex(keccak256(key).subarray(12))
}
