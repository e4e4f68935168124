/** LevelDB in its folder: how it is opened, and what of its files it overlooks when they are damaged. */
import { link, mkdtemp, open, readdir, readFile, rm, stat, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { messageOf, NodeError } from '../errors.ts'
import { isDraft, replaceFile } from './atomic-file.ts'
import { DamagedError } from './damage.ts'
import { diskFiles, readWhole } from './files.ts'
import type { Level } from './level-entries.ts'
import {
  type Checksum,
  checkTables,
  createChecksum,
  type DamagedBlock,
  withoutBlocks,
} from './table-blocks.ts'
import { systemTimers } from './timers.ts'

/** LevelDB's own files, beside `tandem.json`. */
const DATABASE_FOLDER = 'db'

/** How the names of the folders begin that `whileLocked` makes for a moment. */
const LOCK_FOLDER = 'lock-'

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

/** Operations added to a batch in one go: some milliseconds of work. */
const CHUNK = 500
/** Bytes that have to be free where LevelDB is opened again: it writes its log, up to a buffer, into files. */
const ROOM_TO_OPEN = 3 * TUNING.writeBufferSize

/** What is used of `classic-level`. */
interface Database extends Pick<Level, 'getSync' | 'iterator' | 'close'> {
  readonly status: string
  open(): Promise<void>
  batch(): DatabaseBatch
}

interface DatabaseBatch {
  put(key: Uint8Array, value: Uint8Array): unknown
  del(key: Uint8Array): unknown
  write(options: { sync?: boolean }): Promise<void>
}

/** Writes step by step: a list is copied and read property by property, which takes several times as long. */
function levelOver(database: Database, folder: string): Level {
  return {
    get isOpen() {
      return database.status === 'open'
    },
    getSync: (key) => database.getSync(key),
    async batch(operations, options) {
      const batch = database.batch()
      for (let at = 0; at < operations.length; at += CHUNK) {
        // Callers that wait for an acknowledged batch, and other events, run first.
        await systemTimers.yield()
        for (const operation of operations.slice(at, at + CHUNK)) {
          if (operation.type === 'put') batch.put(operation.key, operation.value)
          else batch.del(operation.key)
        }
      }
      await batch.write(options)
    },
    iterator: (range) => database.iterator(range),
    async reopen() {
      const { bavail, bsize } = await statfs(folder)
      if (bavail * bsize < ROOM_TO_OPEN) {
        throw new Error(`less than ${ROOM_TO_OPEN / MEGABYTE} MB are free to open the database again`)
      }
      await database.close()
      await database.open()
    },
    close: () => database.close(),
  }
}

/** What the checksums of tables say, read while LevelDB is closed: it ends the process where it reads some damaged keys. */
export interface CheckedTables {
  /** `undefined` in a process without WebAssembly, which checks none. */
  readonly checksum: Checksum | undefined
  /** Names of the tables that were checked. */
  readonly checked: ReadonlySet<string>
  readonly damaged: readonly DamagedBlock[]
  /** What LevelDB was ended at while it wrote it, or what is damaged: `openLevel` knows which of them the database has. */
  readonly unfinished: readonly DamagedBlock[]
}

/** Checks tables of a closed database, at most so many bytes. Throws the file system's errors. */
export async function checkClosedTables(
  directory: string,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<CheckedTables> {
  const folder = join(directory, DATABASE_FOLDER)
  const checksum = await createChecksum()
  const names = (await readdir(folder).catch((): string[] => []))
    .filter((name) => name.endsWith('.ldb'))
    .sort()
  const checked = new Set<string>()
  let bytes = 0
  for (const name of checksum === undefined ? [] : names) {
    bytes += await sizeOf(join(folder, name))
    if (bytes > mostBytes) break
    checked.add(name)
  }
  const found = checksum === undefined ? [] : [...checkTables(folder, checked, checksum)].flat()
  return {
    checksum,
    checked,
    damaged: found.filter(({ isFooter }) => !isFooter),
    unfinished: found.filter(({ isFooter }) => isFooter),
  }
}

/** 0 of a file that is gone. */
async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** A database that was opened. */
export interface OpenedLevel {
  readonly level: Level
  /** What is wrong with files of it that LevelDB opened without an error, each in a phrase that names the file. */
  readonly overlooked: readonly string[]
  /** Its tables without a footer. */
  readonly unfinished: readonly DamagedBlock[]
  /**
   * Checks those of its tables that were not checked before, as `checkTables` does. Tables of LevelDB's list are whole files: it
   * lists a table when that is written, and a merge that is under way leaves others in the folder.
   */
  checkTables(): IterableIterator<readonly DamagedBlock[]>
}

/**
 * Opens LevelDB in a data directory. Throws `database` when another process holds it, or when it is damaged; without
 * `createIfMissing` also when there is none. Where CURRENT is missing or damaged, none is made: LevelDB would remove
 * the files. `tables` were found without damage but in `unfinished`.
 */
export async function openLevel(
  directory: string,
  { createIfMissing, tables }: { readonly createIfMissing: boolean; readonly tables: CheckedTables },
): Promise<OpenedLevel> {
  const folder = join(directory, DATABASE_FOLDER)
  const problem = await problemOfCurrent(folder)
  const { Level } = await import('level')
  const database = new Level<Uint8Array, Uint8Array>(folder, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    ...TUNING,
    createIfMissing: createIfMissing && problem === undefined,
  })
  try {
    if (createIfMissing) diskFiles.makeFolder(folder)
    await database.open()
  } catch (error) {
    const refused = refusal(directory, error)
    throw problem === undefined || isLocked(error) ? refused : new DamagedError(directory, problem)
  }
  await removeLeftovers(directory)
  const { checksum } = tables
  const listed = listedTables(database)
  const unfinished = tables.unfinished.filter(({ table }) => listed.has(table))
  const problems = unfinished.map(({ problem }) => problem)
  const others = [...listed.keys()].filter((name) => !tables.checked.has(name)).sort()
  return {
    level: levelOver(database, folder),
    overlooked: [...(await droppedBytes(folder)), ...(await cutOffTables(folder, listed)), ...problems],
    unfinished,
    checkTables: () => (checksum === undefined ? [].values() : checkTables(folder, others, checksum)),
  }
}

/** Removes what a repair that was killed has left, of a database that this process has open. */
async function removeLeftovers(directory: string): Promise<void> {
  const folder = join(directory, DATABASE_FOLDER)
  const locks = (await readdir(directory)).filter((name) => name.startsWith(LOCK_FOLDER))
  const drafts = (await readdir(folder)).filter(isDraft)
  const paths = [...locks.map((name) => join(directory, name)), ...drafts.map((name) => join(folder, name))]
  for (const path of paths) await rm(path, { recursive: true, force: true })
}

/**
 * Runs a step on the files of a closed database, which no process opens meanwhile: another, empty one has its lock, by a
 * second name of the same file. Throws `database` where a process has it open, and what the step throws.
 */
export async function whileLocked<T>(directory: string, step: () => Promise<T>): Promise<T> {
  const { Level } = await import('level')
  const lock = join(directory, DATABASE_FOLDER, 'LOCK')
  const place = await mkdtemp(join(directory, LOCK_FOLDER))
  try {
    await (await open(lock, 'a')).close()
    await link(lock, join(place, 'LOCK'))
    const holder = new Level(place)
    await holder.open()
    try {
      return await step()
    } finally {
      await holder.close()
    }
  } catch (error) {
    throw refusal(directory, error)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

/**
 * Has LevelDB rebuild the list of its files from those that exist, for a database that it does not open. Entries of a
 * file that cannot be read are lost. Throws `database`.
 */
export async function rebuildLevel(directory: string): Promise<void> {
  const { Level } = await import('level')
  try {
    if ('repair' in Level && typeof Level.repair === 'function') {
      await Level.repair(join(directory, DATABASE_FOLDER))
    }
  } catch (error) {
    throw refusal(directory, error)
  }
}

/**
 * Writes the tables of a closed database without their damaged blocks, and keeps them as they were as `*.damaged`. A
 * table whose list of blocks is damaged is moved away; then the result is its name, and the list of files must be
 * rebuilt. A table that stays has its name at each moment: a process that was killed between would lose its whole blocks
 * too. Throws the file system's errors.
 */
export async function leaveOut(
  directory: string,
  damaged: readonly DamagedBlock[],
  checksum: Checksum,
): Promise<string | undefined> {
  let lost: string | undefined
  for (const name of new Set(damaged.map(({ table }) => table))) {
    const offsets = damaged.filter(({ table }) => table === name).map(({ offset }) => offset)
    const path = join(directory, DATABASE_FOLDER, name)
    const whole = withoutBlocks(readWhole(diskFiles, path), offsets, checksum)
    const kept = `${path}.damaged`
    if (whole === undefined) {
      diskFiles.rename(path, kept)
      lost = `${DATABASE_FOLDER}/${name}`
    } else {
      await rm(kept, { force: true })
      await link(path, kept)
      await replaceFile(path, whole, 0o666)
    }
  }
  return lost
}

/** The refusal for an error of LevelDB. */
export function refusal(directory: string, error: unknown): NodeError {
  if (error instanceof NodeError) return error
  if (isLocked(error)) {
    return new NodeError(
      'database',
      `The data directory ${directory} is in use by another running node. Stop that one, or choose another directory.`,
    )
  }
  const cause = causeOf(error)
  const message = messageOf(cause)
  const isDamage = codeOf(cause) === 'LEVEL_CORRUPTION' || message.endsWith('No such file or directory')
  if (isDamage) return new DamagedError(directory, reported(error))
  return new NodeError('database', `The database in ${directory} cannot be opened: ${message}`)
}

/** What LevelDB says, in a phrase. */
export function reported(error: unknown): string {
  return `LevelDB reports "${messageOf(causeOf(error))}"`
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** Is this an error of LevelDB? */
export function isOfLevel(error: unknown): boolean {
  return String(codeOf(causeOf(error))).startsWith('LEVEL_')
}

function isLocked(error: unknown): boolean {
  return codeOf(causeOf(error)) === 'LEVEL_LOCKED'
}

/**
 * What is wrong with the file that names the list of files, where there are files. A process that was killed while LevelDB
 * was made leaves a list alone.
 */
async function problemOfCurrent(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch((): string[] => [])
  if (!names.some((name) => /^\d+\.(ldb|sst|log)$/.test(name))) return undefined
  if (!names.includes('CURRENT')) return `${DATABASE_FOLDER}/CURRENT is missing`
  const isOne = /^MANIFEST-\d+\n$/.test(await readFile(join(folder, 'CURRENT'), 'latin1'))
  return isOne ? undefined : `${DATABASE_FOLDER}/CURRENT does not name a MANIFEST file`
}

/** Reads what LevelDB noted when it was opened last: it leaves damaged parts of its log out without an error. */
async function droppedBytes(folder: string): Promise<string[]> {
  const notes = await readFile(join(folder, 'LOG'), 'utf8')
  return [...notes.matchAll(/(\S+): dropping (\d+) bytes; (.*)/g)].map(
    ([, path = '', bytes, reason]) =>
      `LevelDB leaves out ${bytes} bytes of ${DATABASE_FOLDER}/${basename(path)}: ${reason}`,
  )
}

/** The tables that an open database has, with their sizes. */
function listedTables(database: object): ReadonlyMap<string, number> {
  // The types of `level` are those of its browser form, which has no files.
  if (!('getProperty' in database) || typeof database.getProperty !== 'function') return new Map()
  const listed = String(database.getProperty('leveldb.sstables')).matchAll(/^ (\d+):(\d+)\[/gm)
  return new Map([...listed].map(([, number = '', size]) => [`${number.padStart(6, '0')}.ldb`, Number(size)]))
}

/** Compares the sizes of the tables with those of the list: LevelDB looks at a table when it is first read. */
async function cutOffTables(folder: string, listed: ReadonlyMap<string, number>): Promise<string[]> {
  const problems: string[] = []
  for (const [name, size] of listed) {
    // A table that was merged into another meanwhile is gone.
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found === undefined || found.size === size) continue
    problems.push(`${DATABASE_FOLDER}/${name} has ${found.size} bytes of ${size}`)
  }
  return problems
}
