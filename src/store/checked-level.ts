/**
 * The start of a database once its level is open, on any file system: compared with its checkpoint, then joined with
 * its log.
 */
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
import type { Files } from './files.ts'
import { IDENTITY_FILE, type Identity } from './identity.ts'
import type { Level } from './level-entries.ts'
import { hasSegment } from './log-format.ts'
import { type LoggedStoreOptions, openLoggedStore } from './logged-store.ts'
import type { Timers } from './timers.ts'
import type { Store } from './write-behind.ts'

/** A data directory and where it is. */
export interface Directory {
  readonly dataDir: string
  readonly identity: Identity
  readonly files: Files
  readonly timers: Timers
  /** Notes that the directory is of the present format. */
  raiseFormat(): Promise<void>
}

/** The folder of the batches that LevelDB may not have yet. */
export function journalOf(dataDir: string): string {
  return join(dataDir, 'journal')
}

/** What is wrong with the files of an opened database, the cause first; `overlooked` is what LevelDB did not refuse. */
export function damages(
  { dataDir, identity: { chain, chainId }, files }: Directory,
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
  if (last.log !== undefined && !hasSegment(files, journalOf(dataDir), last.log)) {
    problems.push(`the file ${last.log} of the write-ahead log is missing`)
  }
  return problems
}

/** Why a directory is refused in which a repair was killed or failed; `undefined` in any other. */
export function unfinishedRepair(last: Checkpoint | undefined): string | undefined {
  return last?.isInRepair === true ? 'a repair was begun and is not complete' : undefined
}

/** Throws `database` for the first problem. LevelDB does not find `overlooked` again: it continues with what it could read. */
async function refuse(
  { dataDir, identity, files }: Directory,
  problems: readonly string[],
  overlooked: readonly string[],
): Promise<void> {
  const [problem] = problems
  if (problem === undefined) return
  const [fresh] = overlooked
  if (fresh !== undefined) await noteDamage(dataDir, identity, fresh, files)
  throw new DamagedError(dataDir, problem)
}

/** How a database is opened, and the sizes of its log. */
interface Options
  extends Omit<
    LoggedStoreOptions,
    'files' | 'timers' | 'folder' | 'place' | 'checkpoints' | 'lastHead' | 'guard'
  > {
  /** Wraps the level of the open store to watch for damage; reports each damage as a phrase. */
  readonly guard?: ((level: Level, onDamage: (problem: string) => void) => Level) | undefined
}

/**
 * Opens a database whose level was opened. Throws `database` where it lacks what it held; with `repair` that is accepted, and
 * stated.
 */
export async function openChecked(
  directory: Directory,
  level: Level,
  overlooked: readonly string[],
  options: Options,
): Promise<Store> {
  const { dataDir, identity, files, timers } = directory
  const isRepair = options.repair === true
  // Read again even if the caller has read it: until the database is open, another process may own it.
  const last = readCheckpoint(dataDir, files)
  const problems = damages(directory, level, overlooked, last)
  const accept = (problem: string) => options.onNotice?.(`Lost and accepted: ${problem}.`)
  const unfinished = unfinishedRepair(last)
  if (isRepair) problems.forEach(accept)
  else await refuse(directory, unfinished === undefined ? problems : [...problems, unfinished], overlooked)
  const checkpoints = new Checkpoints(dataDir, identity, level, last, files)
  checkpoints.isInRepair = isRepair
  const { guard } = options
  return openLoggedStore(level, {
    ...options,
    guard:
      guard &&
      ((opened) =>
        guard(opened, (problem) => {
          checkpoints.damage ??= problem
        })),
    files,
    timers,
    folder: journalOf(dataDir),
    place: dataDir,
    checkpoints,
    lastHead: isRepair ? undefined : last?.head,
    async beforeNewFile(hasRecords) {
      const unreadable = headProblem(level, undefined)
      if (unreadable !== undefined && !isRepair) throw new DamagedError(dataDir, unreadable)
      const other = headProblem(level, hasRecords ? undefined : last)
      if (other !== undefined && !isRepair) throw new DamagedError(dataDir, other)
      // Damage that was accepted may be why the head differs.
      if (other !== undefined && problems.length === 0) accept(other)
      await directory.raiseFormat()
    },
  })
}
