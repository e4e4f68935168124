/** The database on disk: one ordered keyspace in LevelDB, or the same in memory; opens, writes batches, closes. */
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { NodeError } from '../errors.ts'
import { checkIdentity, type Identity, messageOf, readIdentity } from './identity.ts'
import { createMemoryStore } from './memory-store.ts'
import { createReadOnlyStore } from './read-only.ts'
import type { Operation } from './table.ts'
import { readWriteAheadLog, WriteAheadLog } from './write-ahead-log.ts'
import { createWriteBehind, type Level, type Store } from './write-behind.ts'

export type { Store } from './write-behind.ts'

/** Where a database is and what it must hold. */
export interface StoreOptions extends Identity {
  /** Directory of the database, made when it is missing; left out, everything is in memory and ends with the process. */
  readonly dataDir?: string | undefined
  /**
   * Wait for the medium with each batch. Without it a batch has reached the operating system, in the log, before it
   * resolves: it survives the death of the process at any instant, but not that of the machine.
   */
  readonly fsync?: boolean | undefined
}

/** LevelDB's own files, beside `tandem.json`. */
const DATABASE_FOLDER = 'db'
/** Batches that LevelDB may not have yet. */
const JOURNAL_FOLDER = 'journal'

const MEGABYTE = 1 << 20
/**
 * Bytes written before LevelDB sorts them into a file, bytes of its files kept in memory, and bytes of a file. Most of
 * what is written are trie nodes under their hashes: they do not compress, and larger buffers and files are merged less
 * often. A transfer among 100,000 accounts took 5.8 and 4.9 ms of processor time, with 4 MB, files of 2 MB and
 * compression 8.4 and 7.8 ms (two interleaved runs of 2,000 on a busy machine, without a warm-up).
 */
const TUNING = {
  writeBufferSize: 16 * MEGABYTE,
  cacheSize: 8 * MEGABYTE,
  maxFileSize: 8 * MEGABYTE,
  maxOpenFiles: 256,
  compression: false,
}

/** What is used of `abstract-level`. */
interface Database extends Omit<Level, 'batch'> {
  batch(): DatabaseBatch
}

interface DatabaseBatch {
  put(key: Uint8Array, value: Uint8Array): unknown
  del(key: Uint8Array): unknown
  write(options: { sync?: boolean }): Promise<void>
}

/** Writes step by step: a list is copied and read property by property, which takes several times as long. */
function levelOver(database: Database): Level {
  return {
    getSync: (key) => database.getSync(key),
    batch(operations, options) {
      const batch = database.batch()
      for (const operation of operations) {
        if (operation.type === 'put') batch.put(operation.key, operation.value)
        else batch.del(operation.key)
      }
      return batch.write(options)
    },
    iterator: (range) => database.iterator(range),
    close: () => database.close(),
  }
}

/**
 * Opens the database of `dataDir`, or a new one in memory. Throws `database` in a sentence that names the directory
 * when another process holds it, when it is of another format or network, or when it is no database of ours. A
 * directory that is refused stays as it is.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, fsync = false } = options
  if (dataDir === undefined) return createMemoryStore()
  const level = await openDisk(dataDir, options)
  try {
    const replay = (operations: Operation[]) => level.batch(operations, { sync: true })
    const log = await WriteAheadLog.open(join(dataDir, JOURNAL_FOLDER), fsync, replay)
    return createWriteBehind(level, log, fsync)
  } catch (error) {
    await level.close()
    throw refusal(dataDir, error)
  }
}

/** What LevelDB left out of a damaged file. */
export interface DroppedBytes {
  readonly file: string
  readonly bytes: number
  /** In LevelDB's words. */
  readonly reason: string
}

/** A database that is read and never written. */
export interface ReadOnlyStore {
  readonly identity: Identity
  readonly store: Store
  /** Found when it was opened, which replays LevelDB's own log: all that follows sees a shorter chain without them. */
  readonly dropped: readonly DroppedBytes[]
}

/**
 * Opens the database of a directory for reading: no entry of it changes, and batches that only its write-ahead log has
 * are read from there. Throws `database` as `openStore` does, and when there is none.
 */
export async function openStoreForReading(dataDir: string): Promise<ReadOnlyStore> {
  const identity = await readIdentity(dataDir)
  const level = await openLevel(dataDir, { createIfMissing: false })
  try {
    const store = createReadOnlyStore(level, readWriteAheadLog(join(dataDir, JOURNAL_FOLDER)))
    return { identity, store, dropped: await droppedBytes(dataDir) }
  } catch (error) {
    await level.close()
    throw refusal(dataDir, error)
  }
}

/** Reads what LevelDB noted when it was opened last. It ignores damage of its log without an error. */
async function droppedBytes(dataDir: string): Promise<DroppedBytes[]> {
  const notes = await readFile(join(dataDir, DATABASE_FOLDER, 'LOG'), 'utf8')
  return [...notes.matchAll(/(\S+): dropping (\d+) bytes; (.*)/g)].map(
    ([, path = '', bytes, reason = '']) => ({
      file: basename(path),
      bytes: Number(bytes),
      reason,
    }),
  )
}

async function openDisk(directory: string, identity: Identity): Promise<Level> {
  await checkIdentity(directory, identity)
  return openLevel(directory, { createIfMissing: true })
}

async function openLevel(directory: string, options: { readonly createIfMissing: boolean }): Promise<Level> {
  const { Level } = await import('level')
  const folder = join(directory, DATABASE_FOLDER)
  const level = new Level<Uint8Array, Uint8Array>(folder, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    ...TUNING,
    ...options,
  })
  try {
    if (options.createIfMissing) await mkdir(folder, { recursive: true })
    await level.open()
  } catch (error) {
    throw refusal(directory, error)
  }
  return levelOver(level)
}

function refusal(directory: string, error: unknown): NodeError {
  if (error instanceof NodeError) return error
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
    return new NodeError(
      'database',
      `The data directory ${directory} is in use by another running node. Stop that one, or choose another directory.`,
    )
  }
  return new NodeError('database', `The database in ${directory} cannot be opened: ${messageOf(cause)}`)
}

/** Bytes of all files below a directory. A file that goes while they are counted, as LevelDB's do, counts nothing. */
export async function sizeOfDirectory(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        stat(join(parentPath, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
