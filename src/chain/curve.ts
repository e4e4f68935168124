/** Operations on secp256k1: by native code, and by `@noble/curves`. */
import { createRequire } from 'node:module'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { concat } from '../encoding/bytes.ts'

/** What either implementation offers, on bytes. */
export interface Curve {
  /** The 64 bytes of the public key; throws, or gives `undefined`, when there is none. */
  recover(hash: Uint8Array, compact: Uint8Array, parity: 0 | 1): Uint8Array | undefined
  sign(hash: Uint8Array, key: Uint8Array): { compact: Uint8Array; parity: number }
  /** The 64 bytes of the public key; throws on an invalid key. */
  publicKey(key: Uint8Array): Uint8Array
}

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
