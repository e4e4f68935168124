/** Private keys: their text form, their public keys, and signatures as Bitcoin Core makes them. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { decodeBase58Check, encodeBase58Check } from '../encoding/base58.ts'
import { concat, EMPTY, toBigInt } from '../encoding/bytes.ts'
import { REGTEST } from './chain/regtest.ts'
import { uint32 } from './serialization.ts'
import { encodeDer } from './signature.ts'

/** A private key, and which form of its public key belongs to it. */
export interface PrivateKey {
  /** 32 bytes. */
  readonly secret: Uint8Array
  readonly isCompressed: boolean
}

const SECRET_BYTES = 32
const MAX_TEXT = 60

/** Text of a key (wallet import format). */
export function encodeKey({ secret, isCompressed }: PrivateKey): string {
  return encodeBase58Check(
    concat(Uint8Array.of(REGTEST.keyVersion), secret, isCompressed ? Uint8Array.of(1) : EMPTY),
  )
}

/** The key of a text; `undefined` when it is none of regtest. */
export function decodeKey(text: string): PrivateKey | undefined {
  if (text.length > MAX_TEXT) return undefined
  try {
    const bytes = decodeBase58Check(text)
    const isCompressed = bytes.length === SECRET_BYTES + 2 && bytes[SECRET_BYTES + 1] === 1
    if (bytes[0] !== REGTEST.keyVersion || !(isCompressed || bytes.length === SECRET_BYTES + 1))
      return undefined
    const secret = bytes.slice(1, 1 + SECRET_BYTES)
    return secp256k1.utils.isValidSecretKey(secret) ? { secret, isCompressed } : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Bytes of the public key. */
export function publicKeyOf({ secret, isCompressed }: PrivateKey): Uint8Array {
  return secp256k1.getPublicKey(secret, isCompressed)
}

/** An R below takes 32 bytes in DER. Bitcoin Core signs again until it has one. */
const HALF = 1n << 255n

/** DER of the signature of a hash, deterministic (RFC 6979), with low R and S as Bitcoin Core has them. */
export function signHash(hash: Uint8Array, { secret }: PrivateKey): Uint8Array {
  for (let attempt = 0; ; attempt++) {
    const entropy = attempt === 0 ? {} : { extraEntropy: concat(uint32(attempt), new Uint8Array(28)) }
    const compact = secp256k1.sign(hash, secret, { prehash: false, lowS: true, ...entropy })
    const r = toBigInt(compact.subarray(0, 32))
    if (r < HALF) return encodeDer({ r, s: toBigInt(compact.subarray(32)) })
  }
}
