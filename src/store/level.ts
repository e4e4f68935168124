/** The database on disk: one ordered keyspace in LevelDB, or the same in memory; opens, writes batches, closes. */
import { type Directory, damages, journalOf, openChecked, unfinishedRepair } from './checked-level.ts'
import { headProblem, noteDamage, noteRepair, readCheckpoint } from './checkpoint.ts'
import { DamagedError, DamagedTablesError, damageNotice, UnreadableError } from './damage.ts'
import { diskFiles } from './files.ts'
import { GuardedLevel } from './guarded-level.ts'
import { checkIdentity, type Identity, raiseFormat, requireDatabase, requireWholeChain } from './identity.ts'
import type { Level } from './level-entries.ts'
import {
  type CheckedTables,
  checkClosedTables,
  isOfLevel,
  leaveOut,
  type OpenedLevel,
  openLevel,
  rebuildLevel,
  refusal,
  whileLocked,
} from './level-files.ts'
import { readLog } from './logged-store.ts'
import { createMemoryStore } from './memory-store.ts'
import { createReadOnlyStore } from './read-only.ts'
import { systemTimers } from './timers.ts'
import type { Store } from './write-behind.ts'

export type { Store } from './write-behind.ts'

/** Bytes of tables that are checked before a database is opened to be used: about 0.1 s. */
const CHECKED_AT_START = 64 << 20

const CONTINUED = 'An earlier repair is not complete; this one continues it.'

/** Where a database is and what it must hold. */
export interface StoreOptions extends Identity {
  /** Directory of the database, made when it is missing; left out, everything is in memory and ends with the process. */
  readonly dataDir?: string | undefined
  /**
   * Wait for the medium with each batch. Without it a batch has reached the operating system, in the log, before it
   * resolves: it survives a crash of the process at any instant, but not one of the machine.
   */
  readonly fsync?: boolean | undefined
  /**
   * Called with a sentence for what is left out of the log although nothing that was acknowledged is missing, and for
   * damage that is found in the files while the database is open.
   */
  readonly onNotice?: ((sentence: string) => void) | undefined
}

/**
 * Opens the database of `dataDir`, or a new one in memory. Throws `database` in a sentence that names the directory
 * when another process holds it, when it is of another format or network, when it is damaged or is no database of ours.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, chain, chainId, network, fork, rules, fsync = false } = options
  if (dataDir === undefined) return createMemoryStore()
  await checkIdentity(dataDir, options, readCheckpoint(dataDir)?.identity)
  const tables = await wholeTables(dataDir, CHECKED_AT_START)
  const { level, overlooked, checkTables } = await openLevel(dataDir, { createIfMissing: true, tables })
  const { onNotice } = options
  const guard = (opened: Level, note: (problem: string) => void) => {
    const onDamage = (problem: string) => {
      note(problem)
      onNotice?.(damageNotice(dataDir, problem))
    }
    return new GuardedLevel(opened, { dataDir, timers: systemTimers, check: checkTables(), onDamage })
  }
  try {
    const directory = directoryOf(dataDir, { chain, chainId, network, fork, rules })
    return await openChecked(directory, level, overlooked, { fsync, onNotice, guard })
  } catch (error) {
    await level.close()
    throw refusal(dataDir, error)
  }
}

/** Checks tables before LevelDB reads them. Throws `database` where blocks are damaged. */
async function wholeTables(dataDir: string, mostBytes?: number): Promise<CheckedTables> {
  const tables = await checkClosedTables(dataDir, mostBytes)
  const [first, ...others] = tables.damaged.map(({ problem }) => problem)
  if (first !== undefined) throw new DamagedTablesError(dataDir, [first, ...others])
  return tables
}

/**
 * Goes back to the last batch before the damage where a directory's log is damaged, and accepts what LevelDB has left
 * where it lost the end of its own log or the list of its files. `onNotice` gets a sentence for each part left out.
 * Unless nothing is to be repaired, each start refuses the directory from now on, until `endRepair`. Throws `database` as `openStore` does, where LevelDB cannot be opened, and when there is none.
 */
export async function repairStore(dataDir: string, onNotice: (sentence: string) => void): Promise<void> {
  if (await isInOrder(dataDir)) return onNotice('There is nothing to repair.')
  if (unfinishedRepair(readCheckpoint(dataDir)) !== undefined) onNotice(CONTINUED)
  await withRepaired(dataDir, onNotice, async () => undefined)
}

/** States that no fault is left in a repaired directory, which can be started from now on. Throws the file system's errors. */
export async function endRepair(dataDir: string, identity: Identity): Promise<void> {
  await noteRepair(dataDir, identity, false)
}

/**
 * Runs a step on the database of a directory, whatever is wrong with its head. Throws `database` as `repairStore` does, and
 * what the step throws.
 */
export function mendStore<T>(
  dataDir: string,
  mend: (store: Store, identity: Identity) => Promise<T>,
): Promise<T> {
  return withRepaired(dataDir, () => undefined, mend)
}

async function withRepaired<T>(
  dataDir: string,
  onNotice: (sentence: string) => void,
  step: (store: Store, identity: Identity) => Promise<T>,
): Promise<T> {
  const identity = await requireDatabase(dataDir)
  const { level, overlooked } = await openRepaired(dataDir, identity, onNotice)
  try {
    await noteRepair(dataDir, identity, true)
    const directory = directoryOf(dataDir, identity)
    const store = await openChecked(directory, level, overlooked, { fsync: true, repair: true, onNotice })
    const result = await step(store, identity)
    await store.close()
    return result
  } catch (error) {
    await level.close()
    throw refusal(dataDir, error)
  }
}

/**
 * Opens LevelDB without damaged blocks of its tables, and with a list of its files that is made anew where it is damaged.
 * Before it changes a file it notes the repair, and no sooner: until then a running node may own the directory.
 */
async function openRepaired(
  dataDir: string,
  identity: Identity,
  onNotice: (sentence: string) => void,
): Promise<OpenedLevel> {
  const tables = await checkClosedTables(dataDir)
  const open = () => openLevel(dataDir, { createIfMissing: false, tables })
  const rebuilt = async (problem: string) => {
    onNotice(`LevelDB rebuilds its list of files: ${problem}.`)
    await noteRepair(dataDir, identity, true)
    await rebuildLevel(dataDir)
    return open()
  }
  const { checksum } = tables
  const withoutDamage = async (damaged: CheckedTables['damaged']) => {
    if (damaged.length === 0 || checksum === undefined) return undefined
    for (const { problem } of damaged) onNotice(`Left out: ${problem}.`)
    return whileLocked(dataDir, async () => {
      await noteRepair(dataDir, identity, true)
      return leaveOut(dataDir, damaged, checksum)
    })
  }
  const lost = await withoutDamage(tables.damaged)
  if (lost !== undefined) return rebuilt(`the table ${lost} cannot be read`)
  const opened = await open().catch((error) => {
    if (!(error instanceof DamagedError)) throw error
    return rebuilt(error.problem)
  })
  if (opened.unfinished.length === 0) return opened
  await opened.level.close()
  return rebuilt(`the table ${await withoutDamage(opened.unfinished)} cannot be read`)
}

/** Does a directory need no repair? Only LevelDB's own files may change. */
async function isInOrder(dataDir: string): Promise<boolean> {
  try {
    const { store, problems, unfinished } = await openStoreForVerification(dataDir)
    await store.close()
    return problems.length === 0 && unfinished === undefined
  } catch {
    // The repair finds the error again, and repairs or reports it.
    return false
  }
}

/** A directory as the checks of its files take it. */
function directoryOf(dataDir: string, identity: Identity): Directory {
  const raise = () => raiseFormat(dataDir)
  return { dataDir, identity, files: diskFiles, timers: systemTimers, raiseFormat: raise }
}

/**
 * The refusal for an error that ended the start after the database was opened; it is closed again. Damage is noted,
 * since the next start may not look where this one did.
 */
export async function refusalOfStart(dataDir: string, identity: Identity, error: unknown): Promise<unknown> {
  const refused =
    error instanceof UnreadableError
      ? new DamagedError(dataDir, error.problem)
      : isOfLevel(error)
        ? refusal(dataDir, error)
        : error
  if (refused instanceof DamagedError) await noteDamage(dataDir, identity, refused.problem)
  return refused
}

/** Notes what could not be repaired, so that no start overlooks it. Throws the file system's errors. */
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
  const { identity, store, problems, unfinished } = await openUnwritten(dataDir, CHECKED_AT_START)
  const [problem = unfinished] = problems
  if (problem === undefined) return { identity, store }
  await store.close()
  throw new DamagedError(dataDir, problem)
}

/** A database, its problems as phrases that name the files, and what its log leaves out, in sentences. */
interface UnwrittenStore extends ReadOnlyStore {
  readonly problems: readonly string[]
  readonly notices: readonly string[]
  /** That a repair is not complete, as a phrase; the one that completes it sees this too. */
  readonly unfinished: string | undefined
}

/**
 * The same, also of a fork, and where files are damaged that LevelDB opens. Checks all tables: throws `DamagedTablesError` where
 * blocks of them are damaged.
 */
export function openStoreForVerification(dataDir: string): Promise<UnwrittenStore> {
  return openUnwritten(dataDir)
}

async function openUnwritten(dataDir: string, mostBytes?: number): Promise<UnwrittenStore> {
  const identity = await requireDatabase(dataDir)
  const tables = await wholeTables(dataDir, mostBytes)
  const { level, overlooked } = await openLevel(dataDir, { createIfMissing: false, tables })
  try {
    const last = readCheckpoint(dataDir)
    const folder = journalOf(dataDir)
    const log = await readLog(level, { files: diskFiles, folder, place: dataDir })
    const problems = damages(directoryOf(dataDir, identity), level, overlooked, last)
    if (log.damage !== undefined) problems.push(log.damage)
    const head = headProblem(level, log.hasRecords ? undefined : last)
    if (head !== undefined) problems.push(head)
    const [fresh] = overlooked
    if (fresh !== undefined) await noteDamage(dataDir, identity, fresh)
    return {
      identity,
      store: createReadOnlyStore(level, log.operations),
      problems,
      notices: log.notices,
      unfinished: unfinishedRepair(last),
    }
  } catch (error) {
    await level.close()
    throw refusal(dataDir, error)
  }
}
