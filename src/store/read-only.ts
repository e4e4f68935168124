/** A view of a database that is never written: its level, and the write-ahead log's operations that the level may lack. */
import type { Operation } from './table.ts'
import type { Level, Store } from './write-behind.ts'

const textOf = (key: Uint8Array): string => Buffer.from(key).toString('latin1')

function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Puts a store over a level and the operations of its log, in the order of writing. Its `batch` throws. */
export function createReadOnlyStore(level: Level, logged: readonly Operation[]): Store {
  const changes = new Map(logged.map((operation) => [textOf(operation.key), operation]))
  const changedKeys = [...changes.values()].map(({ key }) => key).sort(Buffer.compare)
  let closing: Promise<void> | undefined

  return {
    get(prefix, id, keys) {
      const key = keys.encode(prefix, id)
      const change = changes.get(textOf(key))
      if (change !== undefined) return change.type === 'put' ? change.value : undefined
      const value = level.getSync(key)
      return value && plain(value)
    },
    async *entries(from, to, reverse = false) {
      const sign = reverse ? -1 : 1
      const isWithin = (key: Uint8Array) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0
      const keys = changedKeys.filter(isWithin)
      const within = (reverse ? keys.reverse() : keys).values()
      let next = within.next()
      /** The log's entries that come before a key; all that are left without one. */
      function* changedBelow(key?: Uint8Array): Generator<[Uint8Array, Uint8Array]> {
        for (
          ;
          !next.done && (key === undefined || sign * Buffer.compare(next.value, key) < 0);
          next = within.next()
        ) {
          const change = changes.get(textOf(next.value))
          if (change?.type === 'put') yield [change.key, change.value]
        }
      }
      for await (const [key, value] of level.iterator({ gte: from, lt: to, reverse })) {
        yield* changedBelow(key)
        if (!changes.has(textOf(key))) yield [plain(key), plain(value)]
      }
      yield* changedBelow()
    },
    async batch() {
      throw new Error('this database is open for reading only')
    },
    close() {
      closing ??= level.close()
      return closing
    },
  }
}
