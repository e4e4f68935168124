/** Operations on secp256k1: by native code, and by `@noble/curves`. */
import { createRequire } from 'node:module'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { concat, toNumber } from '../encoding/bytes.ts'
import { HASH_BYTES } from '../encoding/hash.ts'

/** What either implementation offers, on bytes. */
export interface Curve {
  /**
   * The 64 bytes of the public key that signed a hash of 32 bytes; throws, or gives `undefined`, when there is none. They
   * may be a view that is valid until the next call.
   */
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
    return { compact: signed.subarray(1), parity: toNumber(signed.subarray(0, 1)) }
  },
  publicKey: (key) => secp256k1.getPublicKey(key, false).subarray(1),
}

/** The part of the optional `secp256k1` package that is used here. */
interface NativeBindings {
  ecdsaRecover(
    signature: Uint8Array,
    parity: number,
    hash: Uint8Array,
    compressed: false,
    output: Uint8Array,
  ): Uint8Array
  ecdsaSign(hash: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number }
  publicKeyCreate(key: Uint8Array, compressed: false): Uint8Array
}

const COMPACT_BYTES = 64

/**
 * Recovers keys in three arrays that every call reuses, outside the JavaScript heap. Native code cannot read an array on the
 * heap: V8 would allocate memory outside for each argument and for the key, and free it again at a collection.
 */
function recoverBy(bindings: NativeBindings): Curve['recover'] {
  const signature = new Uint8Array(new ArrayBuffer(COMPACT_BYTES))
  const message = new Uint8Array(new ArrayBuffer(HASH_BYTES))
  const output = new Uint8Array(new ArrayBuffer(1 + COMPACT_BYTES))
  const key = output.subarray(1)
  return (hash, compact, parity) => {
    if (hash.length !== HASH_BYTES || compact.length !== COMPACT_BYTES) {
      throw new RangeError(`a hash of ${hash.length} bytes, a signature of ${compact.length}`)
    }
    signature.set(compact)
    message.set(hash)
    bindings.ecdsaRecover(signature, parity, message, false, output)
    return key
  }
}

/**
 * The native implementation, or `undefined` where no build of it loads. The package's main entry would silently fall
 * back to slow JavaScript; its `bindings.js` throws instead.
 */
export function loadNativeCurve(): Curve | undefined {
  try {
    const bindings = createRequire(import.meta.url)('secp256k1/bindings.js') as NativeBindings
    return {
      recover: recoverBy(bindings),
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
