/** The door to the disk: one ordered keyspace in LevelDB, or the same in memory; opens, writes batches, closes. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { NodeError } from '../errors.ts'
import { checkIdentity, type Identity, messageOf } from './identity.ts'
import type { KeyValueReader, Write } from './table.ts'

/** Where a database is and what it must hold. */
export interface StoreOptions extends Identity {
  /** Directory of the database, made when it is missing; left out, everything is in memory and ends with the process. */
  readonly dataDir?: string | undefined
  /**
   * Wait for the medium with each batch. Without it a batch has reached the operating system before it resolves: it
   * survives the death of the process at any instant, but not that of the machine.
   */
  readonly fsync?: boolean | undefined
}

/** An open database. Reads are synchronous, writes come in batches. */
export interface Store extends KeyValueReader {
  /** Writes all or nothing, then runs the `after` steps. A later step for a key wins. */
  batch(writes: readonly Write[]): Promise<void>
  /** Idempotent. */
  close(): Promise<void>
}

/** LevelDB's own files, beside `tandem.json`. */
const DATABASE_FOLDER = 'db'

const MEGABYTE = 1 << 20
/** Bytes written before LevelDB sorts them into a file, and bytes of its files kept in memory. */
const TUNING = { writeBufferSize: 16 * MEGABYTE, cacheSize: 32 * MEGABYTE, maxOpenFiles: 256 }

type Operation = Exclude<Write, { type: 'after' }>

/** What both engines offer of `abstract-level`. */
interface Level {
  getSync(key: Uint8Array): Uint8Array | undefined
  batch(operations: Operation[], options: { sync?: boolean }): Promise<void>
  iterator(range: { gte: Uint8Array; lt: Uint8Array }): AsyncIterable<[Uint8Array, Uint8Array]>
  close(): Promise<void>
}

/**
 * Opens the database of `dataDir`, or a new one in memory. Throws `database` in a sentence that names the directory
 * when another process holds it, when it is of another format or network, or when it is no database of ours. A
 * directory that is refused stays as it is.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const level = options.dataDir === undefined ? await openMemory() : await openDisk(options.dataDir, options)
  return storeOver(level, options.fsync === true)
}

async function openMemory(): Promise<Level> {
  const { MemoryLevel } = await import('memory-level')
  const level = new MemoryLevel<Uint8Array, Uint8Array>({
    keyEncoding: 'view',
    valueEncoding: 'view',
    storeEncoding: 'view',
  })
  await level.open()
  return level
}

async function openDisk(directory: string, identity: Identity): Promise<Level> {
  await checkIdentity(directory, identity)
  const { Level } = await import('level')
  const folder = join(directory, DATABASE_FOLDER)
  const level = new Level<Uint8Array, Uint8Array>(folder, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    ...TUNING,
  })
  try {
    await mkdir(folder, { recursive: true })
    await level.open()
  } catch (error) {
    throw refusal(directory, error)
  }
  return level
}

function refusal(directory: string, error: unknown): NodeError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
    return new NodeError(
      'database',
      `The data directory ${directory} is in use by another running node. Stop that one, or choose another directory.`,
    )
  }
  return new NodeError('database', `The database in ${directory} cannot be opened: ${messageOf(cause)}`)
}

/** LevelDB hands out Buffers, whose `slice` shares memory where that of a plain array copies. */
function plain(bytes: Uint8Array): Uint8Array {
  return Buffer.isBuffer(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes
}

function storeOver(level: Level, sync: boolean): Store {
  let closing: Promise<void> | undefined
  return {
    get(key) {
      const value = level.getSync(key)
      return value && plain(value)
    },
    async *entries(from, to) {
      for await (const [key, value] of level.iterator({ gte: from, lt: to })) yield [plain(key), plain(value)]
    },
    async batch(writes) {
      const operations: Operation[] = []
      const effects: (() => void)[] = []
      for (const write of writes) {
        if (write.type === 'after') effects.push(write.run)
        else operations.push(write)
      }
      if (operations.length > 0) await level.batch(operations, { sync })
      for (const effect of effects) effect()
    },
    close() {
      closing ??= level.close()
      return closing
    },
  }
}
