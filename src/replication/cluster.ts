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
import { openLog } from './log.ts'
import { type Member, startMember, tryAgain } from './member.ts'
import { createReading } from './messages.ts'
import type { AnswerCall, ClusterHealth, RoleOption } from './model.ts'
import { namesOf } from './names.ts'
import { createPresence } from './presence.ts'
import { createReplicatedStore } from './replicated-store.ts'
import { createCompaction, createSnapshots, needsSnapshot, type Snapshots } from './snapshots.ts'
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

async function openBuckets(
  link: Link,
  names: ReturnType<typeof namesOf>,
  replicas: number,
): Promise<{ facts: KV; presence: KV }> {
  const kvm = new Kvm(jetstream(link.connection, { timeout: BUCKET_MS }))
  const facts = await kvm.create(names.facts, { history: 1, replicas })
  return { facts, presence: await kvm.create(names.presence, { history: 1, replicas, ttl: LEASE_MS }) }
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
  const { name, replicas } = options
  const names = namesOf(name)
  const link = await openLink(options)
  const store = createReplicatedStore(local)
  const position = logPosition(local)
  const id = toHex(randomBytes(4)).slice(2)
  let member: Member | undefined
  const ownChain = () =>
    refused(
      `The data directory has a chain of its own, which is not that of the cluster ${name}. Choose an empty directory.`,
    )

  const open = async () => {
    const { facts, presence } = await openBuckets(link, names, replicas)
    const log = await openLog(link, names, { maxBytes: options.logBytes, replicas })
    const found =
      options.role === 'follower'
        ? await waitFor(() => readClusterIdentity(facts), `The cluster ${name} has no leader yet,`)
        : await readClusterIdentity(facts)
    if (found !== undefined) {
      requireSameChain(name, found, own)
      const stored = position.get()
      if (stored === undefined && (await hasBlocks(local))) throw ownChain()
      if (stored !== undefined && stored.cluster !== found.cluster) {
        throw refused(
          `The data directory follows another cluster than the present ${name}. Choose another directory.`,
        )
      }
      if (stored !== undefined && stored.sequence > (await log.bounds()).last) {
        throw refused(
          `The log of the cluster ${name} ends before the data directory does: NATS has lost a part of it.`,
        )
      }
    }
    return { facts, presence, log, found }
  }

  const snapshotsOf = async (facts: KV, { cluster }: ClusterIdentity): Promise<Snapshots> => {
    const objects = await new Objm(link.connection).create(names.snapshots, { replicas })
    return createSnapshots({ facts, objects, local, position, cluster })
  }

  // Servers that have just formed a NATS cluster need longer to create a stream than a request waits; it is there the
  // next time.
  const openInTime = () =>
    open().catch((error) => {
      if (error instanceof errors.TimeoutError) return undefined
      throw error
    })
  const { facts, presence, log, found } = await waitFor(
    openInTime,
    `JetStream does not open the streams of the cluster ${name},`,
  ).catch(async (error) => {
    await link.close()
    throw link.refusal(error)
  })

  /** Loads a snapshot unless the log has all that the database lacks. */
  async function bootstrap(identity: ClusterIdentity): Promise<void> {
    const { first } = await log.bounds()
    if (!needsSnapshot(position.get(), identity.base, first)) return
    const snapshots = await snapshotsOf(facts, identity)
    await waitFor(() => snapshots.latest(), `The cluster ${name} has no snapshot to begin with,`)
    await snapshots.load()
  }

  if (found !== undefined) {
    await bootstrap(found).catch(async (error) => {
      await link.close()
      throw link.refusal(error)
    })
  }

  async function join(engine: Engine, answer: AnswerCall): Promise<Cluster> {
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
    requireSameChain(name, identity, own)
    requireSameGenesis(name, identity, genesis.hash)
    if (isOwn) await local.batch([position.put({ cluster: identity.cluster, sequence: 0, term: 0 })])
    else if (position.get() === undefined && (hasOwnChain || identity.base === 'snapshot')) throw ownChain()
    const snapshots = await snapshotsOf(facts, identity)
    const compaction = createCompaction({
      snapshots,
      log,
      logBytes: options.logBytes,
      needsFirst: identity.base === 'snapshot',
      logger,
      begin(step) {
        if (member === undefined) throw new Error('the node has not joined yet')
        return member.betweenRecords(step)
      },
    })
    const started = await startMember({
      id,
      role: options.role,
      log,
      presence,
      local,
      position,
      cluster: identity.cluster,
      engine,
      logger,
      loadSnapshot: snapshots.load,
      ...compaction,
    })
    member = started
    store.replicateBy(started.replicate)
    const reading = createReading(logger)
    const calls = answerCalls(link, names.calls(id), answer, () => started.sequence, reading)
    const presenceOf = createPresence({ link, names, bucket: presence, id, member: started, engine, reading })
    const forwarding = createForwarding({
      link,
      names,
      id,
      member: started,
      clockOf: presenceOf.clockOf,
      reading,
    })

    async function leave(): Promise<void> {
      await started.leave()
      presenceOf.stop()
      calls.unsubscribe()
      await link.connection.flush().catch(() => {})
      await link.close()
    }

    try {
      await untilReady(options, started, (await log.bounds()).last)
    } catch (error) {
      await leave()
      throw error
    }

    return {
      id,
      get isLeader() {
        return started.role === 'leader'
      },
      get sequence() {
        return started.sequence
      },
      reached: started.reached,
      call: forwarding.call,
      health() {
        const lag = presenceOf.lag()
        return {
          id,
          role: started.role,
          term: started.term,
          lag,
          isLate: lag > options.maxLag,
          figures: { elections: started.elections, ...forwarding.figures },
        }
      },
      leave,
    }
  }

  return {
    id,
    store,
    genesisTime: found?.genesisTime,
    admitCommand() {
      if (member === undefined) throw tryAgain('This node has not joined its cluster yet')
      member.requireLeader()
    },
    join: (engine, answer) =>
      join(engine, answer).catch((error) => {
        throw link.refusal(error)
      }),
    cancel: () => link.close(),
  }
}
