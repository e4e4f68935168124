/** What the write-ahead log of a folder holds after its process has ended: which batches are whole, and what is damaged. */
import { join } from 'node:path'
import type { Files } from './files.ts'
import {
  type LogRecord,
  type NoRecord,
  namesIn,
  SEGMENT_HEADER_BYTES,
  SegmentReader,
  segmentName,
  segmentNumbers,
} from './log-format.ts'
import { readOldSegment, surveyOldSegment } from './log-format-1.ts'
import { decodeOperations } from './operation-record.ts'
import type { Operation } from './table.ts'
import type { FlushedLog } from './tables.ts'

/** A place in a file of the log. */
export interface LogPlace {
  readonly file: string
  /** Bytes from the beginning of the file. */
  readonly offset: number
  readonly problem: string
}

/** The part of a file whose records the database may lack. */
interface Part {
  readonly path: string
  readonly from: number
  /** Sequence of the last record. */
  readonly through: number
}

/** A log as it was found. */
export interface LogSurvey {
  /** Paths of all its files, oldest first. */
  readonly paths: readonly string[]
  /** Those of the format before this one, with the end of their whole records. */
  readonly old: readonly { readonly path: string; readonly whole: number }[]
  readonly parts: readonly Part[]
  /** Is any record whole, also one that the database has? */
  readonly hasRecords: boolean
  /** Where the next process continues: after the last whole batch, and the last file. */
  readonly end: FlushedLog
  /** The first place at which something that may have been acknowledged is missing. */
  readonly damage?: LogPlace | undefined
  /** What is left out or skipped although nothing that was acknowledged is missing. */
  readonly notices: readonly LogPlace[]
}

/** Operations of one record. */
export interface Replayed {
  readonly operations: Operation[]
  /** They end a batch. */
  readonly commits: boolean
  /** `undefined` in the format before this one, whose records have none. */
  readonly sequence?: number
}

/** What a file holds. */
interface Scan {
  readonly number: number
  readonly path: string
  readonly size: number
  /** Sequence of its first record; `undefined` when its header is damaged or incomplete. */
  readonly first: number | undefined
  /** It holds all changes after this sequence. */
  readonly base: number | undefined
  /** Where the first record that the database may lack begins. */
  readonly from: number
  /** Of the last record that ends a batch, with its end. */
  readonly committed: { readonly sequence: number; readonly end: number }
  /** Where the whole records end, and why; torn when it looks like an interrupted write, none of it acknowledged. */
  readonly stop: { readonly at: number; readonly why: NoRecord; readonly isTorn: boolean }
  /** Records through this sequence were on the medium or acknowledged, as the file's whole records say. */
  readonly durable: number
  /** Positions of damaged records that the database has. */
  readonly passed: readonly number[]
}

function withReader<T>(files: Files, path: string, body: (reader: SegmentReader) => T): T {
  const file = files.openForReading(path)
  try {
    return body(new SegmentReader(file))
  } finally {
    file.close()
  }
}

/** What the whole records from a position on say was on the medium or acknowledged; 0 when there are none. */
function durableFrom(reader: SegmentReader, from: number, sequence: number): number {
  let durable = 0
  for (let next = reader.nextRecord(from, sequence); next !== undefined; ) {
    const record = reader.record(next) as LogRecord
    durable = Math.max(durable, record.durable)
    next = reader.nextRecord(record.end, sequence)
  }
  return durable
}

/** Reads the records of a file in order; those up to `flushed` may be damaged as long as the next one is found. */
function scanSegment(reader: SegmentReader, number: number, path: string, flushed: number): Scan {
  const { size } = reader
  const start = reader.start(number)
  const common = { number, path, size, first: start?.first, base: start?.base }
  if (start === undefined) {
    const isUnwritten = size < SEGMENT_HEADER_BYTES || reader.hasUnwrittenSector(0, SEGMENT_HEADER_BYTES)
    const next = reader.nextRecord(0, 0)
    const durable = next === undefined ? 0 : durableFrom(reader, next, 0)
    const isTorn =
      isUnwritten && (next === undefined || durable < (reader.record(next) as LogRecord).sequence)
    const stop = { at: 0, why: size === 0 ? 'end' : 'damaged', isTorn } as const
    return { ...common, from: 0, committed: { sequence: 0, end: 0 }, stop, durable, passed: [] }
  }
  const passed: number[] = []
  let [at, sequence, from] = [SEGMENT_HEADER_BYTES, start.first - 1, SEGMENT_HEADER_BYTES]
  let [committed, durable] = [{ sequence, end: at }, 0]
  for (;;) {
    const record = reader.record(at)
    if (typeof record === 'object' && record.sequence === sequence + 1) {
      sequence++
      at = record.end
      durable = record.durable
      if (record.commits) committed = { sequence, end: at }
      if (sequence <= flushed) from = at
      continue
    }
    const why = typeof record === 'object' ? 'damaged' : record
    const next = why === 'damaged' && sequence < flushed ? reader.nextRecord(at + 1, sequence) : undefined
    const found = next === undefined ? undefined : (reader.record(next) as LogRecord)
    if (next === undefined || found === undefined || found.sequence > flushed + 1) {
      if (why === 'damaged') durable = Math.max(durable, durableFrom(reader, at + 1, sequence))
      const isUnwritten = why !== 'damaged' || reader.hasUnwrittenSector(at, reader.extent(at))
      const isTorn = isUnwritten && durable <= sequence
      return { ...common, from, committed, stop: { at, why, isTorn }, durable, passed }
    }
    passed.push(at)
    sequence = found.sequence - 1
    committed = { sequence, end: next }
    at = from = next
  }
}

const missing = (from: number, to: number): string =>
  from === to ? `record ${from} is missing` : `records ${from} to ${to} are missing`

/** Does a file have its header and, if it was begun after a failure, the batch that repeats what earlier files hold? */
function isBegun({ first, base, committed }: Scan): boolean {
  return first !== undefined && (base === first - 1 || committed.sequence >= first)
}

/**
 * How many of the files count. An interrupted write ends the log, even where the disk had written later files first:
 * unless a record states that what is missing was on the medium or acknowledged, no caller was told of it.
 */
function countUntilInterrupted(scans: readonly Scan[], flushed: number): number {
  let reached = flushed
  for (const [index, { first, stop, committed }] of scans.entries()) {
    reached = Math.max(reached, committed.sequence)
    const isWhole = first !== undefined && reached >= (scans[index + 1]?.base ?? 0)
    const isUnknown = scans.slice(index).every(({ durable }) => durable <= reached)
    if (!isWhole && stop.isTorn && isUnknown) return index + 1
  }
  return scans.length
}

/**
 * The files from the last one on that holds all that the database may lack, to the end of the log; earlier ones may be
 * damaged. Files at the end whose beginning was interrupted hold nothing that was acknowledged.
 */
function neededOf(scans: readonly Scan[], flushed: number): readonly Scan[] {
  const begun = scans.slice(0, scans.findLastIndex((scan) => isBegun(scan) || !scan.stop.isTorn) + 1)
  const begin = begun.findLastIndex((scan) => isBegun(scan) && (scan.base ?? 0) <= flushed)
  const needed = begun.slice(Math.max(0, begin))
  return needed.slice(0, countUntilInterrupted(needed, flushed))
}

/** Finds where the files do not continue each other; `undefined` when the last one ends as an interrupted write does. */
function damageOf(scans: readonly Scan[], flushed: number): LogPlace | undefined {
  let reached = flushed
  for (const [index, scan] of scans.entries()) {
    const { path: file, first, stop, committed } = scan
    const isLast = index === scans.length - 1
    const damaged = { file, offset: stop.at, problem: 'a record is damaged' }
    if (first === undefined || scan.base === undefined) {
      return isLast && stop.isTorn ? undefined : { file, offset: 0, problem: 'the header is damaged' }
    }
    if (scan.base > reached) return { file, offset: 0, problem: missing(reached + 1, scan.base) }
    if (isLast) return stop.why === 'end' || stop.isTorn ? undefined : damaged
    // Records after the base of the next file are in that one, or were refused.
    const wanted = scans[index + 1]?.base ?? committed.sequence
    if (committed.sequence < wanted && wanted > flushed) {
      if (stop.why !== 'end') return damaged
      return { ...damaged, problem: missing(committed.sequence + 1, wanted) }
    }
    reached = Math.max(flushed, Math.min(committed.sequence, wanted))
  }
  return undefined
}

const noticeAt = (file: string, offset: number, problem: string): LogPlace => ({ file, offset, problem })

/** The notices of files when the log ends at `end`. */
function noticesOf(scans: readonly Scan[], end: Scan | undefined): LogPlace[] {
  const count = end === undefined ? 0 : scans.indexOf(end) + 1
  return scans.flatMap(({ path, first, passed, stop, committed, size }, index) => {
    const isBefore = index < count - 1
    const damaged = isBefore && stop.why !== 'end' ? [...passed, stop.at] : passed
    const notices = damaged.map((at) =>
      noticeAt(path, at, 'a damaged record, which is in the database already or was refused, is passed over'),
    )
    const header = first === undefined ? 0 : SEGMENT_HEADER_BYTES
    const kept = index < count ? committed.end : header
    return isBefore || kept === size ? notices : [...notices, interrupted(path, kept, size)]
  })
}

function interrupted(path: string, end: number, size: number): LogPlace {
  return noticeAt(path, end, `the last ${size - end} bytes, a write that was interrupted, are left out`)
}

/** The records of the files, as far as they continue each other. */
function partsOf(scans: readonly Scan[], flushed: number, damage: LogPlace | undefined): Part[] {
  const parts: Part[] = []
  for (const [index, { path, first, from, committed }] of scans.entries()) {
    if (damage?.file === path && (damage.offset === 0 || first === undefined)) break
    const wanted = scans[index + 1]?.base ?? committed.sequence
    const through = Math.min(committed.sequence, wanted)
    if (first !== undefined && through > flushed && through >= first) parts.push({ path, from, through })
    if (damage?.file === path) break
  }
  return parts
}

function surveyOld(files: Files, folder: string): Pick<LogSurvey, 'old' | 'damage' | 'notices'> {
  const old: { path: string; whole: number }[] = []
  const numbers = segmentNumbers(namesIn(files, folder), 'log')
  for (const number of numbers) {
    const path = join(folder, `${String(number).padStart(10, '0')}.log`)
    const { whole, end, size } = surveyOldSegment(files, path)
    old.push({ path, whole })
    if (end === 'damaged' || (end === 'cut off' && number !== numbers.at(-1))) {
      return { old, damage: noticeAt(path, whole, 'a record is damaged'), notices: [] }
    }
    if (end === 'cut off') return { old, notices: [interrupted(path, whole, size)] }
  }
  return { old, notices: [] }
}

/** Where the oldest file of a log begins: the database has what came before, whose files are gone. */
function oldestBase(files: Files, folder: string): FlushedLog | undefined {
  const [number] = segmentNumbers(namesIn(files, folder))
  if (number === undefined) return undefined
  const start = withReader(files, join(folder, segmentName(number)), (reader) => reader.start(number))
  return start && { sequence: start.base, segment: number }
}

/**
 * Reads the log of a folder once, in little memory; nothing is changed. `noted` is how much of it the database has; where
 * that is unknown, all records are replayed once more. Throws the file system's errors.
 */
export function surveyLog(
  files: Files,
  folder: string,
  noted: FlushedLog | 'unknown' | undefined,
): LogSurvey {
  const flushed = noted === 'unknown' ? oldestBase(files, folder) : noted
  const after = flushed?.sequence ?? 0
  const old = surveyOld(files, folder)
  const scans = segmentNumbers(namesIn(files, folder)).map((number) => {
    const path = join(folder, segmentName(number))
    return withReader(files, path, (reader) => scanSegment(reader, number, path, after))
  })
  const paths = [...old.old, ...scans].map(({ path }) => path)
  const segment = Math.max(scans.at(-1)?.number ?? 0, flushed?.segment ?? 0)
  const hasRecords =
    old.old.some(({ whole }) => whole > 0) ||
    scans.some(({ first, committed }) => first !== undefined && committed.sequence >= first)
  const empty = { parts: [], end: { sequence: after, segment } }
  if (old.damage !== undefined) return { ...old, ...empty, paths, hasRecords }
  const needed = neededOf(scans, after)
  const damage = damageOf(needed, after)
  const parts = partsOf(needed, after, damage)
  const notices = [...old.notices, ...(damage === undefined ? noticesOf(scans, needed.at(-1)) : [])]
  const sequence = parts.at(-1)?.through ?? after
  return { old: old.old, paths, parts, hasRecords, end: { sequence, segment }, damage, notices }
}

/** The operations that the database may lack, record by record in the order of writing, up to the damage. */
export function* replayLog(files: Files, { old, parts }: LogSurvey): Generator<Replayed> {
  for (const { path, whole } of old) {
    for (const operations of readOldSegment(files, path, whole)) yield { operations, commits: true }
  }
  for (const { path, from, through } of parts) {
    const file = files.openForReading(path)
    try {
      const reader = new SegmentReader(file)
      for (let at = from, sequence = 0; sequence < through; ) {
        const record = reader.record(at)
        if (typeof record === 'string') throw new Error(`${path} has changed while it was read`)
        const { operations, commits } = record
        ;({ sequence, end: at } = record)
        yield { operations: decodeOperations(operations), commits, sequence }
      }
    } finally {
      file.close()
    }
  }
}
