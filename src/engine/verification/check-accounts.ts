/** Checks the tables of transactions by account against the canonical blocks, entry by entry. */
import { LRUCache } from 'lru-cache'
import type { Hex } from '../../encoding/hex.ts'
import { type AccountEntries, accountEntries, heightOfKey } from '../../store/account-index.ts'
import type { AuditedTable, AuditedTables } from './audited-tables.ts'

/** Heights whose entries are cached during the search for entries that belong to no block. */
const RECENT_HEIGHTS = 256

const NO_ENTRIES: AccountEntries = { senderNonces: [], accountBlocks: [], creators: [] }

/** One of the tables, and which of a block's entries it holds. */
interface Checked<V> {
  readonly table: AuditedTable<Hex, V>
  readonly of: (entries: AccountEntries) => readonly (readonly [Hex, V])[]
}

/** The checks of the tables of the accounts. */
export class AccountChecks {
  readonly #tables: AuditedTables
  readonly #checked: readonly Checked<unknown>[]

  constructor(tables: AuditedTables) {
    this.#tables = tables
    this.#checked = [
      { table: tables.senderNonces, of: (entries) => entries.senderNonces },
      { table: tables.accountBlocks, of: (entries) => entries.accountBlocks },
      { table: tables.creators, of: (entries) => entries.creators },
    ]
  }

  async checkInternals(): Promise<void> {
    const { internals, headers } = this.#tables
    for await (const [hash] of internals.entries()) {
      if (headers.get(hash) === undefined) internals.fault(hash, 'there is no header that can be read')
    }
  }

  /** Reports missing and different entries; then, in a table with more entries than blocks need, those of no block. */
  async checkEntries(): Promise<void> {
    const counts = new Map<Checked<unknown>, number>()
    for await (const [height] of this.#tables.canonical.readable()) {
      const entries = this.#entriesAt(height)
      for (const checked of this.#checked) {
        const there = checked.of(entries).filter((entry) => isThere(checked.table, height, entry)).length
        counts.set(checked, (counts.get(checked) ?? 0) + there)
      }
    }
    for (const checked of this.#checked) {
      let count = 0
      for await (const _ of checked.table.entries()) count++
      if (count > (counts.get(checked) ?? 0)) await this.#reportStrays(checked)
    }
  }

  /** The entries that the block at a height has; none where the block cannot be read, which is a fault of its own. */
  #entriesAt(height: number): AccountEntries {
    const { canonical, headers, bodies, receipts, internals } = this.#tables
    const hash = canonical.get(height)
    if (hash === undefined) return NO_ENTRIES
    const header = headers.get(hash)?.header
    const body = bodies.get(hash)
    const list = receipts.get(hash)
    if (header === undefined || body === undefined || list === undefined) return NO_ENTRIES
    return accountEntries({ block: { header, ...body }, receipts: list }, internals.get(hash))
  }

  async #reportStrays({ table, of }: Checked<unknown>): Promise<void> {
    const recent = new LRUCache<number, ReadonlySet<Hex>>({ max: RECENT_HEIGHTS })
    for await (const [key] of table.readable()) {
      const height = heightOfKey(key)
      let keys = recent.get(height)
      if (keys === undefined) {
        keys = new Set(of(this.#entriesAt(height)).map(([own]) => own))
        recent.set(height, keys)
      }
      if (!keys.has(key)) table.fault(key, 'the canonical block of its height has no such entry', { height })
    }
  }
}

/** Whether an entry is stored; reports one that is not what its block needs. Values have JSON types and are compared as JSON. */
function isThere<V>(table: AuditedTable<Hex, V>, height: number, [key, value]: readonly [Hex, V]): boolean {
  const stored = table.get(key)
  const [expected, found] = [JSON.stringify(value), JSON.stringify(stored)]
  if (found !== expected) {
    table.fault(key, 'the entry is not that of its block', { height, expected, found: found ?? 'nothing' })
  }
  return stored !== undefined
}
