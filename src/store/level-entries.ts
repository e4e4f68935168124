/** What the store uses of LevelDB, and its entries as they are after changes that it may lack. */
import type { Operation } from './table.ts'

/** The part of `abstract-level` that the store uses. */
export interface Level {
  /** Can it be read? It cannot while it is being opened again, nor after that has failed. */
  readonly isOpen: boolean
  /** What was found damaged in its files since it was opened, in phrases. */
  readonly damage?: readonly string[]
  getSync(key: Uint8Array): Uint8Array | undefined
  /** Writes all or nothing. With `sync` it survives a crash of the machine. */
  batch(operations: readonly Operation[], options: { readonly sync: boolean }): Promise<void>
  iterator(range: {
    gte: Uint8Array
    lt: Uint8Array
    reverse: boolean
  }): AsyncIterable<[Uint8Array, Uint8Array]>
  /** Opens it again after a batch has failed. Throws without closing it where the disk has no room for that. */
  reopen(): Promise<void>
  close(): Promise<void>
}

/** LevelDB hands out Buffers, whose `slice` shares memory where that of a plain array copies. */
export function plain(bytes: Uint8Array): Uint8Array {
  return Buffer.isBuffer(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes
}

/** Keys with `from` <= key < `to`, in order or in reverse. */
export interface KeyRange {
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly reverse: boolean
}

/** The entries of a level after changes, one for each key and in the order of the keys. */
export async function* mergedEntries(
  level: Level,
  changes: readonly Operation[],
  { from, to, reverse }: KeyRange,
): AsyncGenerator<readonly [Uint8Array, Uint8Array]> {
  const within = changes.filter(({ key }) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0)
  if (reverse) within.reverse()
  let next = 0
  for await (const [key, value] of level.iterator({ gte: from, lt: to, reverse })) {
    let isChanged = false
    for (; next < within.length && !isChanged; next++) {
      const change = within[next] as Operation
      const order = Buffer.compare(change.key, key) * (reverse ? -1 : 1)
      if (order > 0) break
      isChanged = order === 0
      if (change.type === 'put') yield [change.key, change.value]
    }
    if (!isChanged) yield [plain(key), plain(value)]
  }
  for (const change of within.slice(next)) if (change.type === 'put') yield [change.key, change.value]
}

/** Sorts changes by their keys. */
export function sortByKey<T extends Operation>(changes: T[]): T[] {
  return changes.sort((a, b) => Buffer.compare(a.key, b.key))
}
