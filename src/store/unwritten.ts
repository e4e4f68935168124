/** Changes that the tables on disk do not have yet, found by table and id. */
import type { Change, Id } from './table.ts'

/** The last change of each entry. */
export class Unwritten {
  readonly #tables: (Map<Id, Change> | undefined)[] = []
  #size = 0

  /** How many entries have changed. */
  get size(): number {
    return this.#size
  }

  get(prefix: number, id: Id): Change | undefined {
    return this.#tables[prefix]?.get(id)
  }

  /** Takes a change; it replaces an earlier one of the same entry. */
  add(change: Change): void {
    const { prefix, id } = change
    let table = this.#tables[prefix]
    if (table === undefined) {
      table = new Map()
      this.#tables[prefix] = table
    }
    const before = table.size
    table.set(id, change)
    this.#size += table.size - before
  }

  /** All changes, table by table. */
  all(): Change[] {
    return this.#tables.flatMap((table) => (table === undefined ? [] : [...table.values()]))
  }
}
