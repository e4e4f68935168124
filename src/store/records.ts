/** What the tables keep of the chain, and its bytes. What they keep beside it: `node-records.ts`. */
import { ADDRESS_BYTES } from '../chain/account.ts'
import type { Creation, TransactionInternals } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import { decodeHeader, ELEMENT, encodeHeader, type Header } from '../chain/header.ts'
import { decodeStoredReceipt, encodeStoredReceipts, type Receipt } from '../chain/receipt.ts'
import { restoreTransaction, type Transaction } from '../chain/transaction.ts'
import { concat, fromBigInt, roomFor, toNumber } from '../encoding/bytes.ts'
import { HASH_BYTES } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex, writeHex } from '../encoding/hex.ts'
import { asBigInt, asBytes, asList, asNumber, decodeRlp } from '../encoding/rlp.ts'
import { frameList, frameString, frameStrings, itemEnd, payloadStart } from '../encoding/rlp-frame.ts'
import type { ValueCodec } from './table.ts'

/** A header and what following the chain needs beside it. */
export interface HeaderRecord {
  readonly header: Header
  readonly totalDifficulty: bigint
  readonly postState: Hex
}

/** The rest of a block. */
export interface Body {
  readonly transactions: readonly Transaction[]
  readonly uncles: readonly Header[]
}

/** Where a transaction stands on the canonical chain. */
export interface TransactionLocation {
  readonly blockHash: Hex
  readonly index: number
}

/** A transaction that waits, and the order in which it came. */
export interface PoolEntry {
  readonly arrival: number
  readonly transaction: Transaction
}

/** Header records. */
export function headerRecord(config: ChainConfig): ValueCodec<HeaderRecord> {
  return {
    encode: ({ header, totalDifficulty, postState }) =>
      frameList([
        encodeHeader(header, 'full', config.rulesAt(header.number)),
        frameString(fromBigInt(totalDifficulty)),
        frameString(fromHex(postState)),
      ]),
    decode(bytes) {
      const [header, totalDifficulty, postState] = asList(decodeRlp(bytes), 'header record')
      return {
        header: decodeHeader(asList(header, 'header'), config),
        totalDifficulty: asBigInt(totalDifficulty, 'total difficulty'),
        postState: toHex(asBytes(postState, 'state after the block')),
      }
    },
  }
}

/** What a header record states without its network's rules: the height, and the root of the state after the block. */
export function blockPosition(stored: Uint8Array): { readonly number: number; readonly state: Hex } {
  const [header, , state] = asList(decodeRlp(stored), 'header record')
  return {
    number: asNumber(asList(header, 'header')[ELEMENT.number], 'number'),
    state: toHex(asBytes(state, 'state after the block')),
  }
}

/** The root of the state after the block that a header record states, without decoding the header. */
export function stateAfterBlock(stored: Uint8Array): Hex {
  let at = payloadStart(stored, 0)
  for (let before = 0; before < 2; before++) at = itemEnd(stored, at)
  return toHex(asBytes(decodeRlp(stored.subarray(at, itemEnd(stored, at))), 'state after the block'))
}

/** Bodies; each transaction with its sender, which costs too much to recover at each read. */
export function body(config: ChainConfig): ValueCodec<Body> {
  return {
    encode: ({ transactions, uncles }) =>
      frameList([
        frameStrings(transactions.flatMap(({ raw, from }) => [raw, fromHex(from)])),
        frameList(uncles.map((uncle) => encodeHeader(uncle, 'full', config.rulesAt(uncle.number)))),
      ]),
    decode(bytes) {
      const [pairs, uncles] = asList(decodeRlp(bytes), 'body')
      const flat = asList(pairs, 'transactions')
      const transactions: Transaction[] = []
      for (let i = 0; i < flat.length; i += 2) {
        const from = toHex(asBytes(flat[i + 1], 'sender'))
        transactions.push(restoreTransaction(asBytes(flat[i], 'transaction'), from))
      }
      return {
        transactions,
        uncles: asList(uncles, 'uncles').map((uncle) => decodeHeader(asList(uncle, 'uncle'), config)),
      }
    },
  }
}

/** The transaction at an index of a stored body, of which no other is decoded; `undefined` beyond the end. */
export function transactionInBody(stored: Uint8Array, index: number): Transaction | undefined {
  const list = payloadStart(stored, 0)
  const end = itemEnd(stored, list)
  if (!(end <= stored.length)) throw new RangeError('the body ends before its transactions')
  let at = payloadStart(stored, list)
  for (let item = 0; item < 2 * index && at < end; item++) at = itemEnd(stored, at)
  if (at >= end) return undefined
  const sender = itemEnd(stored, at)
  const bytesOf = (start: number, stop: number, name: string) =>
    asBytes(decodeRlp(stored.subarray(start, stop)), name)
  const from = toHex(bytesOf(sender, itemEnd(stored, sender), 'sender'))
  return restoreTransaction(bytesOf(at, sender, 'transaction'), from)
}

/** Receipts of a block. */
export const receipts: ValueCodec<readonly Receipt[]> = {
  encode: (values) => frameStrings(encodeStoredReceipts(values)),
  decode: (bytes) =>
    asList(decodeRlp(bytes), 'receipts').map((item) => decodeStoredReceipt(asBytes(item, 'receipt'))),
}

/** Writes the four bytes of an integer, the highest first. A `DataView` would move a small array out of the heap. */
export function writeInteger(into: Uint8Array, at: number, value: number): void {
  into[at] = value >>> 24
  into[at + 1] = value >>> 16
  into[at + 2] = value >>> 8
  into[at + 3] = value
}

/** Hashes or addresses as bytes, one after another. */
function joined(values: readonly Hex[]): Uint8Array {
  let length = 0
  for (const value of values) length += (value.length - 2) / 2
  const bytes = roomFor(length)
  let at = 0
  for (const value of values) {
    writeHex(bytes, at, value)
    at += (value.length - 2) / 2
  }
  return bytes
}

/** Hashes, 32 bytes each. */
export const hashes: ValueCodec<readonly Hex[]> = {
  encode: joined,
  decode(bytes) {
    const values: Hex[] = []
    for (let at = 0; at < bytes.length; at += HASH_BYTES)
      values.push(toHex(bytes.subarray(at, at + HASH_BYTES)))
    return values
  },
}

/** Locations of transactions. */
export const location: ValueCodec<TransactionLocation> = {
  encode: ({ blockHash, index }) => concat(fromHex(blockHash), fromBigInt(BigInt(index))),
  decode: (bytes) => ({
    blockHash: toHex(bytes.subarray(0, HASH_BYTES)),
    index: toNumber(bytes.subarray(HASH_BYTES)),
  }),
}

/** Waiting transactions. */
export const poolEntry: ValueCodec<PoolEntry> = {
  encode: ({ arrival, transaction: { raw, from } }) =>
    frameStrings([fromBigInt(BigInt(arrival)), fromHex(from), raw]),
  decode(bytes) {
    const [arrival, from, raw] = asList(decodeRlp(bytes), 'pool entry')
    const transaction = restoreTransaction(asBytes(raw, 'transaction'), toHex(asBytes(from, 'sender')))
    return { arrival: asNumber(arrival, 'arrival'), transaction }
  },
}

/** A stretch of the canonical chain as an index sees it. */
export interface SectionRecord {
  /** Hash of its last block; on a chain with another block there the record does not apply. */
  readonly last: Hex
  readonly rows: Uint8Array
}

/** Sections of an index. */
export const section: ValueCodec<SectionRecord> = {
  encode: ({ last, rows }) => concat(fromHex(last), rows),
  decode: (bytes) => ({ last: toHex(bytes.subarray(0, HASH_BYTES)), rows: bytes.subarray(HASH_BYTES) }),
}

const INDEX_BYTES = 4

/** The two parts of a value whose first part has a fixed length. */
function halves(bytes: Uint8Array, length: number): readonly [Hex, Hex] {
  return [toHex(bytes.subarray(0, length)), toHex(bytes.subarray(length))]
}

function chunks(bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: bytes.length / length }, (_, i) => bytes.subarray(i * length, (i + 1) * length))
}

/** Internals of a block. */
export const internals: ValueCodec<readonly TransactionInternals[]> = {
  encode: (values) =>
    frameList(
      values.map(({ index, participants, creations }) =>
        frameStrings([
          fromBigInt(BigInt(index)),
          joined(participants),
          joined(creations.flatMap(({ contract, creator }) => [contract, creator])),
        ]),
      ),
    ),
  decode: (bytes) =>
    asList(decodeRlp(bytes), 'internals').map((item) => {
      const [index, participants, creations] = asList(item, 'internals of a transaction')
      return {
        index: asNumber(index, 'index'),
        participants: chunks(asBytes(participants, 'participants'), ADDRESS_BYTES).map(toHex),
        creations: chunks(asBytes(creations, 'creations'), 2 * ADDRESS_BYTES).map((pair): Creation => {
          const [contract, creator] = halves(pair, ADDRESS_BYTES)
          return { contract, creator }
        }),
      }
    }),
}

/** Indexes of transactions, four bytes each. */
export const indexes: ValueCodec<readonly number[]> = {
  encode(values) {
    const bytes = new Uint8Array(values.length * INDEX_BYTES)
    for (const [i, value] of values.entries()) writeInteger(bytes, i * INDEX_BYTES, value)
    return bytes
  },
  decode: (bytes) => chunks(bytes, INDEX_BYTES).map(toNumber),
}

/** How a contract came to be. */
export interface ContractOrigin {
  /** Of the transaction. */
  readonly hash: Hex
  readonly creator: Hex
}

/** Origins of contracts. */
export const origin: ValueCodec<ContractOrigin> = {
  encode: ({ hash, creator }) => concat(fromHex(hash), fromHex(creator)),
  decode(bytes) {
    const [hash, creator] = halves(bytes, HASH_BYTES)
    return { hash, creator }
  },
}
