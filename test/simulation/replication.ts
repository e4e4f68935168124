/**
 * Nodes of a cluster that write under faults of their links, of the server and of themselves. What has to hold: what was
 * acknowledged is in every node, what was refused in none, and one node leads a term. Without faults there is soon a leader,
 * every node is at the end of the log, and every write has an answer.
 */
import { LEASE_MS } from '../../src/replication/lease.ts'
import { createChunkReader, decodeLogRecord, type LogRecord } from '../../src/replication/record.ts'
import { type Attempt, ClusterNode, LOG_BYTES, type Shared, textOf } from './cluster-node.ts'
import { SimulatedBucket, SimulatedServer } from './server.ts'
import { Violation, type World } from './world.ts'

/** How long faults go on, and how long the cluster may take to be whole afterwards. */
const FAULTS_MS = 20_000
const RECOVERY_MS = 60_000

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

/** A cluster of a seed, and what has to hold of it at any time. */
interface Cluster {
  readonly shared: Shared
  readonly nodes: readonly ClusterNode[]
  /** Throws a `Violation`. */
  readonly check: () => void
}

function startCluster(world: World): Cluster {
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
  if (random.oneIn(3)) shared.server.maxBytes = LOG_BYTES / 4
  const rate = () => (hasDrift ? 1 + (random.below(2_001) - 1_000) / 10_000 : 1)
  const nodes = ['a', 'b', 'c']
    .slice(0, 2 + random.below(2))
    .map((name) => new ClusterNode(shared, name, rate()))
  for (const node of nodes) node.start()
  return { shared, nodes, check: () => checkLeaders(shared, nodes, hasDrift) }
}

/** The leader's link breaks, or the leader stands still, for about as long as its lease lives. */
function interruptLeader({ world }: Shared, { process, link }: ClusterNode): void {
  const { random } = world
  const milliseconds = LEASE_MS - 1_000 + random.below(2_000)
  if (random.oneIn(3)) process?.stall(milliseconds)
  else if (link?.isConnected === true) {
    link.cut(random.below(milliseconds))
    world.after(milliseconds, undefined, () => {
      if (!link.isConnected) link.mend()
    })
  }
}

/** Nodes write while `trouble`, given the leader, makes things go wrong. */
async function sufferFaults(
  { shared, nodes, check }: Cluster,
  milliseconds: number,
  trouble: (leader: ClusterNode | undefined) => void,
): Promise<void> {
  const { world } = shared
  const { random } = world
  const end = world.now + milliseconds
  while (world.now < end) {
    await world.pass(random.below(400), check)
    const leader = nodes.find(({ member }) => member?.role === 'leader')
    const target = leader !== undefined && !random.oneIn(6) ? leader : random.pick(nodes)
    for (let i = random.below(3); i >= 0; i--) target.write()
    if (random.oneIn(6)) trouble(leader)
  }
}

/** Ends the faults: soon there is a leader, all nodes are at the end of the log, and all writes are answered. */
async function recover({ shared, nodes, check }: Cluster): Promise<void> {
  const { world, server, attempts } = shared
  heal(shared, nodes)
  const isWhole = () =>
    nodes.some(({ member }) => member?.role === 'leader') &&
    nodes.every(({ sequence }) => sequence === server.last) &&
    attempts.every(({ process, isAnswered }) => isAnswered || process.isDead)
  const what = 'a leader, all nodes at the end of the log, all writes answered'
  await world.until(isWhole, RECOVERY_MS, what, check)
}

/** What the log, the nodes and the callers know of the writes is the same. */
async function checkEnd(cluster: Cluster): Promise<void> {
  const { shared, nodes, check } = cluster
  const { world, server, attempts } = shared
  // What the network still holds may arrive.
  await world.pass(8_000, check)
  const last = attempts.length
  const isWritten = () => attempts.slice(last).some(({ outcome }) => outcome === 'acknowledged')
  for (let tries = 0; tries < 5 && !isWritten(); tries++) {
    nodes.find(({ member }) => member?.role === 'leader')?.write()
    await world.pass(3_000, check)
  }
  if (!isWritten()) throw new Violation('the cluster takes no write any more')
  const isRead = () => nodes.every(({ sequence }) => sequence === server.last)
  await world.until(isRead, RECOVERY_MS, 'all nodes at the end of the log', check)
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

/** Runs the cluster of a seed through a long time of faults. Throws a `Violation`. */
export async function simulateReplication(world: World): Promise<void> {
  const cluster = startCluster(world)
  await sufferFaults(cluster, FAULTS_MS, () => disturb(cluster.shared, cluster.nodes))
  await recover(cluster)
  await checkEnd(cluster)
}

/**
 * Runs the cluster of a seed through short times of faults, after each of which it has to recover: what keeps it from that
 * may last only until the next fault. Throws a `Violation`.
 */
export async function simulateRecovery(world: World): Promise<void> {
  const { random } = world
  const cluster = startCluster(world)
  const { shared, nodes } = cluster
  for (let left = FAULTS_MS; left > 0; ) {
    const milliseconds = 1_000 + random.below(5_000)
    await sufferFaults(cluster, milliseconds, (leader) => {
      if (leader !== undefined && random.oneIn(2)) interruptLeader(shared, leader)
      else disturb(shared, nodes)
    })
    await recover(cluster)
    left -= milliseconds
  }
  await checkEnd(cluster)
}
