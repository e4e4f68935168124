/**
 * A store that is written under faults of its disk, ended at any moment and opened again. What has to hold: what was
 * acknowledged is there, batches are whole and in order, a refused one is absent, and damage is named.
 */
import { bytesValue, nameKey, Table, type Write } from '../../src/store/table.ts'
import { PREFIX } from '../../src/store/tables.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { Machine } from './machine.ts'
import type { SimulatedProcess } from './process.ts'
import { Violation, type World } from './world.ts'

/**
 * What became of a batch as its caller knows it; `refused` while the store takes no batches, `dropped` once it does again,
 * `absent` where it was not tried.
 */
type Outcome = 'pending' | 'acknowledged' | 'refused' | 'dropped' | 'absent'

interface Batch {
  readonly changes: readonly (readonly [key: string, value: Buffer | undefined])[]
  outcome: Outcome
}

type Entries = Map<string, Buffer>

/** The key that each batch writes: the number of the batch. */
const NUMBER = 'number'

const tableOf = (store: Store) => new Table(store, PREFIX.meta, nameKey, bytesValue)

/** All batches of a store by their number, from 1 on, and what they make of it. */
class Oracle {
  readonly #batches: Batch[] = []
  /** Number of the last batch that was there at the last start. */
  #held = 0

  get next(): number {
    return this.#batches.length + 1
  }

  add(batch: Batch): void {
    this.#batches.push(batch)
  }

  /** The batches up to a number that are there, where those are absent that were refused before one that was taken. */
  #present(number: number): Batch[] {
    const batches = this.#batches.slice(0, number)
    const taken = batches.findLastIndex(({ outcome }) => outcome === 'acknowledged' || outcome === 'pending')
    return batches.filter(
      ({ outcome }, index) =>
        outcome !== 'absent' && outcome !== 'dropped' && (outcome !== 'refused' || index > taken),
    )
  }

  through(number: number): Entries {
    const entries: Entries = new Map()
    for (const { changes } of this.#present(number)) {
      for (const [key, value] of changes) {
        if (value === undefined) entries.delete(key)
        else entries.set(key, value)
      }
    }
    return entries
  }

  /** Number of the last batch that has to be there. */
  get acknowledged(): number {
    return Math.max(this.#held, this.#batches.findLastIndex(({ outcome }) => outcome === 'acknowledged') + 1)
  }

  get isSettled(): boolean {
    return this.#batches.every(({ outcome }) => outcome !== 'pending' && outcome !== 'refused')
  }

  /** The store takes batches again: those that it refused are not in it. */
  resumed(): void {
    for (const batch of this.#batches) if (batch.outcome === 'refused') batch.outcome = 'dropped'
  }

  /** The file by which the store dropped batches is damaged: those up to a number may be there. */
  returned(number: number): void {
    for (const batch of this.#batches.slice(0, number)) {
      if (batch.outcome === 'dropped') batch.outcome = 'refused'
    }
  }

  outcomeOf(number: number): Outcome | undefined {
    return this.#batches[number - 1]?.outcome
  }

  /** The store was opened with the batches up to a number. */
  restart(number: number): void {
    const present = new Set(this.#present(number))
    for (const batch of this.#batches) batch.outcome = present.has(batch) ? 'acknowledged' : 'absent'
    this.#held = number
  }
}

async function contentOf(store: Store): Promise<Entries> {
  const entries: Entries = new Map()
  for await (const [key, value] of tableOf(store).range()) entries.set(key, Buffer.from(value))
  return entries
}

function requireEqual(found: Entries, expected: Entries, what: string): void {
  for (const key of new Set([...found.keys(), ...expected.keys()])) {
    const [here, there] = [found.get(key), expected.get(key)]
    if (here?.equals(there ?? Buffer.of(0)) === true || (here === undefined && there === undefined)) continue
    throw new Violation(`${what}: ${key} is ${here?.subarray(0, 12)} and not ${there?.subarray(0, 12)}`)
  }
}

/** One seed's store. */
class Simulation {
  readonly #world: World
  readonly #machine: Machine
  readonly #oracle = new Oracle()

  constructor(world: World) {
    this.#world = world
    this.#machine = new Machine(world)
  }

  async run(): Promise<void> {
    for (let lives = 2 + this.#world.random.below(4); lives > 0; lives--) await this.#live(false)
    this.#machine.wellAgain()
    await this.#live(true)
  }

  /** From a start of the process to its end. */
  async #live(isLast: boolean): Promise<void> {
    const { random } = this.#world
    const life = await this.#machine.start(isLast)
    if (isLast) this.#machine.wellAgain()
    const { process, store } = life
    if (store !== undefined) await this.#check(process, store)
    if (store !== undefined && !process.isDead) await this.#work(process, store, isLast)
    const isWell = !process.isDead && (isLast || random.oneIn(3))
    await this.#machine.end(life, isWell ? 'close' : random.oneIn(2) ? 'power' : 'kill')
  }

  /** Is the store what some of the first batches made, with all that were acknowledged? */
  async #check(process: SimulatedProcess, store: Store): Promise<void> {
    const content = await this.#machine.within(process, () => contentOf(store), 'the store is read')
    if (content === undefined) return
    const number = Number(content.get(NUMBER) ?? 0)
    this.#world.note(`batch ${number} is the last one there`)
    const oracle = this.#oracle
    if (!this.#machine.mayLack && number < oracle.acknowledged) {
      throw new Violation(
        `batch ${oracle.acknowledged} was acknowledged, and the last one there is ${number}`,
      )
    }
    if (this.#machine.mayLack && oracle.outcomeOf(number) === 'dropped') oracle.returned(number)
    const outcome = oracle.outcomeOf(number)
    if (outcome === 'absent' || outcome === 'dropped')
      throw new Violation(`batch ${number} was refused and is there`)
    requireEqual(content, oracle.through(number), `after a start with batch ${number}`)
    oracle.restart(number)
    this.#machine.found()
  }

  #write(process: SimulatedProcess, store: Store): void {
    const { random } = this.#world
    const oracle = this.#oracle
    const number = oracle.next
    const changes = new Map<string, Buffer | undefined>([[NUMBER, Buffer.from(String(number))]])
    const size = random.oneIn(8) ? 3_000 : 20
    for (let count = random.oneIn(10) ? 12 : random.below(4); count > 0; count--) {
      const value = Buffer.alloc(random.below(size), `${number} `)
      changes.set(`k${random.below(12)}`, random.oneIn(5) ? undefined : value)
    }
    const batch: Batch = { changes: [...changes], outcome: 'pending' }
    const refusal: Outcome = store.failure === undefined ? 'refused' : 'absent'
    if (refusal === 'refused') oracle.resumed()
    oracle.add(batch)
    const table = tableOf(store)
    const writes: Write[] = batch.changes.map(([key, value]) =>
      value === undefined ? table.del(key) : table.put(key, value),
    )
    process.run(() => {
      store.batch(writes).then(
        () => {
          if (process.isDead) return
          batch.outcome = 'acknowledged'
          oracle.resumed()
          this.#world.note(`batch ${number} is acknowledged`)
          if (Number(Buffer.from(table.get(NUMBER) ?? [])) < number)
            throw new Violation(`batch ${number} is not read`)
        },
        (error) => {
          if (process.isDead) return
          batch.outcome = refusal
          this.#world.note(`batch ${number}: ${error.message}`)
        },
      )
    })
  }

  async #work(process: SimulatedProcess, store: Store, isLast: boolean): Promise<void> {
    const { random } = this.#world
    for (let steps = 5 + random.below(40); steps > 0 && !process.isDead; steps--) {
      if (random.oneIn(12) && !isLast) this.#machine.disturb()
      for (let count = random.oneIn(3) ? 1 + random.below(4) : 1; count > 0; count--)
        this.#write(process, store)
      await this.#world.pass(random.oneIn(4) ? random.below(200) : random.below(6))
      if (!process.isDead && random.oneIn(20) && this.#oracle.isSettled) await this.#compare(process, store)
    }
    if (!isLast || process.isDead) return
    // Faults are over: it takes batches again.
    await this.#world.pass(12_000)
    const { next } = this.#oracle
    this.#write(process, store)
    await this.#world.pass(1_000)
    if (this.#oracle.outcomeOf(next) !== 'acknowledged')
      throw new Violation('the store takes no batch any more')
  }

  async #compare(process: SimulatedProcess, store: Store): Promise<void> {
    const content = await this.#machine.within(process, () => contentOf(store), 'the store is read')
    if (content !== undefined) requireEqual(content, this.#oracle.through(this.#oracle.next), 'in use')
  }
}

/** Runs the store of a seed. Throws a `Violation`. */
export async function simulateStorage(world: World): Promise<void> {
  await new Simulation(world).run()
}
