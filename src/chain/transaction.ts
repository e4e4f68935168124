/** Transactions: their senders, signing, intrinsic gas, and the one that collects a block's fees. */
import { countZeros, EMPTY, fromBigInt, fromBigIntFixed, oneByte } from '../encoding/bytes.ts'
import { keccak256, keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { frameList, frameString, frameStrings, itemEnd, payloadStart, STRING } from '../encoding/rlp-frame.ts'
import { invalidParams, type NodeError } from '../errors.ts'
import { BRIDGE_SENDERS, type BridgeSenders, isFreeBridgeTransaction } from './bridge-senders.ts'
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
import { parseTransaction, smallBytes, type TransactionFields } from './transaction-bytes.ts'

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
  /** 0 signs without replay protection. */
  readonly chainId: number
}

/** nonce, gas price, gas limit, receiver, value, data. */
const UNSIGNED_ITEMS = 6
/** RLP of the empty r and s behind a chain id, without their list. */
const NO_SIGNATURE = Uint8Array.of(STRING, STRING)

const REWARD_RECEIVER = fromHex(PRECOMPILE_ADDRESS.remasc)

/**
 * A signature's s must be below this (docs/internals/protocol.md#43-transactions); half of the order itself is already
 * too much.
 */
const S_BOUND = CURVE_ORDER / 2n

/**
 * Reads a signed transaction and recovers its sender. Throws `invalid-params` with the messages of
 * docs/internals/rpc-reference.md#75-sending: broken RLP, not nine elements (typed envelopes among them), no gas limit,
 * a receiver that is no address, a signature that is missing, out of range or in the upper half. Whether the chain id
 * fits is for `checkChainId`.
 */
export function decodeTransaction(raw: Uint8Array): Transaction {
  const { fields, parity } = parseTransaction(raw)
  const { chainId, r, s } = fields
  if (parity === undefined || s >= S_BOUND) throw invalidChainId(chainId)
  const from = recoverAddress(keccak256(signedBytes(unsignedItems(fields.raw), chainId)), r, s, parity)
  if (from === undefined) throw invalidChainId(chainId)
  return transactionOf(fields, from, false)
}

/**
 * Reads a transaction that this node stored with its sender (`REMASC_SENDER` for the REMASC transaction): the sender is not
 * recovered, and nothing is checked again.
 */
export function restoreTransaction(raw: Uint8Array, from: Hex): Transaction {
  return transactionOf(parseTransaction(raw).fields, from, from === REMASC_SENDER)
}

/**
 * Reads the transaction at a place of a block: like `decodeTransaction`, but the last one may be the REMASC
 * transaction, which is not signed (docs/internals/protocol.md#53-remasc-transaction).
 */
export function decodeBlockTransaction(raw: Uint8Array, isLast: boolean): Transaction {
  const { fields, parity } = parseTransaction(raw)
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

/** Signs with a 32-byte private key, whose address is `from`. Throws on a key outside 1..n-1. */
export function signTransaction(
  unsigned: UnsignedTransaction,
  key: Uint8Array,
  from = addressOf(key),
): Transaction {
  const items = unsignedItems(frameStrings(payloadOf(unsigned)))
  const signature = sign(keccak256(signedBytes(items, unsigned.chainId)), key)
  return restoreTransaction(encodeSigned(items, unsigned.chainId, signature), from)
}

/**
 * A transaction of an account whose key the node does not have. Its placeholder signature has the sender as r and 1 as s, so
 * that transactions of two senders never have the same hash. Recovering a sender from its bytes gives another one, or none.
 */
export function impersonatedTransaction(unsigned: UnsignedTransaction, from: Hex): Transaction {
  const standIn: Signature = { r: BigInt(from), s: 1n, parity: 0 }
  const items = unsignedItems(frameStrings(payloadOf(unsigned)))
  return restoreTransaction(encodeSigned(items, unsigned.chainId, standIn), from)
}

/** The sender that an impersonated transaction carries in place of a signature; `undefined` for any other. */
export function impersonatedSender({ r, s }: Transaction): Hex | undefined {
  return s === 1n && r < 1n << 160n ? toHex(fromBigIntFixed(r, 20)) : undefined
}

/**
 * The RLP of an unsigned transaction as clients of Ethereum read it: nine elements, those of the signature empty, and a
 * zero price empty as well.
 */
export function encodeUnsigned(unsigned: UnsignedTransaction): Uint8Array {
  const [nonce = EMPTY, , ...rest] = payloadOf(unsigned)
  return frameStrings([nonce, fromBigInt(unsigned.gasPrice), ...rest, EMPTY, EMPTY, EMPTY])
}

/** The sender's public key (64 bytes, x and y); `undefined` when it has no signature of its sender. */
export function senderPublicKey({ raw, from }: Transaction): Uint8Array | undefined {
  const { fields, parity } = parseTransaction(raw)
  const { chainId, r, s } = fields
  if (parity === undefined) return undefined
  const key = recoverPublicKey(keccak256(signedBytes(unsignedItems(fields.raw), chainId)), r, s, parity)
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

function encodeSigned(items: Uint8Array, chainId: number, { r, s, parity }: Signature): Uint8Array {
  const v = (chainId === 0 ? 27 : 35 + 2 * chainId) + parity
  return frameList([
    items,
    frameString(smallBytes(v)),
    frameString(fromBigInt(r)),
    frameString(fromBigInt(s)),
  ])
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
    isRemasc: true,
  }
}

/**
 * Throws `invalid-params` unless the transaction is unprotected or meant for this network
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

/** Gas of a byte of data that is zero. */
const ZERO_BYTE_GAS = 4

/** Gas per whole or started word of init code (EIP-3860, RSKIP-438). */
export const INITCODE_WORD_GAS = 2

/** Longest init code, bytes (EIP-3860, RSKIP-438). */
export const MAX_INITCODE_SIZE = 49_152

/** What the intrinsic gas depends on beside the transaction (docs/internals/protocol.md#44-intrinsic-gas). */
export interface IntrinsicPrices {
  /** Gas of a byte of data that is not zero: 16 since RSKIP-400 (EIP-2028), 68 before. */
  readonly dataByte: number
  /** Gas of a word of init code: `INITCODE_WORD_GAS` since RSKIP-438, 0 before. */
  readonly initcodeWord: number
  /** The Bridge's own senders where they call it free of charge: only while a network is set up. */
  readonly freeSenders: BridgeSenders | undefined
}

/** The prices with every rule in force, on a network that never ends its set-up. */
export const PRESENT_PRICES: IntrinsicPrices = {
  dataByte: 16,
  initcodeWord: INITCODE_WORD_GAS,
  freeSenders: BRIDGE_SENDERS.regtest,
}

/**
 * Gas that a transaction costs before any code runs (docs/internals/protocol.md#44-intrinsic-gas): base, data by byte,
 * init code by word. Without a sender, as in a simulation, none is free.
 */
export function intrinsicGas(
  transaction: Pick<Transaction, 'to' | 'data'> & { readonly from?: Hex },
  { dataByte, initcodeWord, freeSenders }: IntrinsicPrices = PRESENT_PRICES,
): bigint {
  const { from, to, data } = transaction
  if (freeSenders !== undefined && from !== undefined && isFreeBridgeTransaction(from, to, freeSenders))
    return 0n
  const base = to === null ? 53_000 + initcodeWord * Math.ceil(data.length / 32) : 21_000
  const zeros = countZeros(data)
  return BigInt(base + ZERO_BYTE_GAS * zeros + dataByte * (data.length - zeros))
}

/**
 * The nonce's bytes as encoded, for the pool's rule that they be few and without a leading zero
 * (docs/internals/protocol.md#45-pool-admission).
 */
export function encodedNonce({ raw }: Transaction): Uint8Array {
  const nonce = payloadStart(raw, 0)
  return raw.subarray(payloadStart(raw, nonce), itemEnd(raw, nonce))
}

/** Lists all fields, so that all transactions have one shape in memory; copying by spread is slower. */
function transactionOf(fields: TransactionFields, from: Hex, isRemasc: boolean): Transaction {
  const { hash, nonce, gasPrice, gasLimit, to, value, data, v, r, s, chainId, raw } = fields
  return { hash, from, nonce, gasPrice, gasLimit, to, value, data, v, r, s, chainId, raw, isRemasc }
}

/** The items of a transaction's RLP that come before its signature, one behind the other: a view into it. */
function unsignedItems(raw: Uint8Array): Uint8Array {
  const start = payloadStart(raw, 0)
  let end = start
  for (let i = 0; i < UNSIGNED_ITEMS; i++) end = itemEnd(raw, end)
  return raw.subarray(start, end)
}

/**
 * The bytes that the sender signed, with the items as `unsignedItems` gives them: the chain id replaces V, so that
 * other networks cannot use them (EIP-155).
 */
function signedBytes(items: Uint8Array, chainId: number): Uint8Array {
  return frameList(chainId === 0 ? [items] : [items, frameString(smallBytes(chainId)), NO_SIGNATURE])
}

function invalidChainId(chainId: number): NodeError {
  return invalidParams(`Invalid chainId: ${chainId}`)
}
