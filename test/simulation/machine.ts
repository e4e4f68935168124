/** A machine whose database one process after another opens, under faults of its disk. */
import { NodeError } from '../../src/errors.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { NodeDisk } from './disk.ts'
import { NO_FAULTS } from './file-system.ts'
import { SimulatedProcess } from './process.ts'
import { Violation, type World } from './world.ts'

/** How a process ends: by itself, killed, or with its machine. */
export type End = 'close' | 'kill' | 'power'

/** What a refusal states. */
const NAMED_DAMAGE = [
  /the write-ahead log \S+, at byte \d+: .*block.* is whole/i,
  /the file \d+ of the write-ahead log is missing/,
  /checkpoint\.json cannot be read/,
  /a repair was begun and is not complete/,
]

const STEP_MS = 60_000

/** A process that has opened the database. */
export interface Life {
  readonly process: SimulatedProcess
  /** `undefined` when the process ended before it was open. */
  readonly store: Store | undefined
}

/** The disk, and what was done to it. */
export class Machine {
  readonly world: World
  readonly disk: NodeDisk
  readonly fsync: boolean
  #starts = 0
  /** Since the database was found in order: was a bit turned around, the power lost without fsync, damage named, a repair begun? */
  #isFlipped = false
  #isForgetful = false
  #isNamed = false
  #isInRepair = false

  constructor(world: World) {
    this.world = world
    this.disk = new NodeDisk(world)
    this.fsync = world.random.oneIn(2)
    world.note(this.fsync ? 'with fsync' : 'without fsync')
  }

  /** May acknowledged changes be missing? Damage has to be named. */
  get mayLack(): boolean {
    return this.#isForgetful || (this.#isFlipped && this.#isNamed)
  }

  /** The database was found in order. */
  found(): void {
    this.#isFlipped = false
    this.#isForgetful = false
    this.#isNamed = false
    this.#isInRepair = false
  }

  wellAgain(): void {
    this.disk.files.faults = NO_FAULTS
    this.disk.level.failedBatch = undefined
  }

  disturb(): void {
    const { random } = this.world
    const { files, level } = this.disk
    if (random.oneIn(3)) {
      this.wellAgain()
      return
    }
    files.faults = {
      shortWrite: random.pick([undefined, 3]),
      failedWrite: random.pick([undefined, undefined, 20]),
      failedSync: random.pick([undefined, undefined, 10]),
      failedOther: random.pick([undefined, undefined, 10]),
      capacity: random.oneIn(4) ? files.used + random.below(6_000) : Number.POSITIVE_INFINITY,
    }
    level.failedBatch = random.pick([undefined, undefined, 5])
    this.world.note(`faults ${JSON.stringify(files.faults)}`)
  }

  /** Runs a step of a process to its end; `undefined` when the process ends before. Throws what the step throws. */
  async within<T>(process: SimulatedProcess, step: () => Promise<T>, what: string): Promise<T | undefined> {
    let result: { readonly value: T } | { readonly error: unknown } | undefined
    process.run(() => {
      step().then(
        (value) => {
          result = { value }
        },
        (error) => {
          result = { error }
        },
      )
    })
    await this.world.until(() => result !== undefined || process.isDead, STEP_MS, what)
    if (process.isDead || result === undefined) return undefined
    if ('error' in result) throw result.error
    return result.value
  }

  /** Starts a process, which may end in any call of the file system unless it `isSafe`, and opens the database. */
  async start(isSafe: boolean): Promise<Life> {
    const { random } = this.world
    const process = new SimulatedProcess(this.world, `p${++this.#starts}`, 1, 0)
    let calls = random.oneIn(3) && !isSafe ? random.below(120) : Number.POSITIVE_INFINITY
    const fuse = () => calls-- <= 0
    return { process, store: await this.#open(process, fuse) }
  }

  /** Opens the database, repaired where that is needed, in the end without faults. */
  async #open(process: SimulatedProcess, fuse: () => boolean): Promise<Store | undefined> {
    const { disk, fsync } = this
    for (let tries = 0, isDamaged = false; ; tries++) {
      if (tries === 3) this.wellAgain()
      try {
        if (isDamaged) await this.#repair(process, fuse)
        isDamaged = false
        return await this.within(process, () => disk.open(process, { fsync, fuse }), 'the database is opened')
      } catch (error) {
        this.world.note(`open: ${error}`)
        if (error instanceof Violation || tries > 4) throw error
        isDamaged ||= this.#isNamedDamage(error)
      }
    }
  }

  async #repair(process: SimulatedProcess, fuse: () => boolean): Promise<void> {
    const notices: string[] = []
    const isContinued = this.#isInRepair
    this.#isInRepair = true
    const step = () => this.disk.repair(process, fuse, (sentence) => void notices.push(sentence))
    await this.within(process, step, 'the database is repaired')
    for (const notice of notices) this.world.note(notice)
    if (process.isDead) return
    this.#isInRepair = false
    if (notices.length === 0 && !isContinued) throw new Violation('repaired without a word')
  }

  /** Is this the refusal of a damaged database? Throws a `Violation` when nothing is damaged, or when it does not say what. */
  #isNamedDamage(error: unknown): boolean {
    if (!(error instanceof NodeError) || error.kind !== 'database') return false
    if (!this.#isFlipped && !this.#isForgetful && !this.#isInRepair)
      throw new Violation(`refused without damage: ${error.message}`)
    // LevelDB may keep a batch that was not synced, and the log nothing of it.
    const isAhead = this.#isForgetful && /its head is .*block.*; it was .*block/.test(error.message)
    this.#isNamed = isAhead || NAMED_DAMAGE.some((form) => form.test(error.message))
    if (this.#isNamed) return true
    throw new Violation(`damage is not named: ${error.message}`)
  }

  /** Ends a process. */
  async end(
    { process, store }: Life,
    how: End,
    close = () => store?.close() ?? Promise.resolve(),
  ): Promise<void> {
    const { world } = this
    if (store !== undefined && how === 'close' && !process.isDead) {
      await this.within(process, close, 'the database is closed').catch((error) => {
        if (error instanceof Violation) throw error
        world.note(`close: ${error}`)
      })
    }
    if (!process.isDead) process.kill()
    // A thread of the process may still write.
    if (how !== 'power') await world.pass(400)
    else this.disk.losePower()
    if (how === 'power' && !this.fsync) this.#isForgetful = true
    if (world.random.oneIn(5) && this.disk.damage() !== undefined) this.#isFlipped = true
  }
}
