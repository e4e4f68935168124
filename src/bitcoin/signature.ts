/** Signatures of inputs: DER, low S, and a last byte for what is signed. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { concat, fromBigIntSigned, toBigInt } from '../encoding/bytes.ts'
import { SIGHASH_ALL } from './sighash.ts'

/** A signature on secp256k1. */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
}

const TAG = { integer: 0x02, sequence: 0x30 } as const
const ORDER = secp256k1.Point.Fn.ORDER

/** Is S at most half the order of the curve (BIP-62)? */
export function isLowS({ s }: Signature): boolean {
  return s <= ORDER >> 1n
}

function encodeInteger(value: bigint): Uint8Array {
  const bytes = fromBigIntSigned(value)
  return concat(Uint8Array.of(TAG.integer, bytes.length), bytes)
}

/** DER of r and s below 2^256. */
export function encodeDer({ r, s }: Signature): Uint8Array {
  const body = concat(encodeInteger(r), encodeInteger(s))
  return concat(Uint8Array.of(TAG.sequence, body.length), body)
}

/** As an input has it: DER and the type ALL. */
export function encodeForInput(signature: Signature): Uint8Array {
  return concat(encodeDer(signature), Uint8Array.of(SIGHASH_ALL))
}

/** Is it a signature by the compressed or uncompressed key? A key or signature that cannot be one gives `false`. */
export function isSignedBy(hash: Uint8Array, { r, s }: Signature, publicKey: Uint8Array): boolean {
  if (r <= 0n || s <= 0n || r >= ORDER || s >= ORDER) return false
  try {
    const compact = new secp256k1.Signature(r, s).toBytes('compact')
    return secp256k1.verify(compact, hash, publicKey, { prehash: false, lowS: false })
  } catch {
    return false
  }
}

/** A compressed or uncompressed public key on the curve, compressed; `undefined` for other bytes. */
export function compressedKey(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return secp256k1.Point.fromBytes(bytes).toBytes(true)
  } catch {
    return undefined
  }
}

/** A compressed public key as 65 bytes. Throws a RangeError when it is none. */
export function uncompressedKey(key: Uint8Array): Uint8Array {
  try {
    return secp256k1.Point.fromBytes(key).toBytes(false)
  } catch (error) {
    throw new RangeError('not a public key', { cause: error })
  }
}

const MAX_LENGTH_BYTES = 4

/** Reads the values within DER, as far as the reference node is strict about it. */
class DerReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The content after a tag. Throws a RangeError when it has another, or ends too early. */
  content(tag: number): Uint8Array {
    if (this.#byte() !== tag) throw new RangeError('not DER of two integers')
    const length = this.#length()
    const start = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw new RangeError('DER ends too early')
    return this.#bytes.subarray(start, this.#at)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new RangeError('DER ends too early')
    return byte
  }

  #length(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    const count = first & 0x7f
    if (count === 0 || count > MAX_LENGTH_BYTES) throw new RangeError('DER with a malformed length')
    let length = 0
    for (let i = 0; i < count; i++) length = length * 0x100 + this.#byte()
    return length
  }
}

/** An integer read as unsigned; it may not have a byte more than its sign needs. */
function readInteger(reader: DerReader): bigint {
  const bytes = reader.content(TAG.integer)
  const [first, second] = bytes
  const sign = second === undefined ? undefined : second < 0x80 ? 0 : 0xff
  if (first === undefined || first === sign) throw new RangeError('DER with a malformed integer')
  return toBigInt(bytes)
}

/** The signature in DER; bytes after it are not read, and integers count as unsigned. Throws a RangeError on other bytes. */
export function decodeDer(bytes: Uint8Array): Signature {
  const reader = new DerReader(new DerReader(bytes).content(TAG.sequence))
  return { r: readInteger(reader), s: readInteger(reader) }
}

const INPUT_BYTES = { least: 9, most: 73 } as const
/** The types, without the flag 0x80, that a signature may have. */
const TYPES = { flag: 0x80, least: 1, most: 3 } as const

/** Is a part of a signature an integer above zero bytes, neither negative nor with a byte that its sign does not need? */
function isStrictInteger(bytes: Uint8Array): boolean {
  const [tag, length, first = 0, second = 0] = bytes
  const isShortest = bytes.length <= 3 || first !== 0 || second >= 0x80
  return tag === TAG.integer && length === bytes.length - 2 && length > 0 && first < 0x80 && isShortest
}

/** Has a signature with its type the one strict form (BIP-66), and a known type? */
function isStrict(bytes: Uint8Array): boolean {
  const { length } = bytes
  const type = (bytes.at(-1) ?? 0) & ~TYPES.flag
  const middle = 4 + (bytes[3] ?? 0)
  return (
    length >= INPUT_BYTES.least &&
    length <= INPUT_BYTES.most &&
    type >= TYPES.least &&
    type <= TYPES.most &&
    bytes[0] === TAG.sequence &&
    bytes[1] === length - 3 &&
    middle < length - 1 &&
    isStrictInteger(bytes.subarray(2, middle)) &&
    isStrictInteger(bytes.subarray(middle, length - 1))
  )
}

/** A signature as an input has it, and its type; `undefined` unless strict DER with a known type (BIP-66). */
export function decodeForInput(bytes: Uint8Array): { signature: Signature; type: number } | undefined {
  return isStrict(bytes) ? { signature: decodeDer(bytes), type: bytes.at(-1) ?? 0 } : undefined
}
