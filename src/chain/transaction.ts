/** Transactions: their senders, signing, and the one that collects a block's fees. */
import { concat, EMPTY, fromBigInt, fromBigIntFixed, oneByte } from '../encoding/bytes.ts'
import { keccak256, keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { encodeRlp } from '../encoding/rlp.ts'
import { frameList, frameString, frameStrings, itemEnd, payloadStart, STRING } from '../encoding/rlp-frame.ts'
import { invalidParams, type NodeError } from '../errors.ts'
import { type ChainConfig, PRECOMPILE_ADDRESS, REMASC_SENDER } from './config.ts'
import {
  addressOf,
  addressOfPublicKey,
  CURVE_ORDER,
  recoverAddress,
  recoverPublicKey,
  type Signature,
  sign,
} from './signature.ts'
import {
  type Parsed,
  parseTransaction,
  smallBytes,
  type TransactionFields,
  type TypedFields,
} from './transaction-bytes.ts'
import { beginsTyped, prefixLength, TYPE, typePrefix } from './transaction-types.ts'
import { parityBytes, parseAny, signedItems, type TypedParts, typedItems } from './typed-transaction.ts'

/**
 * A decoded transaction with its sender (docs/internals/protocol.md#43-transactions,
 * docs/internals/protocol.md#53-remasc-transaction). Immutable.
 */
export interface Transaction extends TransactionFields {
  /** 20 bytes; `REMASC_SENDER` for the block's REMASC transaction. */
  readonly from: Hex
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
  /** 0 signs without replay protection; only a legacy one can. */
  readonly chainId: number
  /** Absent: legacy (`transaction-types.ts`). */
  readonly type?: number | undefined
  /** Of Ethereum's types. */
  readonly typed?: TypedFields | undefined
}

/** nonce, gas price, gas limit, receiver, value, data. */
const UNSIGNED_ITEMS = 6
/** RLP of the empty r and s behind a chain id, without their list. */
const NO_SIGNATURE = Uint8Array.of(STRING, STRING)
/** RLP of the elements of a signature, all empty. */
const UNSIGNED = Uint8Array.of(STRING, STRING, STRING)

const REWARD_RECEIVER = fromHex(PRECOMPILE_ADDRESS.remasc)

/**
 * A signature's s must be below this (docs/internals/protocol.md#43-transactions); half of the order itself is already
 * too much.
 */
const S_BOUND = CURVE_ORDER / 2n

/**
 * Reads a signed transaction and recovers its sender. Throws `invalid-params` with the messages of
 * docs/internals/rpc-reference.md#75-sending: broken RLP, not nine elements (typed envelopes among them, unless
 * `takesTyped`), no gas limit, a receiver that is no address, a signature that is missing, out of range or in the upper
 * half. Whether the chain id fits is for `checkChainId`.
 */
export function decodeTransaction(raw: Uint8Array, takesTyped = false): Transaction {
  return withSender(takesTyped ? parseAny(raw) : parseTransaction(raw))
}

function withSender({ fields, parity }: Parsed): Transaction {
  const { chainId, r, s } = fields
  if (parity === undefined || s >= S_BOUND) throw invalidChainId(chainId)
  const from = recoverAddress(signingHash(fields), r, s, parity)
  if (from === undefined) throw invalidChainId(chainId)
  return transactionOf(fields, from, false)
}

/**
 * Reads a transaction that this node stored with its sender (`REMASC_SENDER` for the REMASC transaction): the sender is not
 * recovered, and nothing is checked again.
 */
export function restoreTransaction(raw: Uint8Array, from: Hex): Transaction {
  return transactionOf(restoredFields(raw).fields, from, from === REMASC_SENDER)
}

/** `restoreTransaction` of bytes that were not read before: those of a file, which states the senders. Throws `invalid-params`. */
export function attributedTransaction(raw: Uint8Array, from: Hex): Transaction {
  const { fields } = beginsTyped(raw) ? parseAny(raw) : parseTransaction(raw)
  return transactionOf(fields, from, from === REMASC_SENDER)
}

function restoredFields(raw: Uint8Array): Parsed {
  return beginsTyped(raw) ? parseAny(raw, true) : parseTransaction(raw)
}

/**
 * Reads the transaction at a place of a block: like `decodeTransaction`, but the last one may be the REMASC
 * transaction, which is not signed (docs/internals/protocol.md#53-remasc-transaction).
 */
export function decodeBlockTransaction(raw: Uint8Array, isLast: boolean): Transaction {
  if (beginsTyped(raw)) return decodeTransaction(raw, true)
  const parsed = parseTransaction(raw)
  const { fields, parity } = parsed
  const isRemasc =
    isLast &&
    parity === undefined &&
    fields.to === PRECOMPILE_ADDRESS.remasc &&
    fields.data.length === 0 &&
    fields.value === 0n &&
    fields.gasPrice === 0n &&
    fields.gasLimit === 0n
  return isRemasc ? transactionOf(fields, REMASC_SENDER, true) : withSender(parsed)
}

/** Signs with a 32-byte private key, whose address is `from`. Throws on a key outside 1..n-1. */
export function signTransaction(
  unsigned: UnsignedTransaction,
  key: Uint8Array,
  from = addressOf(key),
): Transaction {
  const { chainId, type = TYPE.legacy } = unsigned
  const items = signedItemsOf(unsigned)
  const signature = sign(itemsHash(items, { chainId, type }), key)
  return restoreTransaction(encodeSigned(unsigned, items, signature), from)
}

/**
 * A transaction of an account whose key the node does not have. Its placeholder signature has the sender as r and 1 as s, so
 * that transactions of two senders never have the same hash. Recovering a sender from its bytes gives another one, or none.
 */
export function impersonatedTransaction(unsigned: UnsignedTransaction, from: Hex): Transaction {
  const standIn: Signature = { r: BigInt(from), s: 1n, parity: 0 }
  return restoreTransaction(encodeSigned(unsigned, signedItemsOf(unsigned), standIn), from)
}

/** The sender that an impersonated transaction carries in place of a signature; `undefined` for any other. */
export function impersonatedSender({ r, s }: Transaction): Hex | undefined {
  return s === 1n && r < 1n << 160n ? toHex(fromBigIntFixed(r, 20)) : undefined
}

/**
 * The bytes of an unsigned transaction as clients of Ethereum read it: the elements of the signature empty, and a zero
 * price empty as well.
 */
export function encodeUnsigned(unsigned: UnsignedTransaction): Uint8Array {
  const items = isOfEthereum(unsigned)
    ? signedItemsOf(unsigned)
    : frameItems(legacyItems(unsigned, fromBigInt(unsigned.gasPrice)))
  return prefixed(unsigned.type ?? TYPE.legacy, frameList([items, UNSIGNED]))
}

/** Is it of a type of Ethereum, whose payload has elements of its own? */
function isOfEthereum(unsigned: UnsignedTransaction): unsigned is UnsignedTransaction & TypedParts {
  return unsigned.typed !== undefined
}

/** RLP behind the prefix of a type. */
function prefixed(type: number, list: Uint8Array): Uint8Array {
  return type === TYPE.legacy ? list : concat(typePrefix(type), list)
}

/** Byte strings as RLP, one behind the other. */
function frameItems(strings: readonly Uint8Array[]): Uint8Array {
  return concat(...strings.map(frameString))
}

/** The elements that are signed as RLP, one behind the other. */
function signedItemsOf(unsigned: UnsignedTransaction): Uint8Array {
  if (isOfEthereum(unsigned)) return concat(...typedItems(unsigned).map(encodeRlp))
  const { gasPrice } = unsigned
  return frameItems(legacyItems(unsigned, gasPrice === 0n ? oneByte(0) : fromBigInt(gasPrice)))
}

/** The sender's public key (64 bytes, x and y); `undefined` when it has no signature of its sender. */
export function senderPublicKey({ raw, from }: Transaction): Uint8Array | undefined {
  const { fields, parity } = restoredFields(raw)
  if (parity === undefined) return undefined
  const key = recoverPublicKey(signingHash(fields), fields.r, fields.s, parity)
  return key !== undefined && addressOfPublicKey(key) === from ? key : undefined
}

function legacyItems(
  { nonce, gasLimit, to, value, data }: UnsignedTransaction,
  price: Uint8Array,
): Uint8Array[] {
  return [
    fromBigInt(nonce),
    price,
    fromBigInt(gasLimit),
    to === null ? EMPTY : fromHex(to),
    fromBigInt(value),
    data,
  ]
}

/** `items`: what `signedItemsOf` gives. */
function encodeSigned(
  unsigned: UnsignedTransaction,
  items: Uint8Array,
  { r, s, parity }: Signature,
): Uint8Array {
  const { chainId, type = TYPE.legacy } = unsigned
  const legacyV = (chainId === 0 ? 27 : 35 + 2 * chainId) + parity
  const v = isOfEthereum(unsigned) ? parityBytes(parity) : smallBytes(legacyV)
  return prefixed(type, frameList([items, ...[v, fromBigInt(r), fromBigInt(s)].map(frameString)]))
}

/**
 * The transaction that ends a block and collects its fees (docs/internals/protocol.md#53-remasc-transaction). Its zero
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
    type: TYPE.legacy,
    typed: undefined,
    isRemasc: true,
  }
}

/**
 * Throws `invalid-params` unless the transaction is meant for this network, or unprotected, which a typed one never is
 * (docs/internals/protocol.md#43-transactions).
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

/**
 * The nonce's bytes as encoded, for the pool's rule that they be few and without a leading zero
 * (docs/internals/protocol.md#45-pool-admission).
 */
export function encodedNonce({ raw, type, typed }: Transaction): Uint8Array {
  const first = payloadStart(raw, prefixLength(type))
  // The chain id comes first in Ethereum's types.
  const nonce = typed === undefined ? first : itemEnd(raw, first)
  return raw.subarray(payloadStart(raw, nonce), itemEnd(raw, nonce))
}

/** Lists all fields, so that all transactions have one shape in memory; copying by spread is slower. */
function transactionOf(fields: TransactionFields, from: Hex, isRemasc: boolean): Transaction {
  const { hash, nonce, gasPrice, gasLimit, to, value, data, v, r, s, chainId, raw, type, typed } = fields
  return {
    hash,
    from,
    nonce,
    gasPrice,
    gasLimit,
    to,
    value,
    data,
    v,
    r,
    s,
    chainId,
    raw,
    type,
    typed,
    isRemasc,
  }
}

/** What the signed bytes are made of. */
type SignedFields = Pick<TransactionFields, 'raw' | 'chainId' | 'type'>

/** The first items of the list at `at`, one behind the other: a view into it. */
function firstItems(raw: Uint8Array, at: number, count: number): Uint8Array {
  const start = payloadStart(raw, at)
  let end = start
  for (let i = 0; i < count; i++) end = itemEnd(raw, end)
  return raw.subarray(start, end)
}

/**
 * The hash that the sender signed: of the items before the signature behind the prefix of the type. The chain id replaces V
 * in a legacy transaction, so that other networks cannot use it (EIP-155); Ethereum's types have it among their items.
 */
function signingHash({ raw, chainId, type }: SignedFields): Uint8Array {
  const items = firstItems(raw, prefixLength(type), signedItems(type) || UNSIGNED_ITEMS)
  return itemsHash(items, { chainId, type })
}

/** `signingHash` of the items before the signature. */
function itemsHash(items: Uint8Array, { chainId, type }: Pick<SignedFields, 'chainId' | 'type'>): Uint8Array {
  const isBare = signedItems(type) > 0 || chainId === 0
  const list = frameList(isBare ? [items] : [items, frameString(smallBytes(chainId)), NO_SIGNATURE])
  return keccak256(prefixed(type, list))
}

function invalidChainId(chainId: number): NodeError {
  return invalidParams(`Invalid chainId: ${chainId}`)
}
