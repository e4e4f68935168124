/** All tables on one page: the disk format. A change here that an older node would misread raises `FORMAT`. */
import type { Creation, TransactionInternals } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import { decodeHeader, encodeHeader, type Header } from '../chain/header.ts'
import { decodeReceipt, encodeReceipt, type Receipt } from '../chain/receipt.ts'
import { restoreTransaction, type Transaction } from '../chain/transaction.ts'
import { concat, fromBigInt, toNumber } from '../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { asBigInt, asBytes, asList, asNumber, decodeRlp } from '../encoding/rlp.ts'
import { frameList, frameString, frameStrings } from '../encoding/rlp-frame.ts'
import {
  bytesKey,
  bytesValue,
  hashKey,
  hashValue,
  heightKey,
  type KeyValueReader,
  nameKey,
  Table,
  type ValueCodec,
  type Write,
} from './table.ts'

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

function headerRecord(config: ChainConfig): ValueCodec<HeaderRecord> {
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

function body(config: ChainConfig): ValueCodec<Body> {
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

const receipts: ValueCodec<readonly Receipt[]> = {
  encode: (values) => frameStrings(values.map(encodeReceipt)),
  decode: (bytes) =>
    asList(decodeRlp(bytes), 'receipts').map((item) => decodeReceipt(asBytes(item, 'receipt'))),
}

const HASH_BYTES = 32

const hashes: ValueCodec<readonly Hex[]> = {
  encode: (values) => concat(...values.map(fromHex)),
  decode(bytes) {
    const values: Hex[] = []
    for (let at = 0; at < bytes.length; at += HASH_BYTES)
      values.push(toHex(bytes.subarray(at, at + HASH_BYTES)))
    return values
  },
}

const location: ValueCodec<TransactionLocation> = {
  encode: ({ blockHash, index }) => concat(fromHex(blockHash), fromBigInt(BigInt(index))),
  decode: (bytes) => ({
    blockHash: toHex(bytes.subarray(0, HASH_BYTES)),
    index: toNumber(bytes.subarray(HASH_BYTES)),
  }),
}

const poolEntry: ValueCodec<PoolEntry> = {
  encode: ({ arrival, transaction: { raw, from } }) =>
    frameStrings([fromBigInt(BigInt(arrival)), fromHex(from), raw]),
  decode(bytes) {
    const [arrival, from, raw] = asList(decodeRlp(bytes), 'pool entry')
    const transaction = restoreTransaction(asBytes(raw, 'transaction'), toHex(asBytes(from, 'sender')))
    return { arrival: asNumber(arrival, 'arrival'), transaction }
  },
}

/** JSON, for what is small and seldom written. */
function jsonValue<T>(): ValueCodec<T> {
  return {
    encode: (value) => new TextEncoder().encode(JSON.stringify(value)),
    decode: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
  }
}

/** First byte of the keys of each table; a number once used is never given to another. */
export const PREFIX = {
  headers: 1,
  bodies: 2,
  receipts: 3,
  heights: 4,
  canonical: 5,
  transactions: 6,
  pool: 7,
  meta: 8,
  nodes: 9,
  code: 10,
  logSections: 11,
  participantSections: 12,
  bans: 13,
  peerCounters: 14,
  internals: 15,
  senderNonces: 16,
  accountBlocks: 17,
  creators: 18,
  keptSnapshots: 19,
  replication: 32,
} as const

/** What the chain and the pool keep. */
export interface ChainTables {
  /** By block hash: this, body and receipts of every executed block, canonical or not. */
  readonly headers: Table<Hex, HeaderRecord>
  readonly bodies: Table<Hex, Body>
  readonly receipts: Table<Hex, readonly Receipt[]>
  /** All known blocks at a height, in order of arrival. */
  readonly heights: Table<number, readonly Hex[]>
  /** The one at a height that counts. */
  readonly canonical: Table<number, Hex>
  /** Transactions of canonical blocks. */
  readonly transactions: Table<Hex, TransactionLocation>
  readonly pool: Table<Hex, PoolEntry>
  /** Hashes with a name: `head`. */
  readonly meta: Table<string, Hex>
}

/** The tables of chain and pool over a database. */
export function chainTables(reader: KeyValueReader, config: ChainConfig): ChainTables {
  return {
    headers: new Table(reader, PREFIX.headers, hashKey, headerRecord(config)),
    bodies: new Table(reader, PREFIX.bodies, hashKey, body(config)),
    receipts: new Table(reader, PREFIX.receipts, hashKey, receipts),
    heights: new Table(reader, PREFIX.heights, heightKey, hashes),
    canonical: new Table(reader, PREFIX.canonical, heightKey, hashValue),
    transactions: new Table(reader, PREFIX.transactions, hashKey, location),
    pool: new Table(reader, PREFIX.pool, hashKey, poolEntry),
    meta: new Table(reader, PREFIX.meta, nameKey, hashValue),
  }
}

/** What states are made of, by keccak-256. */
export interface StateTables {
  readonly nodes: Table<Hex, Uint8Array>
  readonly code: Table<Hex, Uint8Array>
}

/** The tables of all states over a database. */
export function stateTables(reader: KeyValueReader): StateTables {
  return {
    nodes: new Table(reader, PREFIX.nodes, hashKey, bytesValue),
    code: new Table(reader, PREFIX.code, hashKey, bytesValue),
  }
}

/** A stretch of the canonical chain as an index sees it. */
export interface SectionRecord {
  /** Hash of its last block; on a chain with another block there the record does not apply. */
  readonly last: Hex
  readonly rows: Uint8Array
}

const section: ValueCodec<SectionRecord> = {
  encode: ({ last, rows }) => concat(fromHex(last), rows),
  decode: (bytes) => ({ last: toHex(bytes.subarray(0, HASH_BYTES)), rows: bytes.subarray(HASH_BYTES) }),
}

/** What finds blocks by their contents; all of it can be made again from the blocks. */
export interface IndexTables {
  /** By number of the section. */
  readonly logSections: Table<number, SectionRecord>
  readonly participantSections: Table<number, SectionRecord>
}

/** The tables of the indexes over a database. */
export function indexTables(reader: KeyValueReader): IndexTables {
  return {
    logSections: new Table(reader, PREFIX.logSections, heightKey, section),
    participantSections: new Table(reader, PREFIX.participantSections, heightKey, section),
  }
}

const ADDRESS_BYTES = 20
const INDEX_BYTES = 4

/** The two parts of a value whose first part has a fixed length. */
function halves(bytes: Uint8Array, length: number): readonly [Hex, Hex] {
  return [toHex(bytes.subarray(0, length)), toHex(bytes.subarray(length))]
}

function chunks(bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: bytes.length / length }, (_, i) => bytes.subarray(i * length, (i + 1) * length))
}

const internals: ValueCodec<readonly TransactionInternals[]> = {
  encode: (values) =>
    frameList(
      values.map(({ index, participants, creations }) =>
        frameStrings([
          fromBigInt(BigInt(index)),
          concat(...participants.map(fromHex)),
          concat(...creations.flatMap(({ contract, creator }) => [fromHex(contract), fromHex(creator)])),
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

const indexes: ValueCodec<readonly number[]> = {
  encode(values) {
    const bytes = new Uint8Array(values.length * INDEX_BYTES)
    const view = new DataView(bytes.buffer)
    for (let i = 0; i < values.length; i++) view.setUint32(i * INDEX_BYTES, values[i] as number)
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

const origin: ValueCodec<ContractOrigin> = {
  encode: ({ hash, creator }) => concat(fromHex(hash), fromHex(creator)),
  decode(bytes) {
    const [hash, creator] = halves(bytes, HASH_BYTES)
    return { hash, creator }
  },
}

/** What finds transactions by account. Keys end with a height of six bytes, for one account may have several entries. */
export interface AccountTables {
  /** By block hash, canonical or not; absent for a block without any. */
  readonly internals: Table<Hex, readonly TransactionInternals[]>
  /** Hashes by sender, nonce (8 bytes), height: a contract that is made again begins with the same nonces. */
  readonly senderNonces: Table<Hex, Hex>
  /** Indexes of the transactions in which an account takes part, ascending, by account and height. */
  readonly accountBlocks: Table<Hex, readonly number[]>
  /** By contract and height; of the last creation at the height. */
  readonly creators: Table<Hex, ContractOrigin>
}

/** The tables of the accounts over a database. */
export function accountTables(reader: KeyValueReader): AccountTables {
  return {
    internals: new Table(reader, PREFIX.internals, hashKey, internals),
    senderNonces: new Table(reader, PREFIX.senderNonces, bytesKey, hashValue),
    accountBlocks: new Table(reader, PREFIX.accountBlocks, bytesKey, indexes),
    creators: new Table(reader, PREFIX.creators, bytesKey, origin),
  }
}

/** A snapshot that outlives a restart, as JSON: numbers of over 53 bits are hex. */
export interface KeptSnapshot {
  readonly head: Hex
  readonly height: number
  readonly postState: Hex
  readonly name?: string | undefined
  /** Unix seconds. */
  readonly time: number
  readonly pool: readonly Hex[]
  readonly clock: { readonly offset: number; readonly exact?: number; readonly interval?: number }
  readonly coinbase: Hex
  readonly gasLimit?: Hex | undefined
  readonly minimumGasPrice?: Hex | undefined
}

/** The kept snapshots over a database, by number. */
export function snapshotTable(reader: KeyValueReader): Table<number, KeptSnapshot> {
  return new Table(reader, PREFIX.keptSnapshots, heightKey, jsonValue<KeptSnapshot>())
}

/** How much of a cluster's log this database has. */
export interface LogPosition {
  /** Which cluster: a random id, made with its log. */
  readonly cluster: string
  /** Of the last record whose changes are in the tables. */
  readonly sequence: number
  readonly term: number
}

const POSITION = 'position'

/** The position over a database, and the write that changes it. */
export function logPosition(reader: KeyValueReader): {
  get(): LogPosition | undefined
  put(position: LogPosition): Write
} {
  const table = new Table(reader, PREFIX.replication, nameKey, jsonValue<LogPosition>())
  return { get: () => table.get(POSITION), put: (position) => table.put(POSITION, position) }
}

/** Who calls the node from elsewhere, by address. */
export interface PeerTables {
  /** By address or range: in which order they were banned. */
  readonly bans: Table<string, number>
  /** Counters by name. */
  readonly peerCounters: Table<string, Readonly<Record<string, number>>>
}

/** The tables of peer scoring over a database. */
export function peerTables(reader: KeyValueReader): PeerTables {
  return {
    bans: new Table(reader, PREFIX.bans, nameKey, jsonValue<number>()),
    peerCounters: new Table(
      reader,
      PREFIX.peerCounters,
      nameKey,
      jsonValue<Readonly<Record<string, number>>>(),
    ),
  }
}
