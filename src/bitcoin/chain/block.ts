/** Blocks: a header and transactions. */
import { concat } from '../../encoding/bytes.ts'
import { HASH_BYTES } from '../../encoding/hash.ts'
import { ByteReader } from '../byte-reader.ts'
import { displayed } from '../displayed-hash.ts'
import { compactSize } from '../serialization.ts'
import {
  encodeStripped,
  encodeTransaction,
  readTransaction,
  type Transaction,
  txid,
  wtxid,
} from '../transaction.ts'
import { encodeHeader, HEADER_BYTES, type Header, hashOfHeader, readHeader } from './header.ts'
import { merkleRoot } from './merkle-root.ts'
import { WITNESS_SCALE } from './regtest.ts'

/** A block. */
export interface Block {
  readonly header: Header
  readonly transactions: readonly Transaction[]
}

/** Least bytes of a transaction. */
const TRANSACTION_BYTES = 10
const NO_HASH = new Uint8Array(HASH_BYTES)

/** The block in bytes. Throws a RangeError for bytes that end too early or hold more than a block. */
export function decodeBlock(bytes: Uint8Array): Block {
  const reader = new ByteReader(bytes)
  const header = readHeader(reader)
  const count = reader.count(TRANSACTION_BYTES)
  const transactions: Transaction[] = []
  let at = reader.position
  for (let i = 0; i < count; i++) {
    const { transaction, size } = readTransaction(bytes.subarray(at))
    transactions.push(transaction)
    at += size
  }
  if (at !== bytes.length) throw new RangeError('bytes follow the block')
  return { header, transactions }
}

/** The bytes, with witnesses. */
export function encodeBlock({ header, transactions }: Block): Uint8Array {
  return concat(
    encodeHeader(header),
    compactSize(transactions.length),
    ...transactions.map(encodeTransaction),
  )
}

/** Text of a block's hash. */
export function blockHash({ header }: Block): string {
  return displayed(hashOfHeader(header))
}

/** Text of a transaction's hash without witness. */
export function idOf(transaction: Transaction): string {
  return displayed(txid(transaction))
}

/** Bytes with and without witness, and the weight (BIP-141). */
export interface Sizes {
  readonly size: number
  readonly stripped: number
  readonly weight: number
}

function sizesOf(size: number, stripped: number): Sizes {
  return { size, stripped, weight: stripped * (WITNESS_SCALE - 1) + size }
}

/** Sizes of a transaction. */
export function transactionSizes(transaction: Transaction): Sizes {
  return sizesOf(encodeTransaction(transaction).length, encodeStripped(transaction).length)
}

/** Bytes that a transaction counts as where weight matters, rounded up. */
export function virtualSize(transaction: Transaction): number {
  return Math.ceil(transactionSizes(transaction).weight / WITNESS_SCALE)
}

/** Sizes of a block. */
export function blockSizes({ transactions }: Block): Sizes {
  const sizes = transactions.map(transactionSizes)
  const head = HEADER_BYTES + compactSize(transactions.length).length
  const sum = (of: 'size' | 'stripped') => sizes.reduce((all, one) => all + one[of], head)
  return sizesOf(sum('size'), sum('stripped'))
}

/** Root of the transactions without witnesses, raw order. */
export function transactionsRoot(transactions: readonly Transaction[]): Uint8Array {
  return merkleRoot(transactions.map(txid))
}

/** Root of the transactions with witnesses; the coinbase counts as zeros (BIP-141). */
export function witnessRoot(transactions: readonly Transaction[]): Uint8Array {
  return merkleRoot(transactions.map((transaction, i) => (i === 0 ? NO_HASH : wtxid(transaction))))
}
