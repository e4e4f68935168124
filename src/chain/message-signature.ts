/** Signatures over messages: the hash (EIP-191), the 65 bytes r ‖ s ‖ v, and their signer. */
import { concat, fromBigIntFixed, toBigInt, toNumber } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { recoverAddress, sign } from './signature.ts'

/** Bytes of a signature: r, s, v. */
export const SIGNATURE_LENGTH = 65

/** The hash of a personal message (EIP-191, version 0x45): of its bytes after a prefix that no transaction begins with. */
export function personalMessageHash(message: Uint8Array): Uint8Array {
  return keccak256(
    concat(new TextEncoder().encode(`\x19Ethereum Signed Message:\n${message.length}`), message),
  )
}

/** Signs a 32-byte hash: r and s of 32 bytes each, v 27 or 28. Throws on a key outside 1..n-1. */
export function signHash(hash: Uint8Array, key: Uint8Array): Uint8Array {
  const { r, s, parity } = sign(hash, key)
  return concat(fromBigIntFixed(r, 32), fromBigIntFixed(s, 32), Uint8Array.of(27 + parity))
}

/** The signer of a hash; v may also be 0 or 1, as some wallets give it. `undefined` for an invalid signature. */
export function recoverSigner(hash: Uint8Array, signature: Uint8Array): Hex | undefined {
  if (signature.length !== SIGNATURE_LENGTH) return undefined
  const v = toNumber(signature.subarray(SIGNATURE_LENGTH - 1))
  const parity = v >= 27 ? v - 27 : v
  if (parity !== 0 && parity !== 1) return undefined
  return recoverAddress(
    hash,
    toBigInt(signature.subarray(0, 32)),
    toBigInt(signature.subarray(32, 64)),
    parity,
  )
}
