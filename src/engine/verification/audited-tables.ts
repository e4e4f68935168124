/** The tables of a database for verification: what cannot be read is reported once, and is absent to all other checks. */
import type { ChainConfig } from '../../chain/config.ts'
import type { Receipt } from '../../chain/receipt.ts'
import type { Hex } from '../../encoding/hex.ts'
import { messageOf } from '../../store/identity.ts'
import type { Id, KeyValueReader, Table } from '../../store/table.ts'
import {
  type Body,
  chainTables,
  type HeaderRecord,
  indexTables,
  type PoolEntry,
  type SectionRecord,
  stateTables,
  type TransactionLocation,
} from '../../store/tables.ts'

/** One entry of a database that is not what it must be. */
export interface Fault {
  /** `headers`, `nodes`. */
  readonly table: string
  /** Key of the entry: a hash, a height, a name. */
  readonly key: string
  /** Height of the block that the entry belongs to, where that is known. */
  readonly height?: number | undefined
  readonly problem: string
  readonly expected?: string | undefined
  readonly found?: string | undefined
}

/** Receives faults as they are found. */
export type Report = (fault: Fault) => void

/** A table that reports its faults. */
export class AuditedTable<K extends Id, V> {
  readonly #name: string
  readonly #table: Table<K, V>
  readonly #report: Report

  constructor(name: string, table: Table<K, V>, report: Report) {
    this.#name = name
    this.#table = table
    this.#report = report
  }

  /** The entry; `undefined` when it is missing or cannot be read. */
  get(key: K): V | undefined {
    try {
      return this.#table.get(key)
    } catch {
      return undefined
    }
  }

  /** Entries that can be read, in order of their keys; the others are reported. */
  async *entries(): AsyncIterable<readonly [K, V]> {
    try {
      for await (const { key, value, problem } of this.#table.audit()) {
        if (problem === undefined) yield [key, value]
        else this.fault(key, problem)
      }
    } catch (error) {
      const problem = `the rest of the table cannot be read from the disk: ${messageOf(error)}`
      this.#report({ table: this.#name, key: 'file', problem })
    }
  }

  /** Reports an entry of this table. */
  fault(key: K, problem: string, rest: Pick<Fault, 'height' | 'expected' | 'found'> = {}): void {
    this.#report({ table: this.#name, key: String(key), problem, ...rest })
  }
}

/** The tables that verification reads. */
export interface AuditedTables {
  readonly headers: AuditedTable<Hex, HeaderRecord>
  readonly bodies: AuditedTable<Hex, Body>
  readonly receipts: AuditedTable<Hex, readonly Receipt[]>
  readonly heights: AuditedTable<number, readonly Hex[]>
  readonly canonical: AuditedTable<number, Hex>
  readonly transactions: AuditedTable<Hex, TransactionLocation>
  readonly pool: AuditedTable<Hex, PoolEntry>
  readonly meta: AuditedTable<string, Hex>
  readonly nodes: AuditedTable<Hex, Uint8Array>
  readonly code: AuditedTable<Hex, Uint8Array>
  readonly logSections: AuditedTable<number, SectionRecord>
  readonly participantSections: AuditedTable<number, SectionRecord>
}

/** The tables of a database; `report` receives the entries that cannot be read. */
export function auditedTables(reader: KeyValueReader, config: ChainConfig, report: Report): AuditedTables {
  const chain = chainTables(reader, config)
  const state = stateTables(reader)
  const index = indexTables(reader)
  const audited = <K extends Id, V>(name: string, table: Table<K, V>) => new AuditedTable(name, table, report)
  return {
    headers: audited('headers', chain.headers),
    bodies: audited('bodies', chain.bodies),
    receipts: audited('receipts', chain.receipts),
    heights: audited('heights', chain.heights),
    canonical: audited('canonical', chain.canonical),
    transactions: audited('transactions', chain.transactions),
    pool: audited('pool', chain.pool),
    meta: audited('meta', chain.meta),
    nodes: audited('nodes', state.nodes),
    code: audited('code', state.code),
    logSections: audited('logSections', index.logSections),
    participantSections: audited('participantSections', index.participantSections),
  }
}
