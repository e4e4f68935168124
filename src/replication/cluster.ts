/** Joins a node to its cluster: checks, snapshot, the replicating store, the log, and the calls between nodes. */
import { randomBytes } from 'node:crypto'
import { jetstream } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import { Objm } from '@nats-io/obj'
import { errors } from '@nats-io/transport-node'
import { toHex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { hasBlocks } from '../store/replicated-tables.ts'
import { logPosition } from '../store/tables.ts'
import type { Store } from '../store/write-behind.ts'
import { answerCalls } from './calls.ts'
import {
  type ClusterIdentity,
  makeClusterIdentity,
  type OwnIdentity,
  readClusterIdentity,
  requireSameChain,
  requireSameGenesis,
} from './facts.ts'
import { createForwarding, type Forwarding } from './forwarding.ts'
import { LEASE_MS } from './lease.ts'
import { type Link, type LinkOptions, openLink } from './link.ts'
import { type Log, openLog } from './log.ts'
import { Member } from './member.ts'
import { createReading } from './messages.ts'
import type { AnswerCall, ClusterHealth, RoleOption } from './model.ts'
import { type Names, namesOf } from './names.ts'
import { Presence } from './presence.ts'
import { tryAgain } from './refusals.ts'
import { createReplicatedStore, type ReplicatedStore } from './replicated-store.ts'
import { Compaction, needsSnapshot, Snapshots } from './snapshots.ts'
import { untilReady, waitFor } from './start.ts'

/** The cluster that a node joins. */
export interface ClusterOptions extends LinkOptions {
  readonly name: string
  readonly role: RoleOption
  /** Seconds of lag beyond which a node is not ready. */
  readonly maxLag: number
  /** Most bytes of the log, and copies of log, buckets and snapshots, where this node makes them. */
  readonly logBytes: number
  readonly replicas: number
}

/** What a node is before it has an engine. */
export interface Joining {
  /** Of this node: eight hex digits. */
  readonly id: string
  /** Replicates once the node has joined. */
  readonly store: Store
  /** Timestamp of the cluster's block 0; `undefined` in a new cluster. */
  readonly genesisTime: number | undefined
  /** Throws `overloaded` unless this node leads. */
  admitCommand(): void
  /** Joins with the engine over the store; resolves once the node is up to date, and leads if it has to. Throws `cluster`. */
  join(engine: Engine, answer: AnswerCall): Promise<Cluster>
  /** For a node that does not start. */
  cancel(): Promise<void>
}

/** The cluster as a node of it sees it. */
export interface Cluster {
  /** Of this node: eight hex digits. */
  readonly id: string
  readonly isLeader: boolean
  /** End of the log as far as this node has applied it. */
  readonly sequence: number
  /** Resolves to true once this node has applied so much of the log, to false after so many milliseconds. */
  reached(sequence: number, milliseconds: number): Promise<boolean>
  readonly call: Forwarding['call']
  health(): ClusterHealth
  /** Lets the running command end, hands the lease over and disconnects. */
  leave(): Promise<void>
}

/** Longest wait of a request to a bucket: a lease has to be lost in time. */
const BUCKET_MS = 1_000

function refused(message: string): NodeError {
  return new NodeError('cluster', message)
}

async function openBuckets(link: Link, names: Names, replicas: number): Promise<{ facts: KV; presence: KV }> {
  const kvm = new Kvm(jetstream(link.connection, { timeout: BUCKET_MS }))
  const facts = await kvm.create(names.facts, { history: 1, replicas })
  return { facts, presence: await kvm.create(names.presence, { history: 1, replicas, ttl: LEASE_MS }) }
}

/** What NATS holds of a cluster, opened. */
interface Opened {
  readonly facts: KV
  readonly presence: KV
  readonly log: Log
  /** `undefined` in a new cluster. */
  readonly found: ClusterIdentity | undefined
}

/** What a node joins with, before it knows whether there is a cluster. */
interface Parts {
  readonly options: ClusterOptions
  readonly own: OwnIdentity
  readonly local: Store
  readonly logger: Logger
  readonly link: Link
  readonly names: Names
  readonly position: ReturnType<typeof logPosition>
}

/**
 * Connects a node whose database is open, and loads a snapshot where the log lacks what the database does. Throws
 * `cluster` in a sentence; the database is left as it is then.
 */
export async function openCluster(
  options: ClusterOptions,
  own: OwnIdentity,
  local: Store,
  logger: Logger,
): Promise<Joining> {
  const link = await openLink(options)
  const position = logPosition(local)
  const parts = { options, own, local, logger, link, names: namesOf(options.name), position }
  try {
    const opened = await waitFor(
      () => openInTime(parts),
      `JetStream does not open the streams of the cluster ${options.name},`,
    )
    if (opened.found !== undefined) await bootstrap(parts, opened, opened.found)
    return new ClusterJoining(parts, opened)
  } catch (error) {
    await link.close()
    throw link.refusal(error)
  }
}

/** Servers that have just formed a NATS cluster take longer to create a stream than a request waits: then `undefined`. */
async function openInTime(parts: Parts): Promise<Opened | undefined> {
  try {
    return await openStreams(parts)
  } catch (error) {
    if (error instanceof errors.TimeoutError) return undefined
    throw error
  }
}

async function openStreams(parts: Parts): Promise<Opened> {
  const { options, link, names } = parts
  const { name, replicas, logBytes } = options
  const { facts, presence } = await openBuckets(link, names, replicas)
  const log = await openLog(link, names, { maxBytes: logBytes, replicas })
  const found =
    options.role === 'follower'
      ? await waitFor(() => readClusterIdentity(facts), `The cluster ${name} has no leader yet,`)
      : await readClusterIdentity(facts)
  if (found !== undefined) await requireSameCluster(parts, found, log)
  return { facts, presence, log, found }
}

/** Refuses a data directory that does not belong to the cluster. */
async function requireSameCluster(
  { options: { name }, own, local, position }: Parts,
  found: ClusterIdentity,
  log: Log,
): Promise<void> {
  requireSameChain(name, found, own)
  const stored = position.get()
  if (stored === undefined) {
    if (await hasBlocks(local)) throw hasOtherChain(name)
    return
  }
  if (stored.cluster !== found.cluster) {
    throw refused(
      `The data directory follows another cluster than the present ${name}. Choose another directory.`,
    )
  }
  if (stored.sequence > (await log.bounds()).last) {
    throw refused(
      `The log of the cluster ${name} ends before the data directory does: NATS has lost a part of it.`,
    )
  }
}

function hasOtherChain(name: string): NodeError {
  return refused(
    `The data directory has a chain of its own, which is not that of the cluster ${name}. Choose an empty directory.`,
  )
}

async function openSnapshots(parts: Parts, facts: KV, { cluster }: ClusterIdentity): Promise<Snapshots> {
  const { link, names, options, local, position } = parts
  const objects = await new Objm(link.connection).create(names.snapshots, { replicas: options.replicas })
  return new Snapshots({ facts, objects, local, position, cluster })
}

/** Loads a snapshot unless the log has all that the database lacks. */
async function bootstrap(parts: Parts, { facts, log }: Opened, identity: ClusterIdentity): Promise<void> {
  const { first } = await log.bounds()
  if (!needsSnapshot(parts.position.get(), identity.base, first)) return
  const snapshots = await openSnapshots(parts, facts, identity)
  await waitFor(() => snapshots.latest(), `The cluster ${parts.options.name} has no snapshot to begin with,`)
  await snapshots.load()
}

class ClusterJoining implements Joining {
  readonly id = toHex(randomBytes(4)).slice(2)
  readonly store: ReplicatedStore
  readonly #parts: Parts
  readonly #opened: Opened
  #member: Member | undefined

  constructor(parts: Parts, opened: Opened) {
    this.#parts = parts
    this.#opened = opened
    this.store = createReplicatedStore(parts.local)
  }

  get genesisTime(): number | undefined {
    return this.#opened.found?.genesisTime
  }

  /** A function by itself: the engine's commands take it. */
  readonly admitCommand = (): void => {
    if (this.#member === undefined) throw tryAgain('This node has not joined its cluster yet')
    this.#member.requireLeader()
  }

  async join(engine: Engine, answer: AnswerCall): Promise<Cluster> {
    const { link, options } = this.#parts
    try {
      const member = await this.#startMember(engine, await this.#agree(engine))
      this.#member = member
      this.store.replicateBy((changes, write) => member.replicate(changes, write))
      const cluster = this.#connect(member, engine, answer)
      try {
        await untilReady(options, member, (await this.#opened.log.bounds()).last)
      } catch (error) {
        await cluster.leave()
        throw error
      }
      return cluster
    } catch (error) {
      throw link.refusal(error)
    }
  }

  cancel(): Promise<void> {
    return this.#parts.link.close()
  }

  /** The identity of the cluster, which the first node makes. Throws where the chain is another one. */
  async #agree(engine: Engine): Promise<ClusterIdentity> {
    const { options, own, local, position } = this.#parts
    const { facts, found } = this.#opened
    const { genesis } = engine.replica
    const head = engine.queries.head()
    const hasOwnChain = head.hash !== genesis.hash || head.postState !== genesis.postState
    const { identity, isOwn } =
      found === undefined
        ? await makeClusterIdentity(facts, {
            ...own,
            genesis: genesis.hash,
            genesisTime: genesis.block.header.timestamp,
            base: hasOwnChain ? 'snapshot' : 'genesis',
          })
        : { identity: found, isOwn: false }
    requireSameChain(options.name, identity, own)
    requireSameGenesis(options.name, identity, genesis.hash)
    if (isOwn) await local.batch([position.put({ cluster: identity.cluster, sequence: 0, term: 0 })])
    else if (position.get() === undefined && (hasOwnChain || identity.base === 'snapshot')) {
      throw hasOtherChain(options.name)
    }
    return identity
  }

  async #startMember(engine: Engine, identity: ClusterIdentity): Promise<Member> {
    const { options, local, position, logger } = this.#parts
    const { facts, presence, log } = this.#opened
    const snapshots = await openSnapshots(this.#parts, facts, identity)
    const compaction = new Compaction({
      snapshots,
      log,
      logBytes: options.logBytes,
      needsFirst: identity.base === 'snapshot',
      logger,
      betweenRecords: (step) => {
        if (this.#member === undefined) throw new Error('the node has not joined yet')
        return this.#member.betweenRecords(step)
      },
    })
    return Member.start({
      id: this.id,
      role: options.role,
      log,
      presence,
      local,
      position,
      cluster: identity.cluster,
      engine,
      logger,
      loadSnapshot: () => snapshots.load(),
      compact: () => compaction.compact(),
      makeRoom: () => compaction.makeRoom(),
    })
  }

  /** Announces the node to the others, answers their calls, and calls them. */
  #connect(member: Member, engine: Engine, answer: AnswerCall): Cluster {
    const { id } = this
    const { link, names, options, logger } = this.#parts
    const reading = createReading(logger)
    const calls = answerCalls(link, names.calls(id), answer, () => member.sequence, reading)
    const presence = new Presence({ link, names, bucket: this.#opened.presence, id, member, engine, reading })
    const clockOf = (node: string) => presence.clockOf(node)
    const forwarding = createForwarding({ link, names, id, member, clockOf, reading })
    return {
      id,
      get isLeader() {
        return member.role === 'leader'
      },
      get sequence() {
        return member.sequence
      },
      reached: (sequence, milliseconds) => member.reached(sequence, milliseconds),
      call: forwarding.call,
      health() {
        const { role, term, elections } = member
        const lag = presence.lag()
        const isLate = lag > options.maxLag
        return { id, role, term, lag, isLate, figures: { elections, ...forwarding.figures } }
      },
      async leave() {
        await member.leave()
        presence.stop()
        calls.unsubscribe()
        await link.connection.flush().catch(() => {})
        await link.close()
      },
    }
  }
}
