/** A node of a simulated cluster: its disk, and one process after another that is a member of the cluster. */
import { signTransaction } from '../../src/chain/transaction.ts'
import { createEmitter } from '../../src/engine/events.ts'
import type { EngineEvents } from '../../src/engine/model.ts'
import { silentLogger } from '../../src/logger.ts'
import { openLog } from '../../src/replication/log.ts'
import { Member } from '../../src/replication/member.ts'
import { namesOf } from '../../src/replication/names.ts'
import { createReplicatedStore } from '../../src/replication/replicated-store.ts'
import { Compaction, needsSnapshot, Snapshots } from '../../src/replication/snapshots.ts'
import { bytesValue, nameKey, Table } from '../../src/store/table.ts'
import { logPosition, PREFIX } from '../../src/store/tables.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { NodeDisk } from './disk.ts'
import { SimulatedLink } from './link.ts'
import { SimulatedProcess } from './process.ts'
import type { SimulatedBucket, SimulatedServer } from './server.ts'
import { Violation, type World } from './world.ts'

const NAMES = namesOf('simulated')
const CLUSTER = 'simulated'
/** Small, so that records are split. */
const MESSAGE_BYTES = 700
/** Bytes of the log at which it is compacted. */
export const LOG_BYTES = 40_000
/** A transaction that the leader reports the others of. */
const POOLED = signTransaction(
  { nonce: 0n, gasPrice: 0n, gasLimit: 21_000n, to: null, value: 0n, data: new Uint8Array(0), chainId: 33 },
  new Uint8Array(32).fill(1),
)

/** What became of a batch as its caller knows it. */
type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** A batch that a node was asked to write. */
export interface Attempt {
  readonly id: string
  /** The node that was asked. */
  readonly process: SimulatedProcess
  /** Did the caller get an answer, of whatever kind? */
  isAnswered: boolean
  outcome: Outcome
}

/** What the nodes share. */
export interface Shared {
  readonly world: World
  readonly server: SimulatedServer
  readonly presence: SimulatedBucket
  readonly facts: SimulatedBucket
  readonly attempts: Attempt[]
  /** Of each term, the process that led it. */
  readonly leaders: Map<number, string>
}

const tableOf = (store: Store) => new Table(store, PREFIX.meta, nameKey, bytesValue)

/** An entry of a table as text. */
export const textOf = (id: string, value: Uint8Array) => `${id} ${Buffer.from(value).toString('hex')}`

/** The position of a process's tables, which takes over each record once, and in order. */
function ordered(position: ReturnType<typeof logPosition>): ReturnType<typeof logPosition> {
  let last = position.get()?.sequence ?? 0
  return {
    get: () => position.get(),
    put(next) {
      if (next.sequence <= last)
        throw new Violation(`message ${next.sequence} is taken over after message ${last}`)
      last = next.sequence
      return position.put(next)
    },
  }
}

/** A node: its disk, and the process that runs on it at the moment. */
export class ClusterNode {
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
      .openLog(process, { fsync })
      .catch(() => this.#disk.openLog(process, { fsync, repair: true }))
    const store = createReplicatedStore(local)
    const position = logPosition(local)
    const log = await retried(() => openLog(link, NAMES, { maxBytes: LOG_BYTES, replicas: 1 }))
    const snapshots = new Snapshots({
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
    const compaction = new Compaction({
      snapshots,
      log,
      logBytes: LOG_BYTES,
      needsFirst: false,
      logger: silentLogger,
      betweenRecords(step) {
        if (member === undefined) throw new Error('the node has not joined yet')
        return member.betweenRecords(step)
      },
    })
    const events = createEmitter<EngineEvents>((error) => {
      throw error
    })
    member = await retried(() =>
      Member.start({
        id: process.name,
        role: 'auto',
        log,
        presence: link.bucket(presence),
        local,
        position: ordered(position),
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
        loadSnapshot: () => snapshots.load(),
        compact: () => compaction.compact(),
        makeRoom: () => compaction.makeRoom(),
      }),
    )
    if (process.isDead) return
    store.replicateBy((changes, write) => member.replicate(changes, write))
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
    const attempt: Attempt = {
      id: `b${attempts.length}`,
      process,
      isAnswered: false,
      outcome: 'unknown',
    }
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
          attempt.isAnswered = true
          world.note(`${attempt.id} is acknowledged`)
          attempt.outcome = 'acknowledged'
          if (table.get(attempt.id) === undefined) throw new Violation(`${attempt.id} is not on its writer`)
        },
        (error) => {
          attempt.isAnswered = true
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
