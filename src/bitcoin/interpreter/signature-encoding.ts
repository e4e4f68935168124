/** How signatures and public keys may be written: strict DER (BIP-66), the older lax reading of DER, kinds of keys. */
import { toBigInt } from '../../encoding/bytes.ts'
import { isLowS, type Signature } from '../signature.ts'
import { RULE } from './flags.ts'
import { demand } from './script-failure.ts'

/** Types of what a signature signs. */
export const SIGHASH = { ALL: 1, NONE: 2, SINGLE: 3, ANYONECANPAY: 0x80 } as const

/** Is the integer at a place of strict DER well formed? */
function isInteger(signature: Uint8Array, at: number, length: number): boolean {
  if (signature[at] !== 0x02 || length === 0) return false
  const [first = 0, second = 0] = signature.subarray(at + 2, at + 4)
  return first < 0x80 && !(length > 1 && first === 0 && second < 0x80)
}

/** Strict DER and a byte for the type (BIP-66). */
export function isStrictDer(signature: Uint8Array): boolean {
  const { length } = signature
  if (length < 9 || length > 73) return false
  if (signature[0] !== 0x30 || signature[1] !== length - 3) return false
  const lengthR = signature[3] ?? 0
  if (5 + lengthR >= length) return false
  const lengthS = signature[5 + lengthR] ?? 0
  if (lengthR + lengthS + 7 !== length) return false
  return isInteger(signature, 2, lengthR) && isInteger(signature, lengthR + 4, lengthS)
}

/** Reads DER as OpenSSL once did: lengths may be too long, and what follows is not read. */
class LaxDer {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Skips a tag; false when it is another. */
  tag(tag: number): boolean {
    return this.#bytes[this.#at++] === tag
  }

  /** The length that follows; `undefined` when it is malformed. `isSkipped`: only its bytes count. */
  length(isSkipped: boolean): number | undefined {
    const first = this.#bytes[this.#at++]
    if (first === undefined) return undefined
    if (first < 0x80) return first
    const end = this.#at + (first & 0x7f)
    if (end > this.#bytes.length) return undefined
    if (isSkipped) {
      this.#at = end
      return 0
    }
    while (this.#at < end && this.#bytes[this.#at] === 0) this.#at++
    if (end - this.#at >= 4) return undefined
    let length = 0
    while (this.#at < end) length = length * 0x100 + (this.#bytes[this.#at++] ?? 0)
    return length
  }

  /** An unsigned integer; one above 2^256 is 0, which no signature has. */
  integer(): bigint | undefined {
    if (!this.tag(0x02)) return undefined
    const length = this.length(false)
    if (length === undefined || this.#at + length > this.#bytes.length) return undefined
    const value = toBigInt(this.#bytes.subarray(this.#at, this.#at + length))
    this.#at += length
    return value >> 256n === 0n ? value : 0n
  }
}

/** The signature in DER, as nodes read it before BIP-66; `undefined` when it is none. */
export function decodeLaxDer(bytes: Uint8Array): Signature | undefined {
  const reader = new LaxDer(bytes)
  if (!reader.tag(0x30) || reader.length(true) === undefined) return undefined
  const r = reader.integer()
  const s = r === undefined ? undefined : reader.integer()
  return r === undefined || s === undefined ? undefined : { r, s }
}

function isDefinedType(signature: Uint8Array): boolean {
  const type = (signature.at(-1) ?? 0) & ~SIGHASH.ANYONECANPAY
  return type >= SIGHASH.ALL && type <= SIGHASH.SINGLE
}

function hasLowS(signature: Uint8Array): boolean {
  const decoded = decodeLaxDer(signature.subarray(0, -1))
  return decoded !== undefined && isLowS(decoded)
}

/** Throws a `ScriptFailure` when a rule forbids how the signature, with its type, is written. */
export function checkSignatureEncoding(signature: Uint8Array, rules: number): void {
  if (signature.length === 0) return
  if ((rules & (RULE.DERSIG | RULE.LOW_S | RULE.STRICTENC)) !== 0) demand(isStrictDer(signature), 'SIG_DER')
  if ((rules & RULE.LOW_S) !== 0) demand(hasLowS(signature), 'SIG_HIGH_S')
  if ((rules & RULE.STRICTENC) !== 0) demand(isDefinedType(signature), 'SIG_HASHTYPE')
}

function isCompressed(key: Uint8Array): boolean {
  return key.length === 33 && (key[0] === 2 || key[0] === 3)
}

/** Throws a `ScriptFailure` when a rule forbids how the public key is written. */
export function checkKeyEncoding(key: Uint8Array, rules: number, isWitness: boolean): void {
  const isKey = isCompressed(key) || (key.length === 65 && key[0] === 4)
  if ((rules & RULE.STRICTENC) !== 0) demand(isKey, 'PUBKEYTYPE')
  if ((rules & RULE.WITNESS_PUBKEYTYPE) !== 0 && isWitness) demand(isCompressed(key), 'WITNESS_PUBKEYTYPE')
}

/** The key with the prefix 4 where it has the parity of y in a hybrid prefix; `undefined` when that is wrong. */
export function withoutHybridPrefix(key: Uint8Array): Uint8Array | undefined {
  const [prefix] = key
  if (prefix !== 6 && prefix !== 7) return key
  if (key.length !== 65 || ((key[64] ?? 0) & 1) !== (prefix & 1)) return undefined
  const plain = key.slice()
  plain[0] = 4
  return plain
}
