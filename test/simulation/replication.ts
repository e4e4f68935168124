/**
 * Nodes of a cluster that write under faults of their links, of the server and of themselves. What has to hold: what was
 * acknowledged is in every node, what was refused in none, and one node leads a term.
 */
import { signTransaction } from '../../src/chain/transaction.ts'
import { createEmitter } from '../../src/engine/events.ts'
import type { EngineEvents } from '../../src/engine/model.ts'
import { silentLogger } from '../../src/logger.ts'
import { LEASE_MS } from '../../src/replication/lease.ts'
import { openLog } from '../../src/replication/log.ts'
import { type Member, startMember } from '../../src/replication/member.ts'
import { namesOf } from '../../src/replication/names.ts'
import { createChunkReader, decodeLogRecord, type LogRecord } from '../../src/replication/record.ts'
import { createReplicatedStore } from '../../src/replication/replicated-store.ts'
import { createCompaction, createSnapshots, needsSnapshot } from '../../src/replication/snapshots.ts'
import { bytesValue, nameKey, Table } from '../../src/store/table.ts'
import { logPosition, PREFIX } from '../../src/store/tables.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { NodeDisk } from './disk.ts'
import { SimulatedBucket, SimulatedLink, SimulatedServer } from './link.ts'
import { SimulatedProcess } from './process.ts'
import { Violation, type World } from './world.ts'

const NAMES = namesOf('simulated')
const CLUSTER = 'simulated'
/** Small, so that records are split. */
const MESSAGE_BYTES = 700
const LOG_BYTES = 40_000
/** How long faults go on, and how long the cluster may take to be whole afterwards. */
const FAULTS_MS = 20_000
const RECOVERY_MS = 60_000

/** A transaction that the leader reports the others of. */
const POOLED = signTransaction(
  { nonce: 0n, gasPrice: 0n, gasLimit: 21_000n, to: null, value: 0n, data: new Uint8Array(0), chainId: 33 },
  new Uint8Array(32).fill(1),
)

/** What became of a batch as its caller knows it. */
type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** A batch that a node was asked to write. */
interface Attempt {
  readonly id: string
  outcome: Outcome
}

/** What the nodes share. */
interface Shared {
  readonly world: World
  readonly server: SimulatedServer
  readonly presence: SimulatedBucket
  readonly facts: SimulatedBucket
  readonly attempts: Attempt[]
  /** Of each term, the process that led it. */
  readonly leaders: Map<number, string>
}

const tableOf = (store: Store) => new Table(store, PREFIX.meta, nameKey, bytesValue)

/** A node: its disk, and the process that runs on it at the moment. */
class ClusterNode {
  readonly #shared: Shared
  readonly #name: string
  readonly #rate: number
  readonly #disk: NodeDisk
  #starts = 0
  process: SimulatedProcess | undefined
  link: SimulatedLink | undefined
  member: Member | undefined
  local: Store | undefined
  store: Store | undefined

  constructor(shared: Shared, name: string, rate: number) {
    this.#shared = shared
    this.#name = name
    this.#rate = rate
    this.#disk = new NodeDisk(shared.world)
  }

  get isUp(): boolean {
    return this.process !== undefined
  }

  /** What its tables have of the log. */
  get sequence(): number | undefined {
    return this.local && logPosition(this.local).get()?.sequence
  }

  start(): void {
    const { world, server } = this.#shared
    const process = new SimulatedProcess(
      world,
      `${this.#name}${++this.#starts}`,
      this.#rate,
      world.random.below(1e6),
    )
    this.process = process
    this.link = new SimulatedLink(server, process, MESSAGE_BYTES)
    world.note(`${process.name} starts`)
    process.run(() => void this.#run(process, this.link as SimulatedLink))
  }

  /** Ends the process, or its whole machine: what its database has forgotten then the log has. */
  kill(): void {
    this.process?.kill()
    this.link?.drop()
    if (this.#shared.world.random.oneIn(2)) this.#disk.losePower()
    this.process = undefined
    this.link = undefined
    this.member = undefined
    this.store = undefined
    this.local = undefined
  }

  async #run(process: SimulatedProcess, link: SimulatedLink): Promise<void> {
    const { world, presence, facts } = this.#shared
    const retried = async <T>(step: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await step()
        } catch (error) {
          if (error instanceof TypeError) throw error
          world.note(`start: ${error}`)
          await world.wait(50, process)
        }
      }
    }
    const fsync = false
    const local = await this.#disk
      .open(process, { fsync })
      .catch(() => this.#disk.open(process, { fsync, repair: true }))
    const store = createReplicatedStore(local)
    const position = logPosition(local)
    const log = await retried(() => openLog(link, NAMES, { maxBytes: LOG_BYTES, replicas: 1 }))
    const snapshots = createSnapshots({
      facts: link.bucket(facts),
      objects: link.objects(),
      local,
      position,
      cluster: CLUSTER,
    })
    await retried(async () => {
      if (needsSnapshot(position.get(), 'genesis', (await log.bounds()).first)) await snapshots.load()
    })
    let member: Member | undefined
    const compaction = createCompaction({
      snapshots,
      log,
      logBytes: LOG_BYTES,
      needsFirst: false,
      logger: silentLogger,
      begin(step) {
        if (member === undefined) throw new Error('the node has not joined yet')
        return member.betweenRecords(step)
      },
    })
    const events = createEmitter<EngineEvents>((error) => {
      throw error
    })
    member = await retried(() =>
      startMember({
        id: process.name,
        role: 'auto',
        log,
        presence: link.bucket(presence),
        local,
        position,
        cluster: CLUSTER,
        engine: { events, replica: this.#replica() },
        logger: {
          ...silentLogger,
          debug: (message, fields) => world.note(`${message} ${fields?.error}`),
          info: (message) => world.note(message),
          warn: (message, fields) => world.note(`${message} ${fields?.error}`),
          error(message, { error } = {}) {
            throw new Violation(`${process.name}: ${message}: ${error}`)
          },
        },
        loadSnapshot: snapshots.load,
        ...compaction,
      }),
    )
    if (process.isDead) return
    store.replicateBy(member.replicate)
    this.member = member
    this.local = local
    this.store = store
    const feed = () => {
      events.emit('pool', { added: [POOLED] })
      world.after(3_000 + world.random.below(5_000), process, feed)
    }
    feed()
  }

  /** What an engine does around the writes. */
  #replica() {
    const { world } = this.#shared
    const work = () => world.wait(world.random.below(20))
    return {
      get genesis(): never {
        throw new Error('the cluster is made already')
      },
      async apply(_changes: unknown, _pooled: unknown, write: () => Promise<void>) {
        await write()
      },
      replaceTables: (replace: () => Promise<void>) => replace(),
      follow: work,
      lead: work,
    }
  }

  /** Asks the node to write; its caller learns what came of it. */
  write(): void {
    const { process, store } = this
    const { world, attempts } = this.#shared
    if (process === undefined || store === undefined) return
    const { random } = world
    const attempt: Attempt = { id: `b${attempts.length}`, outcome: 'unknown' }
    attempts.push(attempt)
    const table = tableOf(store)
    const value = Buffer.alloc(random.oneIn(4) ? 2_000 : 20, attempt.id)
    const shared = `k${random.below(8)}`
    const writes = [
      table.put(attempt.id, value),
      random.oneIn(4) ? table.del(shared) : table.put(shared, value),
    ]
    process.run(() => {
      store.batch(writes).then(
        () => {
          if (process.isDead) return
          world.note(`${attempt.id} is acknowledged`)
          attempt.outcome = 'acknowledged'
          if (table.get(attempt.id) === undefined) throw new Violation(`${attempt.id} is not on its writer`)
        },
        (error) => {
          world.note(`${attempt.id}: ${error.message}`)
          const isRefused = /the change was not made|does not lead the cluster/.test(error.message)
          if (isRefused) attempt.outcome = 'refused'
        },
      )
    })
  }

  /** The shared tables, as text. */
  async tables(): Promise<string> {
    const lines: string[] = []
    for await (const [id, value] of tableOf(this.local as Store).range()) lines.push(textOf(id, value))
    return lines.join('\n')
  }
}

const textOf = (id: string, value: Uint8Array) => `${id} ${Buffer.from(value).toString('hex')}`

/** One leader a term, and one that other nodes cannot replace at a time; `hasDrift` clocks prove nothing of the latter. */
function checkLeaders({ world, leaders }: Shared, nodes: readonly ClusterNode[], hasDrift: boolean): void {
  let holders = 0
  for (const { process, member } of nodes) {
    if (process === undefined || member === undefined || member.role !== 'leader') continue
    const before = leaders.get(member.term)
    if (before !== undefined && before !== process.name) {
      throw new Violation(`${before} and ${process.name} lead in term ${member.term}`)
    }
    leaders.set(member.term, process.name)
    if (member.leadsUntil > process.clockAt(world.now)) holders++
  }
  if (holders > 1 && !hasDrift) throw new Violation('two nodes hold the lease')
}

/** All records that were ever in the log. */
function recordsOf(server: SimulatedServer): LogRecord[] {
  const chunks = createChunkReader()
  return server.history.flatMap(({ data }) => {
    const bytes = chunks.read(data)
    return bytes === undefined ? [] : [decodeLogRecord(bytes)]
  })
}

/** Terms follow each other, each with one leader and a first record without changes. */
function checkTerms(records: readonly LogRecord[]): void {
  let [term, leader] = [0, '']
  for (const record of records) {
    if (record.term === term && record.leader === leader) continue
    if (record.term !== term + 1) throw new Violation(`term ${record.term} follows term ${term}`)
    if (record.changes.length > 0) throw new Violation(`term ${record.term} begins with changes`)
    ;({ term, leader } = record)
  }
}

/** What the records make of empty tables, and how often each batch is among them. */
function replay(records: readonly LogRecord[]): { tables: string; counts: Map<string, number> } {
  const entries = new Map<string, Uint8Array>()
  const counts = new Map<string, number>()
  for (const change of records.flatMap(({ changes }) => changes)) {
    const id = String(change.id)
    if (change.type === 'put') entries.set(id, change.value)
    else entries.delete(id)
    if (id.startsWith('b')) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const ids = [...entries.keys()].sort()
  return { tables: ids.map((id) => textOf(id, entries.get(id) as Uint8Array)).join('\n'), counts }
}

/** The lines that only one of two texts has, shortened. */
function differenceOf(found = '', expected = ''): string {
  const [there, here] = [new Set(expected.split('\n')), new Set(found.split('\n'))]
  const lines = [
    ...[...here].filter((line) => !there.has(line)).map((line) => `has ${line}`),
    ...[...there].filter((line) => !here.has(line)).map((line) => `lacks ${line}`),
  ]
  return lines.map((line) => line.slice(0, 60)).join(', ')
}

function checkAttempts(attempts: readonly Attempt[], counts: ReadonlyMap<string, number>): void {
  for (const { id, outcome } of attempts) {
    const count = counts.get(id) ?? 0
    if (count > 1) throw new Violation(`${id} is in the log ${count} times`)
    if (outcome === 'acknowledged' && count === 0) throw new Violation(`${id} was acknowledged and is lost`)
    if (outcome === 'refused' && count > 0) throw new Violation(`${id} was refused and is in the log`)
  }
}

/** Something goes wrong, or is well again. */
function disturb({ world, server }: Shared, nodes: readonly ClusterNode[]): void {
  const { random } = world
  const node = random.pick(nodes)
  const { process, link } = node
  const kind = random.below(8)
  if (kind === 0) {
    if (node.isUp) node.kill()
    else node.start()
  } else if (kind === 1) process?.stall(random.below(4_000))
  else if (kind <= 3 && link !== undefined) {
    if (link.isConnected) link.cut(random.oneIn(2) ? 0 : random.below(4_000))
    else link.mend()
  } else if (kind === 4) {
    server.isAway = !server.isAway && random.oneIn(2)
    world.note(server.isAway ? 'the server is away' : 'the server is there')
  } else {
    server.faults = {
      lateMs: random.pick([50, 1_000, 4_000]),
      late: random.pick([undefined, 50, 5]),
      lostRequest: random.pick([undefined, 30, 6]),
      lostReply: random.pick([undefined, 30, 6]),
      twice: random.pick([undefined, 20]),
    }
    world.note(`faults ${JSON.stringify(server.faults)}`)
  }
}

/** Everything is well again. */
function heal({ world, server }: Shared, nodes: readonly ClusterNode[]): void {
  world.note('everything is well again')
  server.isAway = false
  server.faults = { lateMs: 0 }
  for (const node of nodes) {
    if (!node.isUp) node.start()
    if (node.link?.isConnected === false) node.link.mend()
  }
}

/** Runs the cluster of a seed. Throws a `Violation`. */
export async function simulateReplication(world: World): Promise<void> {
  const { random } = world
  const hasDrift = random.oneIn(2)
  const shared: Shared = {
    world,
    server: new SimulatedServer(world),
    presence: new SimulatedBucket(world, LEASE_MS),
    facts: new SimulatedBucket(world, Number.POSITIVE_INFINITY),
    attempts: [],
    leaders: new Map(),
  }
  const { server, attempts } = shared
  if (random.oneIn(3)) server.maxBytes = LOG_BYTES / 4
  const rate = () => (hasDrift ? 1 + (random.below(2_001) - 1_000) / 10_000 : 1)
  const nodes = ['a', 'b', 'c']
    .slice(0, 2 + random.below(2))
    .map((name) => new ClusterNode(shared, name, rate()))
  for (const node of nodes) node.start()
  const check = () => checkLeaders(shared, nodes, hasDrift)
  const end = world.now + FAULTS_MS
  while (world.now < end) {
    await world.pass(random.below(400), check)
    const leader = nodes.find(({ member }) => member?.role === 'leader')
    const target = leader !== undefined && !random.oneIn(6) ? leader : random.pick(nodes)
    for (let i = random.below(3); i >= 0; i--) target.write()
    if (random.oneIn(6)) disturb(shared, nodes)
  }
  heal(shared, nodes)
  const isWhole = () =>
    nodes.some(({ member }) => member?.role === 'leader') &&
    nodes.every(({ sequence }) => sequence === server.last)
  await world.until(isWhole, RECOVERY_MS, 'a leader, and all nodes at the end of the log', check)
  // What the network still holds may arrive.
  await world.pass(8_000, check)
  const last = attempts.length
  const isWritten = () => attempts.slice(last).some(({ outcome }) => outcome === 'acknowledged')
  for (let tries = 0; tries < 5 && !isWritten(); tries++) {
    nodes.find(({ member }) => member?.role === 'leader')?.write()
    await world.pass(3_000, check)
  }
  if (!isWritten()) throw new Violation('the cluster takes no write any more')
  await world.until(isWhole, RECOVERY_MS, 'all nodes at the end of the log', check)
  const records = recordsOf(server)
  checkTerms(records)
  const { tables, counts } = replay(records)
  checkAttempts(attempts, counts)
  for (const node of nodes) {
    let found: string | undefined
    node.process?.run(() => void node.tables().then((text) => (found = text)))
    await world.until(() => found !== undefined, RECOVERY_MS, 'the tables are read', check)
    if (found !== tables)
      throw new Violation(`${node.process?.name} differs from the log: ${differenceOf(found, tables)}`)
  }
  const acknowledged = attempts.filter(({ outcome }) => outcome === 'acknowledged').length
  world.note(`${acknowledged} of ${attempts.length} acknowledged, ${shared.leaders.size} terms`)
}
