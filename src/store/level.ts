/** The database on disk: one ordered keyspace in LevelDB, or the same in memory; opens, writes batches, closes. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Checkpoint,
  Checkpoints,
  headProblem,
  lackOf,
  noteDamage,
  readCheckpoint,
} from './checkpoint.ts'
import { DamagedError } from './damage.ts'
import { diskFiles } from './files.ts'
import {
  checkIdentity,
  IDENTITY_FILE,
  type Identity,
  raiseFormat,
  requireDatabase,
  requireWholeChain,
} from './identity.ts'
import type { Level } from './level-entries.ts'
import { isOfLevel, openLevel, rebuildLevel, refusal } from './level-files.ts'
import { hasSegment } from './log-format.ts'
import { type LoggedStoreOptions, openLoggedStore, readLog } from './logged-store.ts'
import { createMemoryStore } from './memory-store.ts'
import { createReadOnlyStore } from './read-only.ts'
import { systemTimers } from './timers.ts'
import type { Store } from './write-behind.ts'

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
  /** Given in a sentence what is left out of the log although nothing that was acknowledged is missing. */
  readonly onNotice?: ((sentence: string) => void) | undefined
}

/** Batches that LevelDB may not have yet. */
const JOURNAL_FOLDER = 'journal'

/**
 * Opens the database of `dataDir`, or a new one in memory. Throws `database` in a sentence that names the directory
 * when another process holds it, when it is of another format or network, when it is damaged or is no database of ours.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, chain, chainId, fork, fsync = false } = options
  if (dataDir === undefined) return createMemoryStore()
  await checkIdentity(dataDir, options, readCheckpoint(dataDir)?.identity)
  const { level, overlooked } = await openLevel(dataDir, { createIfMissing: true })
  try {
    // Read again: until the database is open another process may have it.
    const last = readCheckpoint(dataDir)
    const identity = { chain, chainId, fork }
    await refuseDamage(dataDir, identity, level, overlooked, last)
    return await openBehindLog(level, dataDir, identity, last, { fsync, onNotice: options.onNotice })
  } catch (error) {
    await level.close()
    throw refusal(dataDir, error)
  }
}

/**
 * Goes back to the last batch before the damage of a directory's log, where it is damaged, and accepts what LevelDB has left
 * where that lost the end of its own, or the list of its files. `onNotice` is given in sentences what is left out. Throws `database` as `openStore` does,
 * where LevelDB cannot be opened, and when there is none.
 */
export async function repairStore(dataDir: string, onNotice: (sentence: string) => void): Promise<void> {
  const identity = await requireDatabase(dataDir)
  const open = () => openLevel(dataDir, { createIfMissing: false })
  const { level, overlooked } = await open().catch(async (error) => {
    if (!(error instanceof DamagedError)) throw error
    onNotice(`LevelDB makes its list of files anew: ${error.problem}.`)
    await rebuildLevel(dataDir)
    return open()
  })
  try {
    const last = readCheckpoint(dataDir)
    for (const problem of damages(dataDir, identity, level, overlooked, last)) {
      onNotice(`Lost and accepted: ${problem}.`)
    }
    const store = await openBehindLog(level, dataDir, identity, undefined, {
      fsync: true,
      repair: true,
      onNotice,
    })
    await store.close()
  } catch (error) {
    await level.close()
    throw refusal(dataDir, error)
  }
}

/** Puts the store over an opened level and its log; with `last` the database has to be what it states, unless the log goes on. */
async function openBehindLog(
  level: Level,
  dataDir: string,
  identity: Identity,
  last: Checkpoint | undefined,
  options: Pick<LoggedStoreOptions, 'fsync' | 'repair' | 'onNotice'>,
): Promise<Store> {
  return openLoggedStore(level, {
    ...options,
    files: diskFiles,
    timers: systemTimers,
    folder: join(dataDir, JOURNAL_FOLDER),
    place: dataDir,
    checkpoints: new Checkpoints(dataDir, identity, level, last ?? readCheckpoint(dataDir)),
    lastHead: last?.head,
    async beforeNewFile(hasRecords) {
      const problem = headProblem(level, hasRecords ? undefined : last)
      if (problem !== undefined) throw new DamagedError(dataDir, problem)
      await raiseFormat(dataDir)
    },
  })
}

/** Throws `database` where an opened database, whose log is not read yet, lacks what it held. */
async function refuseDamage(
  dataDir: string,
  identity: Identity,
  level: Level,
  overlooked: readonly string[],
  last: Checkpoint | undefined,
): Promise<void> {
  const [problem] = damages(dataDir, identity, level, overlooked, last)
  if (problem === undefined) return
  // LevelDB does not find it again: it goes on with what it could read.
  const [fresh] = overlooked
  if (fresh !== undefined) await noteDamage(dataDir, identity, fresh)
  throw new DamagedError(dataDir, problem)
}

/** What is wrong with the files of an opened database, the cause first. */
function damages(
  dataDir: string,
  { chain, chainId }: Identity,
  level: Level,
  overlooked: readonly string[],
  last: Checkpoint | undefined,
): string[] {
  const problems = [...overlooked]
  if (last === undefined) return problems
  if (last.damage !== undefined) problems.unshift(last.damage)
  const { identity } = last
  if (identity !== undefined && (identity.chain !== chain || identity.chainId !== chainId)) {
    problems.push(`${IDENTITY_FILE} was changed`)
  }
  const lack = lackOf(level, last)
  if (lack !== undefined) problems.push(lack)
  if (last.log !== undefined && !hasSegment(diskFiles, join(dataDir, JOURNAL_FOLDER), last.log)) {
    problems.push(`the file ${last.log} of the write-ahead log is missing`)
  }
  return problems
}

/**
 * The refusal for an error that ended the start on a database which was opened and is closed again. Damage is noted, since
 * the next start may not look where this one did.
 */
export async function refusalOfStart(dataDir: string, identity: Identity, error: unknown): Promise<unknown> {
  const refused = isOfLevel(error) ? refusal(dataDir, error) : error
  if (refused instanceof DamagedError) await noteDamage(dataDir, identity, refused.problem)
  return refused
}

/** Notes what a repair could not mend, so that no start overlooks it. Throws the file system's errors. */
export async function noteFault(dataDir: string, identity: Identity, fault: string): Promise<void> {
  await noteDamage(dataDir, identity, fault)
}

/** A database that is read and never written. */
export interface ReadOnlyStore {
  readonly identity: Identity
  readonly store: Store
}

/**
 * Opens the database of a directory for reading: no entry of it changes, and batches that only its write-ahead log has
 * are read from there. Throws `database` as `openStore` does, when there is none, and when it is of a
 * fork.
 */
export async function openStoreForReading(dataDir: string): Promise<ReadOnlyStore> {
  await requireWholeChain(dataDir)
  const { identity, store, problems } = await openStoreForVerification(dataDir)
  const [problem] = problems
  if (problem === undefined) return { identity, store }
  await store.close()
  throw new DamagedError(dataDir, problem)
}

/** The same, also of a fork, where files are damaged, as long as LevelDB opens them: `problems` are phrases that name the files, `notices` sentences. */
export async function openStoreForVerification(
  dataDir: string,
): Promise<ReadOnlyStore & { readonly problems: readonly string[]; readonly notices: readonly string[] }> {
  const identity = await requireDatabase(dataDir)
  const { level, overlooked } = await openLevel(dataDir, { createIfMissing: false })
  try {
    const last = readCheckpoint(dataDir)
    const folder = join(dataDir, JOURNAL_FOLDER)
    const log = await readLog(level, { files: diskFiles, folder, place: dataDir })
    const problems = damages(dataDir, identity, level, overlooked, last)
    if (log.damage !== undefined) problems.push(log.damage)
    const head = headProblem(level, log.hasRecords ? undefined : last)
    if (head !== undefined) problems.push(head)
    const [fresh] = overlooked
    if (fresh !== undefined) await noteDamage(dataDir, identity, fresh)
    return { identity, store: createReadOnlyStore(level, log.operations), problems, notices: log.notices }
  } catch (error) {
    await level.close()
    throw refusal(dataDir, error)
  }
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
