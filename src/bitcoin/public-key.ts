/** Public keys as scripts have them, in every encoding of a point that the reference node's library accepts. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { concat, EMPTY } from '../encoding/bytes.ts'

/** A point of the curve. */
export interface PublicKey {
  /** Its coordinates, 64 bytes; none for the point at infinity. */
  readonly point: Uint8Array
  /** As the reference node writes it again and hashes it: compressed if it was, else uncompressed. */
  readonly bytes: Uint8Array
  readonly isCompressed: boolean
}

const INFINITY: PublicKey = { point: EMPTY, bytes: new Uint8Array(1), isCompressed: false }
const COMPRESSED_BYTES = 33
const UNCOMPRESSED_BYTES = 65
/** First byte of an uncompressed point, and of one that also tells the parity of y (ANSI X9.62, hybrid form). */
const UNCOMPRESSED = 4
const HYBRID = [6, 7]

/** A hybrid form as an uncompressed one; `undefined` when its parity is wrong. */
function unmixed(bytes: Uint8Array): Uint8Array | undefined {
  const parity = (bytes.at(-1) ?? 0) & 1
  return bytes[0] === HYBRID[parity] ? concat(Uint8Array.of(UNCOMPRESSED), bytes.subarray(1)) : undefined
}

/** The point in SEC 1's encodings, the hybrid one and infinity included; `undefined` for other bytes. */
export function decodePublicKey(bytes: Uint8Array): PublicKey | undefined {
  const { length } = bytes
  const [first] = bytes
  if (length === 1 && first === 0) return INFINITY
  if (length !== COMPRESSED_BYTES && length !== UNCOMPRESSED_BYTES) return undefined
  const isHybrid = length === UNCOMPRESSED_BYTES && first !== UNCOMPRESSED
  const plain = isHybrid ? unmixed(bytes) : bytes
  if (plain === undefined) return undefined
  try {
    const uncompressed = secp256k1.Point.fromBytes(plain).toBytes(false)
    return { point: uncompressed.slice(1), bytes: plain, isCompressed: length === COMPRESSED_BYTES }
  } catch {
    return undefined
  }
}
