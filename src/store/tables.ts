/** All tables on one page: the disk format. A change here that an older node would misread raises `FORMAT`. */
import { z } from 'zod'
import type { TransactionInternals } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Receipt } from '../chain/receipt.ts'
import type { Hex } from '../encoding/hex.ts'
import {
  type CompiledCode,
  checked,
  compiledCode,
  jsonValue,
  type KeptSnapshot,
  keptSnapshot,
  type StoredCompilation,
  sequenceNumber,
  storedCompilation,
  type Verification,
  verification,
} from './node-records.ts'
import {
  type Body,
  body,
  type ContractOrigin,
  type HeaderRecord,
  hashes,
  headerRecord,
  indexes,
  internals,
  location,
  origin,
  type PoolEntry,
  poolEntry,
  receipts,
  type SectionRecord,
  section,
  type TransactionLocation,
} from './records.ts'
import {
  bytesKey,
  bytesValue,
  hashKey,
  hashValue,
  heightKey,
  type KeyValueReader,
  nameKey,
  Table,
  type Write,
} from './table.ts'

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
  replication: 20,
  checkpoint: 21,
  flushedLog: 22,
  parentChain: 23,
  compilations: 24,
  compilationOrder: 25,
  compiledCodes: 26,
  verifications: 27,
  minerSections: 28,
} as const

/** Names of hashes. */
export const META = {
  /** Tip of the canonical chain. */
  head: 'head',
  /** Present when the chain was loaded from a file: its first block, whatever the settings are. */
  loadedGenesis: 'loadedGenesis',
} as const

/** What the chain and the pool keep. */
export interface ChainTables {
  /** By block hash: this, body and receipts of every executed block, canonical or not. */
  readonly headers: Table<Hex, HeaderRecord>
  readonly bodies: Table<Hex, Body>
  readonly receipts: Table<Hex, readonly Receipt[]>
  /** All known blocks at a height, in order of arrival. */
  readonly heights: Table<number, readonly Hex[]>
  /** The canonical one at a height. */
  readonly canonical: Table<number, Hex>
  /** Transactions of canonical blocks. */
  readonly transactions: Table<Hex, TransactionLocation>
  readonly pool: Table<Hex, PoolEntry>
  /** Hashes with a name: those of `META`. */
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
    pool: new Table(reader, PREFIX.pool, hashKey, checked(poolEntry)),
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

/** Indexes of blocks by their contents; all of them can be rebuilt from the blocks. */
export interface IndexTables {
  /** By number of the section. */
  readonly logSections: Table<number, SectionRecord>
  readonly participantSections: Table<number, SectionRecord>
  readonly minerSections: Table<number, SectionRecord>
}

/** The tables of the indexes over a database. */
export function indexTables(reader: KeyValueReader): IndexTables {
  return {
    logSections: new Table(reader, PREFIX.logSections, heightKey, checked(section)),
    participantSections: new Table(reader, PREFIX.participantSections, heightKey, checked(section)),
    minerSections: new Table(reader, PREFIX.minerSections, heightKey, checked(section)),
  }
}

/** Indexes of transactions by account. Keys end with a height of six bytes, since an account may have several entries. */
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
    internals: new Table(reader, PREFIX.internals, hashKey, checked(internals)),
    senderNonces: new Table(reader, PREFIX.senderNonces, bytesKey, hashValue),
    accountBlocks: new Table(reader, PREFIX.accountBlocks, bytesKey, indexes),
    creators: new Table(reader, PREFIX.creators, bytesKey, origin),
  }
}

/** The kept snapshots over a database, by number. */
export function snapshotTable(reader: KeyValueReader): Table<number, KeptSnapshot> {
  return new Table(reader, PREFIX.keptSnapshots, heightKey, checked(jsonValue(keptSnapshot)))
}

/** Sources: what compilers made of them, and the code by which they are found. */
export interface SourceTables {
  /** By id: the deflated text of a compilation. */
  readonly compilations: Table<Hex, Uint8Array>
  /** By order of addition, so that the oldest can be dropped. */
  readonly compilationOrder: Table<number, StoredCompilation>
  /** By length of the code without metadata (4 bytes), id of the compilation, index of the contract (4 bytes). */
  readonly compiledCodes: Table<Hex, CompiledCode>
  /** By address: the contract that a person named at its verification. */
  readonly verifications: Table<Hex, Verification>
}

/** The tables of sources over a database. */
export function sourceTables(reader: KeyValueReader): SourceTables {
  return {
    compilations: new Table(reader, PREFIX.compilations, hashKey, checked(bytesValue)),
    compilationOrder: new Table(
      reader,
      PREFIX.compilationOrder,
      heightKey,
      checked(jsonValue(storedCompilation)),
    ),
    compiledCodes: new Table(reader, PREFIX.compiledCodes, bytesKey, checked(jsonValue(compiledCode))),
    verifications: new Table(reader, PREFIX.verifications, bytesKey, checked(jsonValue(verification))),
  }
}

/** How much of a cluster's log this database has. */
export interface LogPosition {
  /** Which cluster: a random id, made with its log. */
  readonly cluster: string
  /** Of the last record whose changes are in the tables. */
  readonly sequence: number
  readonly term: number
}

const position: z.ZodType<LogPosition> = z.object({ cluster: z.string(), sequence: z.int(), term: z.int() })

/** Key of the position. */
export const POSITION = 'position'

function replicationTable(reader: KeyValueReader): Table<string, LogPosition> {
  return new Table(reader, PREFIX.replication, nameKey, checked(jsonValue(position)))
}

/** The position over a database, and the write that changes it. */
export function logPosition(reader: KeyValueReader): {
  get(): LogPosition | undefined
  put(position: LogPosition): Write
} {
  const table = replicationTable(reader)
  return { get: () => table.get(POSITION), put: (position) => table.put(POSITION, position) }
}

/** How much of the write-ahead log this database has: written with the batches themselves. */
export interface FlushedLog {
  /** Of the last record. */
  readonly sequence: number
  /** Number of the file that was written to then. */
  readonly segment: number
}

const flushedLog: z.ZodType<FlushedLog> = z.object({ sequence: z.int(), segment: z.int() })

/** Key of what is flushed, within its table and with the prefix. */
export const FLUSHED = 'flushed'
export const FLUSHED_KEY: Uint8Array = nameKey.encode(PREFIX.flushedLog, FLUSHED)
/** Its bytes. */
export const flushedValue = checked(jsonValue(flushedLog))

/** What a parent chain in the node keeps, by keys of its own. */
export function parentChainTable(reader: KeyValueReader): Table<string, Uint8Array> {
  return new Table(reader, PREFIX.parentChain, nameKey, checked(bytesValue))
}

/** Remote callers of the node, by address. */
export interface PeerTables {
  /** By address or range: in which order they were banned. */
  readonly bans: Table<string, number>
  /** Counters by name. */
  readonly peerCounters: Table<string, Readonly<Record<string, number>>>
}

/** The tables of peer scoring over a database. */
export function peerTables(reader: KeyValueReader): PeerTables {
  return {
    bans: new Table(reader, PREFIX.bans, nameKey, checked(jsonValue(z.number()))),
    peerCounters: new Table(
      reader,
      PREFIX.peerCounters,
      nameKey,
      checked(jsonValue(z.record(z.string(), z.number()))),
    ),
  }
}

/** All tables over a database, by name. */
export function allTables(reader: KeyValueReader, config: ChainConfig) {
  return {
    ...chainTables(reader, config),
    ...stateTables(reader),
    ...indexTables(reader),
    ...accountTables(reader),
    keptSnapshots: snapshotTable(reader),
    ...sourceTables(reader),
    ...peerTables(reader),
    replication: replicationTable(reader),
    checkpoint: new Table(reader, PREFIX.checkpoint, nameKey, sequenceNumber),
    flushedLog: new Table(reader, PREFIX.flushedLog, nameKey, flushedValue),
    parentChain: parentChainTable(reader),
  } satisfies Record<keyof typeof PREFIX, unknown>
}

/** All tables. */
export type AllTables = ReturnType<typeof allTables>

/** The keys of a database that belong to no table: prefixes are given in order, from 1 on. */
export async function* foreignKeys(reader: KeyValueReader): AsyncIterable<Uint8Array> {
  const last = Math.max(...Object.values(PREFIX))
  const ranges = [
    [Uint8Array.of(0), Uint8Array.of(1)],
    [Uint8Array.of(last + 1), Uint8Array.of(0xff)],
  ] as const
  for (const [from, to] of ranges) {
    for await (const [key] of reader.entries(from, to)) yield key
  }
}
