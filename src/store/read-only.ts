/** A view of a database that is never written: its level, and the write-ahead log's operations that the level may lack. */
import { type Level, mergedEntries, plain, sortByKey } from './level-entries.ts'
import type { Operation } from './table.ts'
import type { Store } from './write-behind.ts'

const textOf = (key: Uint8Array): string => Buffer.from(key).toString('latin1')

/** Puts a store over a level and the operations of its log, in the order of writing. Its `batch` throws. */
export function createReadOnlyStore(level: Level, logged: Iterable<Operation>): Store {
  const changes = new Map<string, Operation>()
  for (const operation of logged) changes.set(textOf(operation.key), operation)
  const sorted = sortByKey([...changes.values()])
  let closing: Promise<void> | undefined

  return {
    failure: undefined,
    get(prefix, id, keys) {
      const key = keys.encode(prefix, id)
      const change = changes.get(textOf(key))
      if (change !== undefined) return change.type === 'put' ? change.value : undefined
      const value = level.getSync(key)
      return value && plain(value)
    },
    entries: (from, to, reverse = false) => mergedEntries(level, sorted, { from, to, reverse }),
    async batch() {
      throw new Error('this database is open for reading only')
    },
    close() {
      closing ??= level.close()
      return closing
    },
  }
}
