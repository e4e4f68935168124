/**
 * Snapshots of the shared tables in NATS's object store. A new node begins with one, and so does one whose next record the log
 * has dropped.
 */
import { z } from 'zod'
import type { Logger } from '../logger.ts'
import { decodeOperations, encodeRecord, HEADER_BYTES } from '../store/operation-record.ts'
import { changeOf, SHARED_PREFIXES } from '../store/replicated-tables.ts'
import type { Operation, Write } from '../store/table.ts'
import type { LogPosition } from '../store/tables.ts'
import type { Store } from '../store/write-behind.ts'
import type { Bucket, ObjectBucket } from './jetstream.ts'
import type { Log } from './log.ts'

const Latest = z.object({
  object: z.string(),
  sequence: z.int(),
  term: z.int(),
  /** Sequence of the snapshot before it; the log still has what follows that. */
  before: z.int(),
})

/** The latest snapshot. */
export type SnapshotFacts = z.infer<typeof Latest>

const KEY = 'snapshot'
/** Longest upload, milliseconds. */
const UPLOAD_MS = 30_000
/** Most operations of a batch, and bytes after which it ends. */
const BATCH = 1_000
const BATCH_BYTES = 256 << 10

interface Parts {
  /** Bucket of the pointer to the latest one. */
  readonly facts: Bucket
  readonly objects: ObjectBucket
  readonly local: Store
  readonly position: { put(position: LogPosition): Write }
  readonly cluster: string
}

/** Does a database lack records that the log has dropped, or the rest of a snapshot? */
export function needsSnapshot(
  stored: LogPosition | undefined,
  base: 'genesis' | 'snapshot',
  first: number,
): boolean {
  if (stored === undefined) return base !== 'genesis' || first > 1
  return stored.sequence < 0 || stored.sequence + 1 < first
}

/** All entries of the shared tables, in order. The first one is read before the iterable is returned. */
async function entriesOf(store: Store): Promise<AsyncIterable<readonly [Uint8Array, Uint8Array]>> {
  const last = SHARED_PREFIXES.at(-1) ?? 0
  const iterator = store.entries(Uint8Array.of(0), Uint8Array.of(last + 1))[Symbol.asyncIterator]()
  const first = await iterator.next()
  const shared = new Set(SHARED_PREFIXES)
  return (async function* () {
    for (let entry = first; !entry.done; entry = await iterator.next()) {
      if (shared.has(entry.value[0][0] ?? 0)) yield entry.value
    }
  })()
}

/** Entries as records of operations. */
async function* recordsOf(
  entries: AsyncIterable<readonly [Uint8Array, Uint8Array]>,
): AsyncGenerator<Uint8Array> {
  let operations: Operation[] = []
  let bytes = 0
  for await (const [key, value] of entries) {
    operations.push({ type: 'put', key, value })
    bytes += key.length + value.length
    if (operations.length < BATCH && bytes < BATCH_BYTES) continue
    yield encodeRecord(operations)
    operations = []
    bytes = 0
  }
  yield encodeRecord(operations)
}

/** The pieces of a stream of NATS, whose type is not iterable. */
async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

/** The operations of records that come in pieces of any length. */
async function* operationsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Operation[]> {
  let rest = Buffer.alloc(0)
  for await (const piece of piecesOf(stream)) {
    rest = Buffer.concat([rest, piece])
    while (rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + rest.readUInt32LE(0)
      if (rest.length < end) break
      yield decodeOperations(rest.subarray(HEADER_BYTES, end))
      rest = rest.subarray(end)
    }
  }
  if (rest.length > 0) throw new Error('the snapshot ends in the middle of a record')
}

/** Runs a step while no record is written, with the position of the last one. */
type BetweenRecords = <T>(
  step: (position: { readonly sequence: number; readonly term: number }) => Promise<T>,
) => Promise<T>

/** The snapshots of a cluster. */
export class Snapshots {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async latest(): Promise<SnapshotFacts | undefined> {
    return (await this.#pointer())?.latest
  }

  /**
   * Uploads the shared tables as they are between two records. Resolves when followers can load the snapshot; at once, with
   * the latest one, where that is not older.
   */
  async take(betweenRecords: BetweenRecords): Promise<SnapshotFacts> {
    const { facts, objects, local } = this.#parts
    const found = await this.#pointer()
    const before = found?.latest
    const { at, entries } = await betweenRecords(async (at) => ({ at, entries: await entriesOf(local) }))
    // A node that is behind has not applied the records that the log has dropped for the newer snapshot.
    if (before !== undefined && before.sequence >= at.sequence) return before
    const object = `${at.term}-${at.sequence}`
    await objects.put(
      { name: object },
      ReadableStream.from(recordsOf(entries)) as ReadableStream<Uint8Array>,
      { timeout: UPLOAD_MS },
    )
    const made: SnapshotFacts = { ...at, object, before: before?.sequence ?? 0 }
    // The revision keeps a late write of a former leader from replacing a newer snapshot.
    const value = JSON.stringify(made)
    if (found === undefined) await facts.create(KEY, value)
    else await facts.update(KEY, value, found.revision)
    if (before !== undefined) await objects.delete(before.object)
    return made
  }

  /** Replaces the shared tables by the latest snapshot. Throws when there is none, or when it is damaged. */
  async load(): Promise<LogPosition> {
    const { objects, local, position, cluster } = this.#parts
    const found = await this.latest()
    const result = found && (await objects.get(found.object))
    if (!found || !result) throw new Error('the cluster has no snapshot')
    // Until all of it is loaded the tables cannot be used, not even after a restart.
    await local.batch([position.put({ cluster, sequence: -1, term: 0 })])
    await this.#clear()
    for await (const operations of operationsOf(result.data)) {
      await local.batch(operations.map(changeOf))
    }
    const failure = await result.error
    if (failure) throw failure
    const loaded = { cluster, sequence: found.sequence, term: found.term }
    await local.batch([position.put(loaded)])
    return loaded
  }

  async #pointer(): Promise<{ readonly latest: SnapshotFacts; readonly revision: number } | undefined> {
    const entry = await this.#parts.facts.get(KEY)
    if (entry?.operation !== 'PUT') return undefined
    return { latest: Latest.parse(entry.json()), revision: entry.revision }
  }

  async #clear(): Promise<void> {
    const { local } = this.#parts
    let deletions: Write[] = []
    for await (const [key] of await entriesOf(local)) {
      deletions.push(changeOf({ type: 'del', key }))
      if (deletions.length < BATCH) continue
      await local.batch(deletions)
      deletions = []
    }
    await local.batch(deletions)
  }
}

/** A snapshot is made once the log uses this share of its room. */
const SNAPSHOT_SHARE = 1 / 4
/** Between two checks of the size of the log, milliseconds. */
const CHECK_MS = 5_000

/** What compaction takes. */
interface CompactionParts {
  readonly snapshots: Snapshots
  readonly log: Log
  readonly logBytes: number
  /** Does the log continue a chain with more than its genesis? Then its first follower needs a snapshot. */
  readonly needsFirst: boolean
  readonly logger: Logger
  readonly betweenRecords: BetweenRecords
}

/**
 * Keeps the log short: makes snapshots, and drops the records of the log that a snapshot replaces. Unless the log is full, the
 * records since the snapshot before the latest stay, so that a follower which is a little behind can read on.
 */
export class Compaction {
  readonly #parts: CompactionParts
  #hasFirst: boolean
  #running: Promise<void> | undefined
  #checked = 0

  constructor(parts: CompactionParts) {
    this.#parts = parts
    this.#hasFirst = !parts.needsFirst
  }

  /** Checks from time to time whether a snapshot is due, and makes it in the background. */
  compact(): void {
    if (this.#hasFirst && performance.now() - this.#checked < CHECK_MS) return
    this.#checked = performance.now()
    this.#start(false).catch((error) =>
      this.#parts.logger.warn('no snapshot of the cluster was made', { error }),
    )
  }

  /** Makes a snapshot and drops all records that it replaces. */
  async makeRoom(): Promise<void> {
    await this.#running?.catch(() => {})
    await this.#start(true)
  }

  #start(isFull: boolean): Promise<void> {
    this.#running ??= this.#run(isFull).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(isFull: boolean): Promise<void> {
    const { snapshots, log, logBytes, betweenRecords, logger } = this.#parts
    const found = await snapshots.latest()
    this.#hasFirst ||= found !== undefined
    if (this.#hasFirst && !isFull && (await log.bytes()) < logBytes * SNAPSHOT_SHARE) return
    const { sequence, before, term } = await snapshots.take(betweenRecords)
    this.#hasFirst = true
    await log.dropBefore(isFull ? sequence : Math.min(before + 1, sequence))
    logger.info('a snapshot of the cluster was made', { sequence, term })
  }
}
