/** A node in its cluster: follows the log, or leads and appends to it; changes between the two with the lease. */
import type { KV } from '@nats-io/kv'
import type { Transaction } from '../chain/transaction.ts'
import type { Engine } from '../engine/engine.ts'
import { createSerialQueue } from '../engine/serial-queue.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { isShared } from '../store/replicated-tables.ts'
import type { Change, Write } from '../store/table.ts'
import type { LogPosition } from '../store/tables.ts'
import type { Store } from '../store/write-behind.ts'
import { createLease, type Lease } from './lease.ts'
import { AppendError, type Log, type Reading } from './log.ts'
import type { Role, RoleOption } from './model.ts'
import type { LogRecord } from './record.ts'

interface Parts {
  readonly id: string
  readonly role: RoleOption
  readonly log: Log
  /** Bucket of the lease. */
  readonly presence: KV
  /** The database itself, without replication. */
  readonly local: Store
  readonly position: { get(): LogPosition | undefined; put(position: LogPosition): Write }
  /** Id of the log. */
  readonly cluster: string
  readonly engine: Pick<Engine, 'replica' | 'events'>
  readonly logger: Logger
  /** Loads the latest snapshot into the tables; resolves to its position. */
  readonly loadSnapshot: () => Promise<LogPosition>
  /** Runs after each record that this node has appended. */
  readonly compact: () => void
  /** Makes room in a full log, which the node has read to its end. */
  readonly makeRoom: () => Promise<void>
}

/** A node in its cluster. */
export interface Member {
  readonly role: Role
  readonly term: number
  /** Id of the node that leads in this term; `undefined` before the first. */
  readonly leader: string | undefined
  /** Sequence of the last message of the log that this node has dealt with. */
  readonly sequence: number
  /** Does what is appended to the log arrive here soon? */
  readonly isCurrent: boolean
  /** `performance.now()` until which no other node can lead; 0 on a follower. */
  readonly leadsUntil: number
  readonly elections: number
  /** Throws `overloaded` unless this node leads. */
  requireLeader(): void
  /** Notes that a node leads in a term: a record of the term may have been before what this node read. */
  noteLeader(node: string, inTerm: number): void
  /** Appends changes, then runs `write` with the write of the new position. Throws `overloaded`; then nothing is written. */
  replicate(changes: readonly Change[], write: (position: Write) => Promise<void>): Promise<void>
  /** Resolves to true once the node has dealt with a message, to false after so many milliseconds. */
  reached(sequence: number, milliseconds: number): Promise<boolean>
  /** Aborts when a node begins another term than the present one: the leader of the present one answers no more. */
  termSignal(): AbortSignal
  /** Runs a step while no record is written, with the position that the tables are at. */
  betweenRecords<T>(step: (position: { sequence: number; term: number }) => Promise<T>): Promise<T>
  /** Lets the running command end, gives up the lease and stops reading. */
  leave(): Promise<void>
}

/** Messages before the one that was read have been dropped. */
class GapError extends Error {}

/** Transactions that became runnable after the last record are sent after this time without another, milliseconds. */
const FEED_MS = 10
const RETRY_MS = 100
/** Between two looks whether the log is still being read, milliseconds. */
const WATCH_MS = 1_000

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds).unref())

/** An error after which the caller tries again. */
export function tryAgain(message: string): NodeError {
  return new NodeError('overloaded', `${message}; try again`)
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof AppendError)) return error
  if (error.failure === 'unanswered') {
    return tryAgain(
      "The cluster's log does not answer: whether the change was made is not known; look for it",
    )
  }
  const reasons = {
    full: "The cluster's log is full",
    away: "The cluster's log cannot be reached",
    fenced: 'Another node leads the cluster now',
  }
  return tryAgain(`${reasons[error.failure]}: the change was not made`)
}

/** Begins to follow the log, and to try for the lease unless the node only follows. */
export async function startMember(parts: Parts): Promise<Member> {
  const { id, log, local, position, cluster, engine, logger } = parts
  const stored = position.get()
  let role: Role = 'follower'
  let term = stored?.term ?? 0
  let leader: string | undefined
  /** Last message of the last record that is in the tables, and last message of all. */
  let applied = stored?.sequence ?? 0
  let tail = applied
  let elections = 0
  let isLeaving = false
  /** Did the log refuse the last record for want of room? */
  let isFull = false
  let reading: Reading | undefined
  let lease: Lease | undefined
  let ofTerm = new AbortController()
  const pooled: Transaction[] = []
  const waiting = new Set<{ readonly sequence: number; readonly reached: () => void }>()
  const transitions = createSerialQueue()
  const records = createSerialQueue()

  function beginTerm(next: number, by: string): void {
    leader = by
    if (next === term) return
    term = next
    ofTerm.abort()
    ofTerm = new AbortController()
  }

  function reach(sequence: number): void {
    tail = sequence
    for (const waiter of waiting) if (waiter.sequence <= sequence) waiter.reached()
  }

  function reached(sequence: number, milliseconds: number): Promise<boolean> {
    if (tail >= sequence) return Promise.resolve(true)
    return new Promise((resolve) => {
      const settle = (isReached: boolean) => {
        clearTimeout(timer)
        waiting.delete(waiter)
        resolve(isReached)
      }
      const waiter = { sequence, reached: () => settle(true) }
      const timer = setTimeout(() => settle(false), milliseconds)
      waiting.add(waiter)
    })
  }

  async function take(sequence: number, record: LogRecord | undefined): Promise<void> {
    if (sequence !== tail + 1) throw new GapError()
    if (record !== undefined) {
      const { changes } = record
      const next = position.put({ cluster, sequence, term: record.term })
      await engine.replica.apply(changes, record.pooled, () => local.batch([...changes, next]))
      beginTerm(record.term, record.leader)
      applied = sequence
    }
    reach(sequence)
  }

  async function startReading(): Promise<void> {
    if (isLeaving) return
    tail = applied
    const started = await log.follow(applied + 1, take)
    reading = started
    started.ended.then(
      () => resume(started, undefined),
      (error) => resume(started, error),
    )
  }

  async function stopReading(): Promise<void> {
    const stopped = reading
    reading = undefined
    await stopped?.stop()
  }

  /** Reads on after reading has ended without a request, from a snapshot where the log no longer has what is next. */
  function resume(ended: Reading, error: unknown): void {
    if (reading !== ended || isLeaving) return
    void transitions.enqueue(async () => {
      if (reading !== ended) return
      reading = undefined
      if (error instanceof GapError) await retried(bootstrap)
      else if (error !== undefined) logger.error('a record of the cluster cannot be taken over', { error })
      await retried(startReading)
    })
  }

  async function bootstrap(): Promise<void> {
    logger.info("the cluster's log has dropped what this node lacks: it loads a snapshot")
    await engine.replica.replaceTables(async () => {
      const loaded = await parts.loadSnapshot()
      applied = loaded.sequence
      term = loaded.term
    })
  }

  async function retried(step: () => Promise<void>): Promise<void> {
    while (!isLeaving) {
      try {
        return await step()
      } catch (error) {
        logger.debug('the cluster does not answer', { error })
        await pause(RETRY_MS)
      }
    }
  }

  const holdsLease = () => lease !== undefined && performance.now() < lease.heldUntil

  /** Reads the log to its end and begins a term. */
  async function takeOver(): Promise<void> {
    while (role !== 'leader' && holdsLease() && !isLeaving) {
      try {
        const { last } = await log.bounds()
        if (!(await reached(last, 1_000))) continue
        await stopReading()
        if (isFull) {
          await parts.makeRoom()
          isFull = false
        }
        const wasLeader = leader === id
        const first: LogRecord = { term: term + 1, leader: id, pooled: [], changes: [] }
        const sequence = await log.append(first, tail)
        await local.batch([position.put({ cluster, sequence, term: first.term })])
        beginTerm(first.term, id)
        applied = sequence
        reach(sequence)
        role = 'leader'
        elections++
        await engine.replica.lead(wasLeader)
        logger.info('this node leads the cluster', { term })
        parts.compact()
      } catch (error) {
        role = 'follower'
        isFull ||= error instanceof AppendError && error.failure === 'full'
        logger.debug('this node could not begin to lead', { error })
        if (reading === undefined) await retried(startReading)
        await pause(RETRY_MS)
      }
    }
  }

  /** Follows from now on; leads again as soon as it may. */
  function stepDown(): void {
    if (role !== 'leader') return
    role = 'follower'
    pooled.length = 0
    void transitions.enqueue(async () => {
      await engine.replica.follow()
      await retried(startReading)
      logger.info('this node follows the leader of the cluster', { term })
      await takeOver()
    })
  }

  function requireLeader(): void {
    if (isLeaving) throw tryAgain('This node leaves the cluster')
    if (role !== 'leader') throw tryAgain('This node does not lead the cluster')
  }

  /** One record at a time. */
  function append(changes: readonly Change[], write: (position: Write) => Promise<void>): Promise<void> {
    return records.enqueue(async () => {
      requireLeader()
      try {
        const record = { term, leader: id, pooled: pooled.splice(0), changes: changes.filter(isShared) }
        const sequence = await log.append(record, tail)
        await write(position.put({ cluster, sequence, term }))
        applied = sequence
        reach(sequence)
      } catch (error) {
        logger.warn('a record was not appended to the log of the cluster', { error })
        isFull = error instanceof AppendError && error.failure === 'full'
        stepDown()
        throw refusalOf(error)
      }
    })
  }

  // The client's own attempts to continue after the end of a server take up to a minute.
  const watching = setInterval(() => {
    const stuck = reading
    if (stuck?.isStuck !== true) return
    void transitions.enqueue(async () => {
      if (reading !== stuck || !stuck.isStuck) return
      await stopReading()
      await retried(startReading)
    })
  }, WATCH_MS)
  watching.unref()

  let feeding: NodeJS.Timeout | undefined
  const stopListening = engine.events.on('pool', ({ added }) => {
    if (role !== 'leader') return
    pooled.push(...added)
    clearTimeout(feeding)
    feeding = setTimeout(() => {
      if (pooled.length > 0) append([], (next) => local.batch([next])).catch(() => {})
    }, FEED_MS)
  })

  await startReading()
  if (parts.role !== 'follower') {
    lease = createLease({
      bucket: parts.presence,
      node: id,
      onHeld: () => void transitions.enqueue(takeOver),
      onLost: stepDown,
    })
  }

  return {
    get role() {
      return role
    },
    get term() {
      return term
    },
    get leader() {
      return leader
    },
    get sequence() {
      return tail
    },
    get isCurrent() {
      return role === 'leader' || reading?.isLive === true
    },
    get leadsUntil() {
      return role === 'leader' ? (lease?.heldUntil ?? 0) : 0
    },
    get elections() {
      return elections
    },
    requireLeader,
    noteLeader(node, inTerm) {
      if (role === 'follower' && inTerm >= term) leader = node
    },
    async replicate(changes, write) {
      await append(changes, write)
      parts.compact()
    },
    reached,
    termSignal: () => ofTerm.signal,
    betweenRecords: (step) => records.enqueue(() => step({ sequence: tail, term })),
    async leave() {
      isLeaving = true
      clearTimeout(feeding)
      clearInterval(watching)
      stopListening()
      if (role === 'leader') await engine.replica.follow()
      await records.idle()
      role = 'follower'
      await lease?.stop()
      await transitions.idle()
      await stopReading()
    },
  }
}
