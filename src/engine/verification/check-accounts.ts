/** Checks what finds transactions by account against the canonical blocks, entry by entry. */
import { LRUCache } from 'lru-cache'
import type { Hex } from '../../encoding/hex.ts'
import { type AccountEntries, accountEntries, heightOfKey } from '../../store/account-index.ts'
import type { AuditedTable, AuditedTables } from './audited-tables.ts'

/** Heights whose entries are kept while entries that belong to no block are looked for. */
const RECENT_HEIGHTS = 256

const NO_ENTRIES: AccountEntries = { senderNonces: [], accountBlocks: [], creators: [] }

/** One of the tables, and its part of the entries of a block. */
interface Checked<V> {
  readonly table: AuditedTable<Hex, V>
  readonly of: (entries: AccountEntries) => readonly (readonly [Hex, V])[]
}

/** Makes the checks of the tables of the accounts. */
export function createAccountChecks(tables: AuditedTables) {
  const { headers, bodies, receipts, canonical, internals, senderNonces, accountBlocks, creators } = tables
  const all: readonly Checked<unknown>[] = [
    { table: senderNonces, of: (entries) => entries.senderNonces },
    { table: accountBlocks, of: (entries) => entries.accountBlocks },
    { table: creators, of: (entries) => entries.creators },
  ]

  /** The entries that the block at a height has; none where the block cannot be read, which is a fault of its own. */
  function entriesAt(height: number): AccountEntries {
    const hash = canonical.get(height)
    if (hash === undefined) return NO_ENTRIES
    const header = headers.get(hash)?.header
    const body = bodies.get(hash)
    const list = receipts.get(hash)
    if (header === undefined || body === undefined || list === undefined) return NO_ENTRIES
    return accountEntries({ block: { header, ...body }, receipts: list }, internals.get(hash))
  }

  async function checkInternals(): Promise<void> {
    for await (const [hash] of internals.entries()) {
      if (headers.get(hash) === undefined) internals.fault(hash, 'there is no header that can be read')
    }
  }

  /** Is the entry what its block needs? Values are of JSON types, and are compared as JSON. */
  function isThere<V>(table: AuditedTable<Hex, V>, height: number, [key, value]: readonly [Hex, V]): boolean {
    const stored = table.get(key)
    const [expected, found] = [JSON.stringify(value), JSON.stringify(stored)]
    if (found !== expected) {
      table.fault(key, 'the entry is not that of its block', { height, expected, found: found ?? 'nothing' })
    }
    return stored !== undefined
  }

  /** Finds what is missing or another; then, in a table with more entries than blocks need, those of no block. */
  async function checkEntries(): Promise<void> {
    const found = all.map(() => 0)
    for await (const [height] of canonical.readable()) {
      const entries = entriesAt(height)
      for (const [i, { table, of }] of all.entries()) {
        found[i] = (found[i] as number) + of(entries).filter((entry) => isThere(table, height, entry)).length
      }
    }
    for (const [i, checked] of all.entries()) {
      let count = 0
      for await (const _ of checked.table.entries()) count++
      if (count > (found[i] as number)) await findStrays(checked)
    }
  }

  async function findStrays({ table, of }: Checked<unknown>): Promise<void> {
    const recent = new LRUCache<number, ReadonlySet<Hex>>({ max: RECENT_HEIGHTS })
    for await (const [key] of table.readable()) {
      const height = heightOfKey(key)
      let keys = recent.get(height)
      if (keys === undefined) {
        keys = new Set(of(entriesAt(height)).map(([own]) => own))
        recent.set(height, keys)
      }
      if (!keys.has(key)) table.fault(key, 'the canonical block of its height has no such entry', { height })
    }
  }

  return { checkInternals, checkEntries }
}
