/** Transactions: their fields, bytes and hash, who sent them, and the one that collects a block's fees. */
import { EMPTY, fromBigInt, oneByte, stripZeros, toBigInt, toNumber } from '../encoding/bytes.ts'
import { keccak256, keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { asBytes, asList, decodeRlp, type RlpItem } from '../encoding/rlp.ts'
import { frameStrings, readFlatStrings } from '../encoding/rlp-frame.ts'
import { invalidParams, type NodeError } from '../errors.ts'
import { isFreeBridgeTransaction } from './bridge-senders.ts'
import { type ChainConfig, PRECOMPILE_ADDRESS, REMASC_SENDER } from './config.ts'
import {
  addressOfPublicKey,
  CURVE_ORDER,
  recoverAddress,
  recoverPublicKey,
  type Signature,
  sign,
} from './signature.ts'

/**
 * A decoded transaction with its sender (docs/protocol.md#43-transactions,
 * docs/protocol.md#53-remasc-transaction). Immutable.
 */
export interface Transaction {
  readonly hash: Hex
  /** 20 bytes; `REMASC_SENDER` for the block's REMASC transaction. */
  readonly from: Hex
  readonly nonce: bigint
  /** Wei per gas. */
  readonly gasPrice: bigint
  readonly gasLimit: bigint
  /** `null` creates a contract. */
  readonly to: Hex | null
  /** Wei. */
  readonly value: bigint
  readonly data: Uint8Array
  /** The V as encoded: 27/28, or 35/36 + 2 × chain id; 0 for the REMASC transaction. */
  readonly v: number
  readonly r: bigint
  readonly s: bigint
  /** 0 when unprotected. */
  readonly chainId: number
  /** RLP whose keccak-256 is `hash`. */
  readonly raw: Uint8Array
  /** Is this the REMASC transaction that ends every block? */
  readonly isRemasc: boolean
}

/** The fields of a transaction before it is signed. Gas in gas, price and value in wei. */
export interface UnsignedTransaction {
  readonly nonce: bigint
  readonly gasPrice: bigint
  readonly gasLimit: bigint
  /** `null` creates a contract. */
  readonly to: Hex | null
  readonly value: bigint
  readonly data: Uint8Array
  /** 0 signs without replay protection. */
  readonly chainId: number
}

/** nonce, gas price, gas limit, receiver, value, data, V, r, s. */
const ELEMENTS = 9

const REWARD_RECEIVER = fromHex(PRECOMPILE_ADDRESS.remasc)

/**
 * A signature's s must be below this (docs/protocol.md#43-transactions); half of the order itself is already
 * too much.
 */
const S_BOUND = CURVE_ORDER / 2n

/**
 * Reads a signed transaction and recovers its sender. Throws `invalid-params` with the messages of
 * docs/rpc-reference.md#75-sending: broken RLP, not nine elements (envelopes of a type among them), no gas
 * limit, a receiver that is no address, a signature that is missing, out of range or in the upper half.
 * Whether the chain id fits is for `checkChainId`.
 */
export function decodeTransaction(raw: Uint8Array): Transaction {
  const { fields, chainId, parity, r, s, payload } = parse(raw)
  if (parity === undefined || s >= S_BOUND) throw invalidChainId(chainId)
  const from = recoverAddress(keccak256(signedBytes(payload, chainId)), r, s, parity)
  if (from === undefined) throw invalidChainId(chainId)
  return transactionOf(fields, from, false)
}

/**
 * Reads a transaction that this node accepted before and wrote to its own disk, with the sender it noted then
 * (`REMASC_SENDER` for the REMASC transaction): nothing is recovered, nothing checked again.
 */
export function restoreTransaction(raw: Uint8Array, from: Hex): Transaction {
  return transactionOf(parse(raw).fields, from, from === REMASC_SENDER)
}

/**
 * Reads the transaction at a place of a block: like `decodeTransaction`, but the last one may be the REMASC
 * transaction, which nobody signs (docs/protocol.md#53-remasc-transaction).
 */
export function decodeBlockTransaction(raw: Uint8Array, isLast: boolean): Transaction {
  const { fields, parity } = parse(raw)
  const isRemasc =
    isLast &&
    parity === undefined &&
    fields.to === PRECOMPILE_ADDRESS.remasc &&
    fields.data.length === 0 &&
    fields.value === 0n &&
    fields.gasPrice === 0n &&
    fields.gasLimit === 0n
  return isRemasc ? transactionOf(fields, REMASC_SENDER, true) : decodeTransaction(raw)
}

/** Signs with a 32-byte private key. Throws on a key outside 1..n-1. */
export function signTransaction(unsigned: UnsignedTransaction, key: Uint8Array): Transaction {
  const payload = payloadOf(unsigned)
  const signature = sign(keccak256(signedBytes(payload, unsigned.chainId)), key)
  return decodeTransaction(encodeSigned(payload, unsigned.chainId, signature))
}

/**
 * A transaction of an account whose key nobody here has. In place of a signature it carries its sender as r, and 1 as
 * s, so that no two senders share a hash. Whoever recovers a sender from its bytes gets another one, or none.
 */
export function impersonatedTransaction(unsigned: UnsignedTransaction, from: Hex): Transaction {
  const standIn: Signature = { r: BigInt(from), s: 1n, parity: 0 }
  return restoreTransaction(encodeSigned(payloadOf(unsigned), unsigned.chainId, standIn), from)
}

/** The sender's public key (64 bytes, x and y); `undefined` when no signature of its own is there to recover it from. */
export function senderPublicKey({ raw, from }: Transaction): Uint8Array | undefined {
  const { chainId, parity, r, s, payload } = parse(raw)
  if (parity === undefined) return undefined
  const key = recoverPublicKey(keccak256(signedBytes(payload, chainId)), r, s, parity)
  return key !== undefined && addressOfPublicKey(key) === from ? key : undefined
}

function payloadOf({ nonce, gasPrice, gasLimit, to, value, data }: UnsignedTransaction): Uint8Array[] {
  return [
    fromBigInt(nonce),
    gasPrice === 0n ? oneByte(0) : fromBigInt(gasPrice),
    fromBigInt(gasLimit),
    to === null ? EMPTY : fromHex(to),
    fromBigInt(value),
    data,
  ]
}

function encodeSigned(payload: readonly Uint8Array[], chainId: number, { r, s, parity }: Signature) {
  const v = (chainId === 0 ? 27 : 35 + 2 * chainId) + parity
  return frameStrings([...payload, smallBytes(v), fromBigInt(r), fromBigInt(s)])
}

/**
 * The transaction that ends a block and collects its fees (docs/protocol.md#53-remasc-transaction). Its zero
 * price and gas are the byte 00, other zeros empty.
 */
export function remascTransaction(blockNumber: number): Transaction {
  const zero = oneByte(0)
  const nonce = BigInt(blockNumber) - 1n
  const raw = frameStrings([
    fromBigInt(nonce),
    zero,
    zero,
    REWARD_RECEIVER,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
  ])
  return {
    hash: keccakHex(raw),
    from: REMASC_SENDER,
    nonce,
    gasPrice: 0n,
    gasLimit: 0n,
    to: PRECOMPILE_ADDRESS.remasc,
    value: 0n,
    data: EMPTY,
    v: 0,
    r: 0n,
    s: 0n,
    chainId: 0,
    raw,
    isRemasc: true,
  }
}

/**
 * Throws `invalid-params` unless the transaction is unprotected or meant for this network
 * (docs/protocol.md#43-transactions).
 */
export function checkChainId(transaction: Transaction, config: ChainConfig): void {
  if (transaction.chainId !== 0 && transaction.chainId !== config.chainId) {
    throw invalidChainId(transaction.chainId)
  }
}

/** Address of the contract that `sender` creates with this nonce. */
export function contractAddress(sender: Hex, nonce: bigint): Hex {
  return toHex(keccak256(frameStrings([fromHex(sender), fromBigInt(nonce)])).subarray(12))
}

/** Gas per whole or started word of init code (EIP-3860, RSKIP-438). */
export const INITCODE_WORD_GAS = 2

/** Longest init code, bytes (EIP-3860, RSKIP-438). */
export const MAX_INITCODE_SIZE = 49_152

/**
 * Gas that a transaction costs before any code runs (docs/protocol.md#44-intrinsic-gas): base, data by byte,
 * init code by word. Without a sender, as in a simulation, none is free.
 */
export function intrinsicGas(
  transaction: Pick<Transaction, 'to' | 'data'> & { readonly from?: Hex },
): bigint {
  const { from, to, data } = transaction
  if (from !== undefined && isFreeBridgeTransaction(from, to)) return 0n
  let gas = to === null ? 53_000 + INITCODE_WORD_GAS * Math.ceil(data.length / 32) : 21_000
  for (const byte of data) gas += byte === 0 ? 4 : 16
  return BigInt(gas)
}

/**
 * The nonce's bytes as encoded, for the pool's rule that they be few and without a leading zero
 * (docs/protocol.md#45-pool-admission).
 */
export function encodedNonce(transaction: Transaction): Uint8Array {
  return asBytes(asList(decodeRlp(transaction.raw), 'transaction')[0], 'nonce')
}

interface Parsed {
  readonly fields: Omit<Transaction, 'from' | 'isRemasc'>
  readonly chainId: number
  /** `undefined` when unsigned. */
  readonly parity: 0 | 1 | undefined
  readonly r: bigint
  readonly s: bigint
  /** The first six elements in the form that is hashed. */
  readonly payload: readonly Uint8Array[]
}

/** Spelled out: all transactions have one shape in memory, and copying by name would be a slow way to it. */
function transactionOf(fields: Parsed['fields'], from: Hex, isRemasc: boolean): Transaction {
  const { hash, nonce, gasPrice, gasLimit, to, value, data, v, r, s, chainId, raw } = fields
  return { hash, from, nonce, gasPrice, gasLimit, to, value, data, v, r, s, chainId, raw, isRemasc }
}

/**
 * The real node hashes what it would write, not what it read; the quirks are those of
 * docs/protocol.md#43-transactions.
 */
function parse(raw: Uint8Array): Parsed {
  const elements = readElements(raw)
  const at = (index: number) => elements[index] as Uint8Array
  const receiver = at(3)
  if (receiver.length !== 0 && receiver.length !== 20) {
    throw invalidParams(
      `invalid argument 0: hex string has length ${2 * raw.length}, want 40 for RSK address`,
    )
  }
  if (at(2).length === 0) throw invalidParams('Missing parameter, gasPrice, gas or value')
  const { v, chainId, parity } = readV(at(6))
  const r = toBigInt(at(7))
  const s = toBigInt(at(8))
  const payload = [
    isZeroByte(at(0)) ? EMPTY : at(0),
    priceBytes(at(1)),
    at(2),
    receiver,
    stripZeros(at(4)),
    at(5),
  ]
  const signed = parity !== undefined
  const encoded = frameStrings([
    ...payload,
    signed ? smallBytes(v) : EMPTY,
    signed ? stripZeros(at(7)) : EMPTY,
    signed ? stripZeros(at(8)) : EMPTY,
  ])
  return {
    fields: {
      hash: keccakHex(encoded),
      nonce: toBigInt(at(0)),
      gasPrice: toBigInt(at(1)),
      gasLimit: toBigInt(at(2)),
      to: receiver.length === 0 ? null : toHex(receiver),
      value: toBigInt(at(4)),
      // A copy: what came in may be a view into a large request.
      data: at(5).slice(),
      v,
      r: signed ? r : 0n,
      s: signed ? s : 0n,
      chainId,
      raw: encoded,
    },
    chainId,
    parity,
    r,
    s,
    payload,
  }
}

function readElements(raw: Uint8Array): readonly Uint8Array[] {
  const first = raw[0]
  if (first === undefined) throw invalidParams('Invalid raw transaction: it is empty')
  if (first >= 0x01 && first <= 0x04) {
    throw invalidParams(
      `Invalid raw transaction: typed transactions (type 0x${first.toString(16)}) are not accepted by this chain, only legacy ones`,
    )
  }
  const item = readFlatStrings(raw) ?? readRlp(raw)
  if (item instanceof Uint8Array) throw invalidParams('Invalid raw transaction: it is not an RLP list')
  if (item.length !== ELEMENTS) {
    throw invalidParams(
      `Invalid raw transaction: it must have exactly ${ELEMENTS} elements, not ${item.length}`,
    )
  }
  const elements: Uint8Array[] = []
  for (let i = 0; i < ELEMENTS; i++) {
    const element = item[i]
    if (!(element instanceof Uint8Array)) {
      throw invalidParams(`Invalid raw transaction: ${NAMES[i]} must not be a list`)
    }
    if (i !== DATA && element.length > 32) {
      throw invalidParams(`Invalid raw transaction: ${NAMES[i]} is longer than 32 bytes`)
    }
    elements.push(element)
  }
  return elements
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
function smallBytes(value: number): Uint8Array {
  return value < 0x100 ? oneByte(value) : fromBigInt(BigInt(value))
}

/** Most bytes of V: safe integers. */
const MAX_V_BYTES = 6

/**
 * V to chain id and parity as the reference node computes them: division towards zero, so 34 to 36 are unprotected too.
 * The reference node reads one byte; more are for local chains with an id of their own, and name no other chain.
 */
function readV(bytes: Uint8Array): { v: number; chainId: number; parity: 0 | 1 | undefined } {
  if (bytes.length === 0) return { v: 0, chainId: 0, parity: undefined }
  if (bytes.length > MAX_V_BYTES || (bytes.length > 1 && bytes[0] === 0)) {
    throw invalidParams('Invalid raw transaction: V must be a number of 1 to 6 bytes without leading zeros')
  }
  const encoded = toNumber(bytes)
  const isPlain = encoded === 27 || encoded === 28
  const chainId = isPlain ? 0 : Math.trunc((encoded - 35) / 2) + 0
  const parity = encoded % 2 === 0 ? 1 : 0
  return { v: (chainId === 0 ? 27 : 35 + 2 * chainId) + parity, chainId, parity }
}

/** The bytes that the sender signed: with a chain id it stands where V will, so that other networks cannot use them (EIP-155). */
function signedBytes(payload: readonly Uint8Array[], chainId: number): Uint8Array {
  return frameStrings(chainId === 0 ? payload : [...payload, smallBytes(chainId), EMPTY, EMPTY])
}

function invalidChainId(chainId: number): NodeError {
  return invalidParams(`Invalid chainId: ${chainId}`)
}

/** An absent price stays absent; a zero price is the one byte 00; others are minimal. */
function priceBytes(bytes: Uint8Array): Uint8Array {
  const minimal = stripZeros(bytes)
  return minimal.length === 0 && bytes.length > 0 ? oneByte(0) : minimal
}

function isZeroByte(bytes: Uint8Array): boolean {
  return bytes.length === 1 && bytes[0] === 0
}
