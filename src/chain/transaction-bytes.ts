/** The bytes of transactions: which forms are read, with which refusals, and the form that is hashed. */
import { EMPTY, fromBigInt, oneByte, stripZeros, toBigInt, toNumber } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { decodeRlp, type RlpItem } from '../encoding/rlp.ts'
import { frameStrings, readFlatStrings } from '../encoding/rlp-frame.ts'
import { invalidParams } from '../errors.ts'
import type { AccessList } from './access-list.ts'
import type { Authorization } from './authorization.ts'
import { TYPE } from './transaction-types.ts'

/** What a transaction of Ethereum's types has beside the fields of a legacy one. */
export interface TypedFields {
  readonly accessList: AccessList
  /** Wei per gas; absent in type 1. */
  readonly maxFeePerGas: bigint | undefined
  readonly maxPriorityFeePerGas: bigint | undefined
  /** Of type 4 only. */
  readonly authorizations: readonly Authorization[] | undefined
  /** Of type 3, which only a fork of another family's chain can show. */
  readonly blobs?: BlobFields | undefined
}

/** What a transaction with blobs has beside the others (EIP-4844). */
export interface BlobFields {
  /** Wei per gas. */
  readonly maxFeePerBlobGas: bigint
  readonly versionedHashes: readonly Hex[]
}

/** What the bytes of a transaction give without recovering its sender. */
export interface TransactionFields {
  readonly hash: Hex
  readonly nonce: bigint
  /** Wei per gas; of a transaction with a maximum fee and a priority fee the lower of the two (RSKIP-546). */
  readonly gasPrice: bigint
  readonly gasLimit: bigint
  /** `null` creates a contract. */
  readonly to: Hex | null
  /** Wei. */
  readonly value: bigint
  readonly data: Uint8Array
  /** The V as encoded: 27/28, or 35/36 + 2 × chain id; the parity of a typed one; 0 for the REMASC transaction. */
  readonly v: number
  readonly r: bigint
  readonly s: bigint
  /** 0 when unprotected. */
  readonly chainId: number
  /** The bytes whose keccak-256 is `hash`: RLP, behind the prefix of its type. */
  readonly raw: Uint8Array
  /** `TYPE` or one of the namespace (`transaction-types.ts`). */
  readonly type: number
  /** Absent in a legacy transaction, and in one of the chain's namespace. */
  readonly typed: TypedFields | undefined
}

/** A transaction as read from its bytes. */
export interface Parsed {
  readonly fields: TransactionFields
  /** `undefined` when unsigned. */
  readonly parity: 0 | 1 | undefined
}

/** nonce, gas price, gas limit, receiver, value, data, V, r, s. */
type Elements = readonly [
  ...[Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array],
  ...[Uint8Array, Uint8Array, Uint8Array],
]

/**
 * Reads the bytes of a legacy transaction. The reference node hashes what it would write, not what it read; the quirks are those of
 * docs/internals/protocol.md#43-transactions. Throws `invalid-params` with the messages of docs/internals/rpc-reference.md#75-sending.
 */
export function parseTransaction(raw: Uint8Array): Parsed {
  const flat = readFlatStrings(raw)
  const elements = checkElements(raw, flat)
  const [nonce, price, gasLimit, receiver, value, data, vBytes, r, s] = elements
  if (receiver.length !== 0 && receiver.length !== 20) {
    throw invalidParams(
      `invalid argument 0: hex string has length ${2 * raw.length}, want 40 for RSK address`,
    )
  }
  if (gasLimit.length === 0) throw invalidParams('Missing parameter, gasPrice, gas or value')
  const { encodedV, v, chainId, parity } = readV(vBytes)
  const isSigned = parity !== undefined
  const isAsWritten = flat !== undefined && encodedV === v && isMinimal(elements, isSigned)
  const written = ownBytes(isAsWritten ? raw : rewritten(elements, v, isSigned))
  return {
    fields: {
      hash: keccakHex(written),
      nonce: toBigInt(nonce),
      gasPrice: toBigInt(price),
      gasLimit: toBigInt(gasLimit),
      to: receiver.length === 0 ? null : toHex(receiver),
      value: toBigInt(value),
      data: data.length === 0 ? EMPTY : isAsWritten ? dataIn(written, data, raw) : data.slice(),
      v,
      r: isSigned ? toBigInt(r) : 0n,
      s: isSigned ? toBigInt(s) : 0n,
      chainId,
      raw: written,
      type: TYPE.legacy,
      typed: undefined,
    },
    parity,
  }
}

/** From this many bytes on, byte strings are not copied where they need not be. */
const LONG = 4096

/**
 * A copy, unless the bytes fill a long array: received bytes may be a view into a large request, and encoded bytes
 * share an array with others.
 */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length >= LONG && bytes.buffer.byteLength === bytes.length ? bytes : bytes.slice()
}

/** The data of a transaction: a copy of a view into `raw`, or, where they are most of it, the same view into `written`. */
function dataIn(written: Uint8Array, data: Uint8Array, raw: Uint8Array): Uint8Array {
  if (data.length < LONG) return data.slice()
  const start = data.byteOffset - raw.byteOffset
  return written.subarray(start, start + data.length)
}

/** Does `rewritten` give these elements back, apart from V? */
function isMinimal([nonce, price, , , value, , , r, s]: Elements, isSigned: boolean): boolean {
  if (isZeroByte(nonce) || (price.length > 1 && price[0] === 0) || value[0] === 0) return false
  return isSigned ? r[0] !== 0 && s[0] !== 0 : r.length === 0 && s.length === 0
}

/** The bytes that are hashed. */
function rewritten(elements: Elements, v: number, isSigned: boolean): Uint8Array {
  const [nonce, price, gasLimit, receiver, value, data, , r, s] = elements
  return frameStrings([
    isZeroByte(nonce) ? EMPTY : nonce,
    priceBytes(price),
    gasLimit,
    receiver,
    stripZeros(value),
    data,
    isSigned ? smallBytes(v) : EMPTY,
    isSigned ? stripZeros(r) : EMPTY,
    isSigned ? stripZeros(s) : EMPTY,
  ])
}

/** `flat`: what `readFlatStrings` gave. Throws unless the bytes are a list of nine strings of possible lengths. */
function checkElements(raw: Uint8Array, flat: readonly Uint8Array[] | undefined): Elements {
  const first = raw[0]
  if (first === undefined) throw invalidParams('Invalid raw transaction: it is empty')
  if (first >= 0x01 && first <= 0x04) {
    throw invalidParams(
      `Invalid raw transaction: typed transactions (type 0x${first.toString(16)}) are not accepted by this chain, only legacy ones`,
    )
  }
  const item = flat ?? readRlp(raw)
  if (item instanceof Uint8Array) throw invalidParams('Invalid raw transaction: it is not an RLP list')
  if (item.length !== NAMES.length) {
    throw invalidParams(
      `Invalid raw transaction: it must have exactly ${NAMES.length} elements, not ${item.length}`,
    )
  }
  for (let i = 0; i < NAMES.length; i++) {
    const element = item[i]
    if (!(element instanceof Uint8Array)) {
      throw invalidParams(`Invalid raw transaction: ${NAMES[i]} must not be a list`)
    }
    if (i !== DATA && element.length > 32) {
      throw invalidParams(`Invalid raw transaction: ${NAMES[i]} is longer than 32 bytes`)
    }
  }
  return item as readonly Uint8Array[] as Elements
}

const NAMES = ['nonce', 'gasPrice', 'gas', 'to', 'value', 'data', 'V', 'R', 'S']
const DATA = 5

function readRlp(raw: Uint8Array): RlpItem {
  try {
    return decodeRlp(raw)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw invalidParams(OUT_OF_SPACE.test(reason) ? `Invalid input: ${NO_SPACE}` : `Invalid input: ${reason}`)
  }
}

/** The RLP library's messages for an element that exceeds the bytes, and the reference node's. */
const OUT_OF_SPACE = /out-of-bounds|not enough bytes|larger than the data|too short/
const NO_SPACE = "The RLP byte array doesn't have enough space to hold an element with the specified length"

/** The bytes of V or a chain id. */
export function smallBytes(value: number): Uint8Array {
  return value < 0x100 ? oneByte(value) : fromBigInt(BigInt(value))
}

/** Most bytes of V: safe integers. */
const MAX_V_BYTES = 6

/**
 * V to chain id and parity as the reference node computes them: division towards zero, so 34 to 36 are unprotected too.
 * The reference node reads one byte; more are for local chains with an id of their own, and name no other chain.
 */
function readV(bytes: Uint8Array): {
  encodedV: number
  v: number
  chainId: number
  parity: 0 | 1 | undefined
} {
  if (bytes.length === 0) return { encodedV: 0, v: 0, chainId: 0, parity: undefined }
  if (bytes.length > MAX_V_BYTES || (bytes.length > 1 && bytes[0] === 0)) {
    throw invalidParams('Invalid raw transaction: V must be a number of 1 to 6 bytes without leading zeros')
  }
  const encodedV = toNumber(bytes)
  const isPlain = encodedV === 27 || encodedV === 28
  const chainId = isPlain ? 0 : Math.trunc((encodedV - 35) / 2) + 0
  const parity = encodedV % 2 === 0 ? 1 : 0
  return { encodedV, v: (chainId === 0 ? 27 : 35 + 2 * chainId) + parity, chainId, parity }
}

/** An absent price stays absent; a zero price is the one byte 00; others are minimal. */
function priceBytes(bytes: Uint8Array): Uint8Array {
  const minimal = stripZeros(bytes)
  return minimal.length === 0 && bytes.length > 0 ? oneByte(0) : minimal
}

function isZeroByte(bytes: Uint8Array): boolean {
  return bytes.length === 1 && bytes[0] === 0
}
