/**
 * A world in one thread: the timers of all simulated processes, in the order of one virtual clock that stands still while
 * code runs. The same seed gives the same events in the same order.
 */
import { randomNumbers } from '../support/random-numbers.ts'

/** A simulated process: what it started ends with it, and its clock may go wrong. */
export interface Owner {
  readonly name: string
  /** A dead process runs no timer and gets no message. */
  readonly isDead: boolean
  /** It does nothing before this time of the world: busy, or stopped by its machine. */
  readonly stalledUntil: number
  /** Its clock at a time of the world, both in milliseconds. */
  clockAt(time: number): number
  /** How long the world waits while the process waits so many milliseconds. */
  durationOf(milliseconds: number): number
}

/** What a seed decides. */
export interface Random {
  /** A whole number from 0 to below `bound`. */
  below(bound: number): number
  /** True in one of so many cases. */
  oneIn(cases: number): boolean
  pick<T>(list: readonly T[]): T
}

/** What happens at a time. */
interface Event {
  at: number
  /** Of events at the same time, the first that was scheduled comes first. */
  order: number
  readonly owner: Owner | undefined
  readonly run: () => void
  isCancelled: boolean
}

/** A timer as Node.js's code sees it. */
class VirtualTimer {
  readonly #start: () => Event
  event: Event

  constructor(start: () => Event) {
    this.#start = start
    this.event = start()
  }

  refresh(): this {
    this.event.isCancelled = true
    this.event = this.#start()
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }
}

/** The time of the world at its beginning, milliseconds since 1970. */
const EPOCH = Date.UTC(2024, 0, 1)

/** An invariant that does not hold. */
export class Violation extends Error {}

/** How the real one waits; virtual timers take their places while a world runs. */
const real = {
  setImmediate,
  setTimeout,
  setInterval,
  clearTimeout,
  clearInterval,
  clearImmediate,
  now: Date.now,
}

/** All promises that can go on have gone on once a macrotask runs. */
const microtasks = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve))

function createRandom(seed: number): Random {
  const below = randomNumbers(seed)
  return {
    below,
    oneIn: (cases) => below(cases) === 0,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
  }
}

/** The world of one seed. */
export class World {
  readonly random: Random
  /** What happened, a line each. */
  readonly trace: string[] = []
  /** Milliseconds since the beginning. */
  now = 0
  /** The process whose code runs; `undefined` for what surrounds them all. */
  owner: Owner | undefined
  /** Ordered by time from `#first` on. */
  #events: Event[] = []
  #order = 0
  /** Immediates that have not run: what processes share waits by them. */
  readonly #immediates = new Set<Event>()

  constructor(seed: number) {
    this.random = createRandom(seed)
  }

  /** Notes what happens. */
  note(text: string): void {
    this.trace.push(`${this.now.toFixed(3)} ${this.owner?.name ?? '-'} ${text}`)
  }

  /** Has `run` happen after so many milliseconds, as a part of a process or of what surrounds them. */
  after(milliseconds: number, owner: Owner | undefined, run: () => void): Event {
    const at = this.now + Math.max(0, milliseconds)
    const event = { at, order: this.#order++, owner, run, isCancelled: false }
    this.#insert(event)
    return event
  }

  #insert(event: Event): void {
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#events[middle] as Event
      // The next event is the last of the list.
      if (other.at > event.at || (other.at === event.at && other.order > event.order)) low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, event)
  }

  /** Resolves after so many milliseconds, unless the process is dead by then. */
  wait(milliseconds: number, owner = this.owner): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, owner, resolve))
  }

  /** Lets events happen until a condition holds; `check` runs after each. Throws a `Violation` when that takes too long. */
  async until(isDone: () => boolean, milliseconds: number, what: string, check = () => {}): Promise<void> {
    const end = this.now + milliseconds
    await microtasks()
    while (!isDone()) {
      const event = this.#events.pop()
      if (event === undefined) throw new Violation(`nothing is left to happen: ${what}`)
      if (event.isCancelled || event.owner?.isDead === true) continue
      const stalledUntil = event.owner?.stalledUntil ?? 0
      if (stalledUntil > event.at) {
        event.at = stalledUntil
        this.#insert(event)
        continue
      }
      if (event.at > end) {
        this.#events.push(event)
        throw new Violation(`not within ${milliseconds} ms: ${what}`)
      }
      this.now = event.at
      this.owner = event.owner
      event.run()
      await microtasks()
      this.owner = undefined
      check()
    }
  }

  /** Lets so much time pass. */
  async pass(milliseconds: number, check = () => {}): Promise<void> {
    let isOver = false
    this.after(milliseconds, undefined, () => {
      isOver = true
    })
    await this.until(() => isOver, milliseconds, 'time', check)
  }

  #timer(
    callback: (...args: unknown[]) => void,
    milliseconds: number | undefined,
    args: unknown[],
  ): VirtualTimer {
    const { owner } = this
    const duration = owner?.durationOf(milliseconds ?? 1) ?? milliseconds ?? 1
    return new VirtualTimer(() => this.after(duration, owner, () => callback(...args)))
  }

  #interval(callback: (...args: unknown[]) => void, milliseconds: number, args: unknown[]): VirtualTimer {
    const timer = this.#timer(
      () => {
        timer.refresh()
        callback(...args)
      },
      milliseconds,
      [],
    )
    return timer
  }

  /** The clock of the process whose code runs, milliseconds. */
  #clock(): number {
    return this.owner?.clockAt(this.now) ?? this.now
  }

  /** Puts virtual timers and clocks in the places of the real ones; resolves as `run` does, with the real ones back. */
  async inhabit<T>(run: () => Promise<T>): Promise<T> {
    const clear = (clearReal: (timer: never) => void) => (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.event.isCancelled = true
      else clearReal(timer as never)
    }
    const virtual = {
      setTimeout: (callback: () => void, milliseconds?: number, ...args: unknown[]) =>
        this.#timer(callback, milliseconds, args),
      setInterval: (callback: () => void, milliseconds = 1, ...args: unknown[]) =>
        this.#interval(callback, milliseconds, args),
      // What processes share, such as the slices of the EVM, waits by immediates: those of a dead process run as well.
      setImmediate: (callback: (...args: unknown[]) => void, ...args: unknown[]) => {
        const { owner } = this
        return new VirtualTimer(() => {
          const event = this.after(0, undefined, () => {
            this.#immediates.delete(event)
            this.owner = owner
            callback(...args)
          })
          this.#immediates.add(event)
          return event
        })
      },
      clearTimeout: clear(real.clearTimeout),
      clearInterval: clear(real.clearInterval),
      clearImmediate: clear(real.clearImmediate),
    }
    const { setImmediate, setTimeout, setInterval, clearTimeout, clearInterval, clearImmediate } = globalThis
    Object.assign(globalThis, virtual)
    Object.defineProperty(performance, 'now', { configurable: true, value: () => this.#clock() })
    Date.now = () => EPOCH + Math.floor(this.#clock())
    try {
      return await run()
    } finally {
      for (const { run, isCancelled } of this.#immediates) if (!isCancelled) run()
      Object.assign(globalThis, {
        setImmediate,
        setTimeout,
        setInterval,
        clearTimeout,
        clearInterval,
        clearImmediate,
      })
      Reflect.deleteProperty(performance, 'now')
      Date.now = real.now
    }
  }
}
