/** A level in memory, which refuses batches on request. */
import type { Level } from '../../src/store/level-entries.ts'
import type { Operation } from '../../src/store/table.ts'

/** The part of it that a test uses. */
export interface MemoryLevel extends Level {
  /** Values by the hex of their keys. */
  readonly values: Map<string, Uint8Array>
  /** Thrown by batches, and by opening again, while it is set. */
  error: Error | undefined
  /** After a failed batch all batches fail until it is opened again, as in LevelDB. */
  hasFailed: boolean
  isOpen: boolean
}

const textOf = (key: Uint8Array): string => Buffer.from(key).toString('hex')

/** Makes one; `values` is a copy of what another one held when its process ended. */
export function memoryLevel(values = new Map<string, Uint8Array>()): MemoryLevel {
  const level: MemoryLevel = {
    values: new Map(values),
    error: undefined,
    hasFailed: false,
    isOpen: true,
    getSync: (key) => level.values.get(textOf(key)),
    async batch(operations: readonly Operation[]) {
      await Promise.resolve()
      if (level.error !== undefined) level.hasFailed = true
      if (level.hasFailed) throw level.error ?? new Error('IO error: /db/000003.log: a batch failed before')
      for (const operation of operations) {
        if (operation.type === 'put') level.values.set(textOf(operation.key), operation.value)
        else level.values.delete(textOf(operation.key))
      }
    },
    async *iterator({ gte, lt, reverse }) {
      const keys = [...level.values.keys()].sort()
      const within = keys.filter((key) => key >= textOf(gte) && key < textOf(lt))
      for (const key of reverse ? within.reverse() : within) {
        yield [Buffer.from(key, 'hex'), level.values.get(key) as Uint8Array]
      }
    },
    async reopen() {
      if (level.error !== undefined) throw level.error
      level.hasFailed = false
      level.isOpen = true
    },
    async close() {
      level.isOpen = false
    },
  }
  return level
}
