/** A node in its cluster: a follower, or the leader that appends to the log; it changes between the two with the lease. */
import type { Transaction } from '../chain/transaction.ts'
import type { Engine } from '../engine/engine.ts'
import { createSerialQueue } from '../engine/serial-queue.ts'
import type { Logger } from '../logger.ts'
import { isShared } from '../store/replicated-tables.ts'
import type { Change, Write } from '../store/table.ts'
import type { LogPosition } from '../store/tables.ts'
import type { Store } from '../store/write-behind.ts'
import type { Bucket } from './jetstream.ts'
import { Lease } from './lease.ts'
import type { Log } from './log.ts'
import type { Role, RoleOption } from './model.ts'
import { pause } from './pause.ts'
import { Reader } from './reader.ts'
import type { LogRecord } from './record.ts'
import { isOutOfRoom, refusalOf, tryAgain, unwritten } from './refusals.ts'

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

/** Transactions that became runnable after the last record are sent after this time without another, milliseconds. */
const FEED_MS = 10
const RETRY_MS = 100

/** A node in its cluster. */
export class Member {
  readonly #parts: Parts
  readonly #reader: Reader
  readonly #transitions = createSerialQueue()
  readonly #records = createSerialQueue()
  readonly #stopListening: () => void
  #role: Role = 'follower'
  #term: number
  #leader: string | undefined
  #elections = 0
  #obstacle: unknown
  #isLeaving = false
  /** Is an attempt to lead in the queue? */
  #isTrying = false
  /** Is a step down in the queue? Until it is done the node may not lead again. */
  #isSteppingDown = false
  /** Did the log refuse the last record because it is full? */
  #isFull = false
  #lease: Lease | undefined
  #ofTerm = new AbortController()
  /** Transactions that became runnable since the last record. */
  readonly #pooled: Transaction[] = []
  #feeding: NodeJS.Timeout | undefined

  private constructor(parts: Parts) {
    this.#parts = parts
    const stored = parts.position.get()
    this.#term = stored?.term ?? 0
    this.#reader = new Reader({
      log: parts.log,
      applied: stored?.sequence ?? 0,
      enqueue: this.#transitions.enqueue,
      logger: parts.logger,
      apply: (record, sequence) => this.#apply(record, sequence),
      loadSnapshot: () => this.#loadSnapshot(),
    })
    const { events } = parts.engine
    const stops = [
      events.on('admitted', ({ added }) => this.#feed(added)),
      events.on('pool', ({ added, wasAdmitted }) => {
        if (wasAdmitted !== true) this.#feed(added)
      }),
    ]
    this.#stopListening = () => {
      for (const stop of stops) stop()
    }
  }

  /** Begins to follow the log, and to try for the lease unless the node only follows. */
  static async start(parts: Parts): Promise<Member> {
    const member = new Member(parts)
    await member.#reader.start()
    if (parts.role !== 'follower') member.#wantLease()
    return member
  }

  get role(): Role {
    return this.#role
  }

  get term(): number {
    return this.#term
  }

  /** Id of the node that leads in this term; `undefined` before the first. */
  get leader(): string | undefined {
    return this.#leader
  }

  /** Sequence of the last message of the log that this node has read or appended. */
  get sequence(): number {
    return this.#reader.sequence
  }

  /** Do new records of the log arrive here promptly? */
  get isCurrent(): boolean {
    return this.#role === 'leader' || this.#reader.isLive
  }

  /** `performance.now()` until which no other node can lead; 0 on a follower. */
  get leadsUntil(): number {
    return this.#role === 'leader' ? (this.#lease?.heldUntil ?? 0) : 0
  }

  get elections(): number {
    return this.#elections
  }

  /** What last kept this node from leading, other than another leader. */
  get obstacle(): unknown {
    return this.#obstacle
  }

  /** Throws `overloaded` unless this node leads. */
  requireLeader(): void {
    if (this.#isLeaving) throw tryAgain('This node leaves the cluster')
    if (this.#role !== 'leader') throw tryAgain('This node does not lead the cluster')
  }

  /** Notes that a node leads in a term, whose first record this node may not have read. */
  noteLeader(node: string, inTerm: number): void {
    if (this.#role === 'follower' && inTerm >= this.#term) this.#leader = node
  }

  /** Appends changes, then runs `write` with the write of the new position. Throws `overloaded`; then nothing is written. */
  async replicate(changes: readonly Change[], write: (position: Write) => Promise<void>): Promise<void> {
    await this.#append(changes, write)
    this.#parts.compact()
  }

  /** Resolves to true once the node has read or appended a message, to false after so many milliseconds. */
  reached(sequence: number, milliseconds: number): Promise<boolean> {
    return this.#reader.reached(sequence, milliseconds)
  }

  /** Aborts when another term begins: the leader of the present one no longer answers. */
  termSignal(): AbortSignal {
    return this.#ofTerm.signal
  }

  /** Runs a step while no record is written, with the position that the tables are at. Throws `overloaded` on a follower. */
  betweenRecords<T>(step: (position: { sequence: number; term: number }) => Promise<T>): Promise<T> {
    return this.#records.enqueue(async () => {
      // A follower may have read a part of a record: its tables are not those of the last message.
      if (!this.#reader.isAtRest) throw tryAgain('This node follows the leader of the cluster')
      return step({ sequence: this.#reader.sequence, term: this.#term })
    })
  }

  /** Lets the running command end, gives up the lease and stops reading. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    this.#reader.end()
    clearTimeout(this.#feeding)
    this.#stopListening()
    if (this.#role === 'leader') await this.#parts.engine.replica.follow()
    await this.#records.idle()
    this.#role = 'follower'
    await this.#lease?.stop()
    await this.#transitions.idle()
    await this.#reader.stop()
  }

  #wantLease(): void {
    const { presence, id, local } = this.#parts
    this.#lease = new Lease({
      bucket: presence,
      node: id,
      obstacle: () => local.failure,
      onHeld: () => this.#tryToLead(),
      onLost: () => this.#stepDown(),
      onFailed: (reason) => {
        this.#obstacle = reason
      },
    })
  }

  #beginTerm(next: number, by: string | undefined): void {
    this.#leader = by
    if (next === this.#term) return
    this.#term = next
    this.#ofTerm.abort()
    this.#ofTerm = new AbortController()
  }

  async #apply({ changes, pooled, term, leader }: LogRecord, sequence: number): Promise<void> {
    const { position, cluster, engine, local } = this.#parts
    const next = position.put({ cluster, sequence, term })
    await engine.replica.apply(changes, pooled, () => local.batch([...changes, next]))
    this.#beginTerm(term, leader)
  }

  async #loadSnapshot(): Promise<number> {
    let applied = 0
    await this.#parts.engine.replica.replaceTables(async () => {
      const loaded = await this.#parts.loadSnapshot()
      applied = loaded.sequence
      if (loaded.term !== this.#term) this.#beginTerm(loaded.term, undefined)
    })
    return applied
  }

  #holdsLease(): boolean {
    return this.#lease !== undefined && performance.now() < this.#lease.heldUntil
  }

  /** Queues an attempt to lead, unless one is queued already. */
  #tryToLead(): void {
    if (this.#isTrying) return
    this.#isTrying = true
    void this.#transitions.enqueue(() => {
      this.#isTrying = false
      return this.#takeOver()
    })
  }

  /** Reads the log to its end and begins a term. */
  async #takeOver(): Promise<void> {
    while (this.#role !== 'leader' && !this.#isSteppingDown && this.#holdsLease() && !this.#isLeaving) {
      try {
        const { local, log } = this.#parts
        if (local.failure !== undefined) throw local.failure
        const { last } = await log.bounds()
        if (!(await this.#reader.reached(last, 1_000))) {
          // The reader may need another step of this queue first, such as loading a snapshot.
          this.#tryToLead()
          return
        }
        await this.#reader.stop()
        await this.#lead()
      } catch (error) {
        this.#role = 'follower'
        this.#obstacle = error
        this.#isFull ||= isOutOfRoom(error)
        this.#parts.logger.debug('this node could not begin to lead', { error })
        if (!this.#reader.isReading) await this.#reader.restart()
        await pause(RETRY_MS)
      }
    }
  }

  /** Begins a term with a record of its own. */
  async #lead(): Promise<void> {
    const { id, log, local, position, cluster, engine, logger } = this.#parts
    if (this.#isFull) {
      await this.#parts.makeRoom()
      this.#isFull = false
    }
    const wasLeader = this.#leader === id
    const first: LogRecord = { term: this.#term + 1, leader: id, pooled: [], changes: [] }
    const sequence = await log.append(first, this.#reader.sequence)
    await local.batch([position.put({ cluster, sequence, term: first.term })])
    this.#beginTerm(first.term, id)
    this.#reader.appended(sequence)
    this.#role = 'leader'
    this.#elections++
    await engine.replica.lead(wasLeader)
    logger.info('this node leads the cluster', { term: this.#term })
    this.#parts.compact()
  }

  /** Drops what only a leader has. A database that is being opened again refuses reads for a while. */
  async #followReplica(): Promise<void> {
    while (!this.#isLeaving) {
      try {
        return await this.#parts.engine.replica.follow()
      } catch (error) {
        this.#parts.logger.debug('this node cannot read its database', { error })
        await pause(RETRY_MS)
      }
    }
  }

  /** Follows from now on, and tries to lead again. */
  #stepDown(): void {
    if (this.#role !== 'leader') return
    this.#role = 'follower'
    this.#isSteppingDown = true
    this.#pooled.length = 0
    void this.#transitions.enqueue(async () => {
      this.#isSteppingDown = false
      // A record on its way may be in the log: reading begins behind it, or its changes would come after newer ones.
      await this.#records.idle()
      await this.#followReplica()
      await this.#reader.restart()
      this.#parts.logger.info('this node follows the leader of the cluster', { term: this.#term })
      this.#tryToLead()
    })
  }

  /** One record at a time. */
  #append(changes: readonly Change[], write: (position: Write) => Promise<void>): Promise<void> {
    const { id, log, local, position, cluster, logger } = this.#parts
    return this.#records.enqueue(async () => {
      this.requireLeader()
      try {
        // A change that this node cannot write must not get into the log.
        if (local.failure !== undefined) throw local.failure
        const term = this.#term
        const record = { term, leader: id, pooled: this.#pooled.splice(0), changes: changes.filter(isShared) }
        const sequence = await log.append(record, this.#reader.sequence)
        await write(position.put({ cluster, sequence, term: this.#term })).catch((error) => {
          throw unwritten(error)
        })
        this.#reader.appended(sequence)
      } catch (error) {
        logger.warn('a record was not appended to the log of the cluster', { error })
        this.#isFull = isOutOfRoom(error)
        this.#stepDown()
        throw refusalOf(error)
      }
    })
  }

  /** Sends transactions that became runnable, with the next record, or in one of their own where none follows soon. */
  #feed(added: readonly Transaction[]): void {
    if (this.#role !== 'leader') return
    for (const transaction of added) this.#pooled.push(transaction)
    clearTimeout(this.#feeding)
    this.#feeding = setTimeout(() => {
      if (this.#pooled.length === 0) return
      this.#append([], (next) => this.#parts.local.batch([next])).catch(() => {})
    }, FEED_MS)
  }
}
