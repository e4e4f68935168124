/** Snapshots of the shared tables in NATS's object store: where a new node begins, and one that the log has outrun. */
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

/** The snapshots of a cluster. */
export interface Snapshots {
  latest(): Promise<SnapshotFacts | undefined>
  /**
   * Uploads the shared tables as they are at a position; `begin` runs while no record is written. Resolves when followers
   * can load it, at once when there is one that is not older.
   */
  take(
    begin: <T>(step: (position: { sequence: number; term: number }) => Promise<T>) => Promise<T>,
  ): Promise<SnapshotFacts>
  /** Replaces the shared tables by the latest snapshot. Throws when there is none, or when it is damaged. */
  load(): Promise<LogPosition>
}

const KEY = 'snapshot'
/** Operations of a batch, and bytes after which one is ended. */
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

/** Does a database lack what is before the log's first message, or the rest of a snapshot? */
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

/** The operations of records that come in pieces of any length. */
async function* operationsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Operation[]> {
  let rest = Buffer.alloc(0)
  for await (const piece of stream) {
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

/** The snapshots of a cluster. */
export function createSnapshots({ facts, objects, local, position, cluster }: Parts): Snapshots {
  async function pointer(): Promise<
    { readonly latest: SnapshotFacts; readonly revision: number } | undefined
  > {
    const entry = await facts.get(KEY)
    if (entry?.operation !== 'PUT') return undefined
    return { latest: Latest.parse(entry.json()), revision: entry.revision }
  }

  const latest = async () => (await pointer())?.latest

  async function clear(): Promise<void> {
    let deletions: Write[] = []
    for await (const [key] of await entriesOf(local)) {
      deletions.push(changeOf({ type: 'del', key }))
      if (deletions.length < BATCH) continue
      await local.batch(deletions)
      deletions = []
    }
    await local.batch(deletions)
  }

  return {
    latest,
    async take(begin) {
      const found = await pointer()
      const before = found?.latest
      const { at, entries } = await begin(async (at) => ({ at, entries: await entriesOf(local) }))
      // A node that is behind made none of what the log has dropped for the newer one.
      if (before !== undefined && before.sequence >= at.sequence) return before
      const object = `${at.term}-${at.sequence}`
      await objects.put(
        { name: object },
        ReadableStream.from(recordsOf(entries)) as ReadableStream<Uint8Array>,
        { timeout: 30_000 },
      )
      const made: SnapshotFacts = { ...at, object, before: before?.sequence ?? 0 }
      // What a former leader sent late must not take the place of a newer snapshot.
      const value = JSON.stringify(made)
      if (found === undefined) await facts.create(KEY, value)
      else await facts.update(KEY, value, found.revision)
      if (before !== undefined) await objects.delete(before.object)
      return made
    },

    async load() {
      const found = await latest()
      const result = found && (await objects.get(found.object))
      if (!found || !result) throw new Error('the cluster has no snapshot')
      // Until the end of it the tables are of no use, also to a later start.
      await local.batch([position.put({ cluster, sequence: -1, term: 0 })])
      await clear()
      for await (const operations of operationsOf(result.data as unknown as AsyncIterable<Uint8Array>)) {
        await local.batch(operations.map(changeOf))
      }
      const failure = await result.error
      if (failure) throw failure
      const loaded = { cluster, sequence: found.sequence, term: found.term }
      await local.batch([position.put(loaded)])
      return loaded
    },
  }
}

/** Part of the log's room that is used before a snapshot is made. */
const SNAPSHOT_SHARE = 1 / 4
/** Between two looks at the size of the log, milliseconds. */
const CHECK_MS = 5_000

/** Keeps the log short. */
export interface Compaction {
  /** Looks from time to time whether a snapshot is due, and makes it in the background. */
  compact(): void
  /** Makes a snapshot and drops all that it covers. */
  makeRoom(): Promise<void>
}

/**
 * Makes snapshots and drops what they make superfluous in the log. Normally the log keeps what follows the snapshot before
 * the latest, so that a follower which is a little behind reads on.
 */
export function createCompaction({
  snapshots,
  log,
  logBytes,
  needsFirst,
  logger,
  begin,
}: {
  readonly snapshots: Snapshots
  readonly log: Log
  readonly logBytes: number
  /** Does the log continue more than the genesis? Then its first follower needs a snapshot. */
  readonly needsFirst: boolean
  readonly logger: Logger
  readonly begin: Parameters<Snapshots['take']>[0]
}): Compaction {
  let hasFirst = !needsFirst
  let running: Promise<void> | undefined
  let checked = 0

  async function run(isFull: boolean): Promise<void> {
    const found = await snapshots.latest()
    hasFirst ||= found !== undefined
    if (hasFirst && !isFull && (await log.bytes()) < logBytes * SNAPSHOT_SHARE) return
    const { sequence, before, term } = await snapshots.take(begin)
    hasFirst = true
    await log.dropBefore(isFull ? sequence : Math.min(before + 1, sequence))
    logger.info('a snapshot of the cluster was made', { sequence, term })
  }

  function start(isFull: boolean): Promise<void> {
    running ??= run(isFull).finally(() => {
      running = undefined
    })
    return running
  }

  return {
    compact() {
      if (hasFirst && performance.now() - checked < CHECK_MS) return
      checked = performance.now()
      start(false).catch((error) => logger.warn('no snapshot of the cluster was made', { error }))
    },
    async makeRoom() {
      await running?.catch(() => {})
      await start(true)
    },
  }
}
