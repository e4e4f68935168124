/** A level and its log together as a store: what an earlier process left in the log goes to the level first. */

import { relative } from 'node:path'
import { toHex } from '../encoding/hex.ts'
import type { Checkpoints, HeadPosition } from './checkpoint.ts'
import { DamagedError } from './damage.ts'
import { type Level, mergedEntries, sortByKey } from './level-entries.ts'
import { type LogPlace, type LogSurvey, type Replayed, replayLog, surveyLog } from './log-recovery.ts'
import { heightKey, type Operation } from './table.ts'
import { FLUSHED, FLUSHED_KEY, type FlushedLog, flushedValue, PREFIX } from './tables.ts'
import type { Timers } from './timers.ts'
import { type LogOptions, WriteAheadLog } from './write-ahead-log.ts'
import { noteFlushed, type Store, WriteBehind } from './write-behind.ts'

/** Operations after which a batch of the level ends while the log is replayed, together with one of the log. */
const REPLAYED_AT_ONCE = 5_000

/** How a store is opened. */
export interface LoggedStoreOptions extends LogOptions {
  readonly timers: Timers
  /** Go back to the last batch before the damage of a log that is damaged, and keep the files with another name. */
  readonly repair?: boolean | undefined
  /** The data directory, for the sentence about damage. */
  readonly place: string
  /** Called with a sentence for what is left out of the log, or skipped. */
  readonly onNotice?: ((sentence: string) => void) | undefined
  readonly checkpoints?: Pick<Checkpoints, 'write'> | undefined
  readonly lastHead?: HeadPosition | undefined
  /** Runs once the level has the log, before a file of the present format is made; did the log have any record? */
  readonly beforeNewFile?: ((hasRecords: boolean) => Promise<void>) | undefined
  /** Wraps the level of the open store to watch for damage. */
  readonly guard?: ((level: Level) => Level) | undefined
}

/** How much of its log a level has; unknown where its note of that is damaged. */
function flushedIn(level: Level): FlushedLog | 'unknown' | undefined {
  const bytes = level.getSync(FLUSHED_KEY)
  try {
    return bytes && flushedValue.decode(bytes, FLUSHED)
  } catch {
    return 'unknown'
  }
}

const NOTE_DAMAGED = 'the entry of LevelDB that states how much of the write-ahead log it has is damaged'

/** `the write-ahead log journal/0000000001.wal, at byte 26: a record is damaged`. */
const phraseOf = (place: string, { file, offset, problem }: LogPlace): string =>
  `the write-ahead log ${relative(place, file)}, at byte ${offset}: ${problem}`

const sentenceOf = (phrase: string): string => `T${phrase.slice(1)}.`

/** The highest canonical block of a level with the whole batches of its log, in a phrase. */
async function lastWholeBlock(level: Level, batches: Iterable<Replayed>): Promise<string> {
  const canonical = new Map<string, Operation>()
  for (const { operations } of batches) {
    for (const operation of operations) {
      if (operation.key[0] === PREFIX.canonical) canonical.set(toHex(operation.key), operation)
    }
  }
  const [from, to] = [Uint8Array.of(PREFIX.canonical), Uint8Array.of(PREFIX.canonical + 1)]
  const changes = sortByKey([...canonical.values()])
  for await (const [key, hash] of mergedEntries(level, changes, { from, to, reverse: true })) {
    return `the last block that is whole is ${heightKey.decode(key)} (${toHex(hash)})`
  }
  return 'no block is whole'
}

/** What is damaged, and what is whole without it; `undefined` when nothing is. */
async function damageIn(
  level: Level,
  { files, place }: Pick<LoggedStoreOptions, 'files' | 'place'>,
  survey: LogSurvey,
): Promise<string | undefined> {
  const { damage } = survey
  if (damage === undefined) return undefined
  return `${phraseOf(place, damage)}; ${await lastWholeBlock(level, replayLog(files, survey))}`
}

/**
 * Writes what the level may lack, several batches at a time; the level notes the last of them. It never gets a part of
 * a batch: the rest could be missing when the log is read again.
 */
async function replay(level: Level, { files }: LoggedStoreOptions, survey: LogSurvey): Promise<void> {
  const { segment } = survey.end
  let operations: Operation[] = []
  for (const record of replayLog(files, survey)) {
    for (const operation of record.operations) operations.push(operation)
    if (!record.commits || operations.length < REPLAYED_AT_ONCE) continue
    if (record.sequence !== undefined) operations.push(noteFlushed({ sequence: record.sequence, segment }))
    await level.batch(operations, { sync: true })
    operations = []
  }
  await level.batch([...operations, noteFlushed(survey.end)], { sync: true })
}

/** Removes the files of a log that the level has; those that are damaged, and what follows them, are kept by another name. */
function clear({ files }: LoggedStoreOptions, { paths, damage }: LogSurvey): void {
  const firstKept = damage === undefined ? paths.length : paths.indexOf(damage.file)
  for (const path of paths.slice(0, firstKept)) files.remove(path)
  for (const path of paths.slice(firstKept)) files.rename(path, `${path}.damaged`)
}

/** Opens a store. Throws `database` when the log is damaged and is not to be repaired, and the file system's errors. */
export async function openLoggedStore(level: Level, options: LoggedStoreOptions): Promise<Store> {
  const { files, folder, place, fsync, timers, repair, onNotice, checkpoints, lastHead } = options
  files.makeFolder(folder)
  const flushed = flushedIn(level)
  const survey = surveyLog(files, folder, flushed)
  const damage = await damageIn(level, options, survey)
  const problem = flushed === 'unknown' ? NOTE_DAMAGED : damage
  if (problem !== undefined && repair !== true) throw new DamagedError(place, problem)
  if (flushed === 'unknown')
    onNotice?.(`${sentenceOf(NOTE_DAMAGED)} The whole log is written to LevelDB once more.`)
  for (const notice of survey.notices) onNotice?.(sentenceOf(phraseOf(place, notice)))
  if (damage !== undefined) {
    onNotice?.(`${sentenceOf(damage)} The rest is left out; its files are kept as *.damaged.`)
  }
  if (survey.hasRecords || flushed === 'unknown') await replay(level, options, survey)
  await options.beforeNewFile?.(survey.hasRecords)
  if (survey.paths.length > 0) await checkpoints?.write(undefined)
  const log = new WriteAheadLog(options, survey.end)
  clear(options, survey)
  // Otherwise a crash of the machine may bring them back, under numbers that were used again since.
  await files.syncFolder(folder)
  await checkpoints?.write(log.end.segment)
  const { guard = (plainLevel) => plainLevel } = options
  return new WriteBehind({ level: guard(level), log, fsync, timers, checkpoints, lastHead })
}

/** A log that is read and not changed. */
export interface ReadLog {
  /** Those that the level may lack, in the order of writing, up to the damage. */
  readonly operations: Iterable<Operation>
  readonly hasRecords: boolean
  /** A phrase that names the place. */
  readonly damage: string | undefined
  /** What is left out although nothing that was acknowledged is missing, in sentences. */
  readonly notices: readonly string[]
}

/** Reads the log of a folder. Throws the file system's errors. */
export async function readLog(
  level: Level,
  options: Pick<LoggedStoreOptions, 'files' | 'folder' | 'place'>,
): Promise<ReadLog> {
  const { files, folder, place } = options
  const flushed = flushedIn(level)
  const survey = surveyLog(files, folder, flushed)
  const damage = await damageIn(level, options, survey)
  return {
    operations: operationsOf(replayLog(files, survey)),
    hasRecords: survey.hasRecords,
    damage: flushed === 'unknown' ? NOTE_DAMAGED : damage,
    notices: survey.notices.map((notice) => sentenceOf(phraseOf(place, notice))),
  }
}

function* operationsOf(records: Iterable<Replayed>): Generator<Operation> {
  for (const { operations } of records) yield* operations
}
