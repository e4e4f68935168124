/** The tables of a database for verification: what cannot be read is reported once, and is absent to all other checks. */

import type { ChainConfig } from '../../chain/config.ts'
import { messageOf } from '../../errors.ts'
import type { Id, KeyValueReader, Table } from '../../store/table.ts'
import { type AllTables, allTables, META } from '../../store/tables.ts'

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
  entries(): AsyncIterable<readonly [K, V]> {
    return this.#read(this.#report)
  }

  /** The same where `entries` has reported the others. */
  readable(): AsyncIterable<readonly [K, V]> {
    return this.#read(() => undefined)
  }

  async *#read(report: Report): AsyncIterable<readonly [K, V]> {
    const table = this.#name
    try {
      for await (const { key, value, problem } of this.#table.audit()) {
        if (problem === undefined) yield [key, value]
        else report({ table, key: String(key), problem })
      }
    } catch (error) {
      const problem = `the rest of the table cannot be read from the disk: ${messageOf(error)}`
      report({ table, key: 'file', problem })
    }
  }

  /** Reports an entry of this table. */
  fault(key: K, problem: string, rest: Pick<Fault, 'height' | 'expected' | 'found'> = {}): void {
    this.#report({ table: this.#name, key: String(key), problem, ...rest })
  }
}

/** All tables of a database, each as verification reads it. */
export type AuditedTables = {
  readonly [Name in keyof AllTables]: AllTables[Name] extends Table<infer K, infer V>
    ? AuditedTable<K, V>
    : never
}

/** Number of the first block: 0, or that of a loaded chain. */
export function firstHeight({ meta, headers }: AuditedTables): number {
  const hash = meta.get(META.loadedGenesis)
  return (hash === undefined ? undefined : headers.get(hash)?.header.number) ?? 0
}

/** The tables of a database; `report` receives the entries that cannot be read. */
export function auditedTables(reader: KeyValueReader, config: ChainConfig, report: Report): AuditedTables {
  const audited = Object.entries(allTables(reader, config)).map(([name, table]) => [
    name,
    new AuditedTable(name, table as Table<Id, unknown>, report),
  ])
  return Object.fromEntries(audited) as AuditedTables
}
