/** A node in its cluster: a follower, or the leader that appends to the log; it changes between the two with the lease. */
import type { Transaction } from '../chain/transaction.ts'
import type { Engine } from '../engine/engine.ts'
import { createSerialQueue } from '../engine/serial-queue.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { isShared } from '../store/replicated-tables.ts'
import type { Change, Write } from '../store/table.ts'
import type { LogPosition } from '../store/tables.ts'
import type { Store } from '../store/write-behind.ts'
import type { Bucket } from './jetstream.ts'
import { Lease } from './lease.ts'
import { AppendError, type Log } from './log.ts'
import type { Role, RoleOption } from './model.ts'
import { createReader } from './reader.ts'
import type { LogRecord } from './record.ts'

interface Parts {
  readonly id: string
  readonly role: RoleOption
  readonly log: Log
  /** Bucket of the lease. */
  readonly presence: Bucket
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
  /** What last kept this node from leading, other than another leader. */
  readonly obstacle: unknown
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
  /** Runs a step while no record is written, with the position that the tables are at. Throws `overloaded` on a follower. */
  betweenRecords<T>(step: (position: { sequence: number; term: number }) => Promise<T>): Promise<T>
  /** Lets the running command end, gives up the lease and stops reading. */
  leave(): Promise<void>
}

/** Transactions that became runnable after the last record are sent after this time without another, milliseconds. */
const FEED_MS = 10
const RETRY_MS = 100

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds).unref())

/** An error after which the caller tries again. */
export function tryAgain(message: string): NodeError {
  return new NodeError('overloaded', `${message}; try again`)
}

/** The error of a change that is in the log, and that this node could not write to its tables. */
function unwritten(error: unknown): unknown {
  if (!(error instanceof NodeError) || error.kind !== 'storage') return error
  return tryAgain(
    "The leader cannot write to its disk, and the change is in the cluster's log: the next leader has it; look for it",
  )
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
  let elections = 0
  let obstacle: unknown
  let isLeaving = false
  /** Is an attempt to lead in the queue? */
  let isTrying = false
  /** Is a step down in the queue? Until it is done the node may not lead again. */
  let isSteppingDown = false
  /** Did the log refuse the last record for want of room? */
  let isFull = false
  let lease: Lease | undefined
  let ofTerm = new AbortController()
  const pooled: Transaction[] = []
  const transitions = createSerialQueue()
  const records = createSerialQueue()

  function beginTerm(next: number, by: string | undefined): void {
    leader = by
    if (next === term) return
    term = next
    ofTerm.abort()
    ofTerm = new AbortController()
  }

  const reader = createReader({
    log,
    applied: stored?.sequence ?? 0,
    enqueue: transitions.enqueue,
    logger,
    async apply({ changes, pooled, ...record }, sequence) {
      const next = position.put({ cluster, sequence, term: record.term })
      await engine.replica.apply(changes, pooled, () => local.batch([...changes, next]))
      beginTerm(record.term, record.leader)
    },
    async loadSnapshot() {
      let applied = 0
      await engine.replica.replaceTables(async () => {
        const loaded = await parts.loadSnapshot()
        applied = loaded.sequence
        if (loaded.term !== term) beginTerm(loaded.term, undefined)
      })
      return applied
    },
  })

  const holdsLease = () => lease !== undefined && performance.now() < lease.heldUntil

  /** Takes over behind the steps that are in the queue, of which one may be the same. */
  function tryToLead(): void {
    if (isTrying) return
    isTrying = true
    void transitions.enqueue(() => {
      isTrying = false
      return takeOver()
    })
  }

  /** Reads the log to its end and begins a term. */
  async function takeOver(): Promise<void> {
    while (role !== 'leader' && !isSteppingDown && holdsLease() && !isLeaving) {
      try {
        if (local.failure !== undefined) throw local.failure
        const { last } = await log.bounds()
        if (!(await reader.reached(last, 1_000))) {
          // What keeps the reader from it, such as a snapshot to be loaded, is a step of the same queue.
          tryToLead()
          return
        }
        await reader.stop()
        if (isFull) {
          await parts.makeRoom()
          isFull = false
        }
        const wasLeader = leader === id
        const first: LogRecord = { term: term + 1, leader: id, pooled: [], changes: [] }
        const sequence = await log.append(first, reader.sequence)
        await local.batch([position.put({ cluster, sequence, term: first.term })])
        beginTerm(first.term, id)
        reader.appended(sequence)
        role = 'leader'
        elections++
        await engine.replica.lead(wasLeader)
        logger.info('this node leads the cluster', { term })
        parts.compact()
      } catch (error) {
        role = 'follower'
        obstacle = error
        isFull ||= error instanceof AppendError && error.failure === 'full'
        logger.debug('this node could not begin to lead', { error })
        if (!reader.isReading) await reader.restart()
        await pause(RETRY_MS)
      }
    }
  }

  /** Drops what only a leader has; a database that is being opened again refuses to be read for a while. */
  async function followReplica(): Promise<void> {
    while (!isLeaving) {
      try {
        return await engine.replica.follow()
      } catch (error) {
        logger.debug('this node cannot read its database', { error })
        await pause(RETRY_MS)
      }
    }
  }

  /** Follows from now on; leads again as soon as it may. */
  function stepDown(): void {
    if (role !== 'leader') return
    role = 'follower'
    isSteppingDown = true
    pooled.length = 0
    void transitions.enqueue(async () => {
      isSteppingDown = false
      // A record on its way may be in the log: reading begins behind it, or its changes would come after newer ones.
      await records.idle()
      await followReplica()
      await reader.restart()
      logger.info('this node follows the leader of the cluster', { term })
      tryToLead()
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
        // What this node cannot write, it does not put into the log either.
        if (local.failure !== undefined) throw local.failure
        const record = { term, leader: id, pooled: pooled.splice(0), changes: changes.filter(isShared) }
        const sequence = await log.append(record, reader.sequence)
        await write(position.put({ cluster, sequence, term })).catch((error) => {
          throw unwritten(error)
        })
        reader.appended(sequence)
      } catch (error) {
        logger.warn('a record was not appended to the log of the cluster', { error })
        isFull = error instanceof AppendError && error.failure === 'full'
        stepDown()
        throw refusalOf(error)
      }
    })
  }

  let feeding: NodeJS.Timeout | undefined
  const stopListening = engine.events.on('pool', ({ added }) => {
    if (role !== 'leader') return
    pooled.push(...added)
    clearTimeout(feeding)
    feeding = setTimeout(() => {
      if (pooled.length > 0) append([], (next) => local.batch([next])).catch(() => {})
    }, FEED_MS)
  })

  await reader.start()
  if (parts.role !== 'follower') {
    lease = new Lease({
      bucket: parts.presence,
      node: id,
      obstacle: () => local.failure,
      onHeld: tryToLead,
      onLost: stepDown,
      onFailed(reason) {
        obstacle = reason
      },
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
      return reader.sequence
    },
    get isCurrent() {
      return role === 'leader' || reader.isLive
    },
    get leadsUntil() {
      return role === 'leader' ? (lease?.heldUntil ?? 0) : 0
    },
    get elections() {
      return elections
    },
    get obstacle() {
      return obstacle
    },
    requireLeader,
    noteLeader(node, inTerm) {
      if (role === 'follower' && inTerm >= term) leader = node
    },
    async replicate(changes, write) {
      await append(changes, write)
      parts.compact()
    },
    reached: reader.reached,
    termSignal: () => ofTerm.signal,
    betweenRecords: (step) =>
      records.enqueue(async () => {
        // A follower may have read a part of a record: its tables are not those of the last message.
        if (!reader.isAtRest) throw tryAgain('This node follows the leader of the cluster')
        return step({ sequence: reader.sequence, term })
      }),
    async leave() {
      isLeaving = true
      reader.end()
      clearTimeout(feeding)
      stopListening()
      if (role === 'leader') await engine.replica.follow()
      await records.idle()
      role = 'follower'
      await lease?.stop()
      await transitions.idle()
      await reader.stop()
    },
  }
}
