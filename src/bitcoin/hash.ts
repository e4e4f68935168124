/** Bitcoin's hashes of keys and scripts, and the two orders in which hashes are written. */
import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '../encoding/hash.ts'

/** RIPEMD-160 of SHA-256, 20 bytes. */
export function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes))
}

/** A hash in raw order as it is displayed, and the other way round: the bytes reversed, copied. */
export function reversed(hash: Uint8Array): Uint8Array {
  // The `slice` of a Buffer shares its memory.
  return new Uint8Array(hash).reverse()
}
