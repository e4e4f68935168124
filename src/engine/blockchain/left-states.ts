/** States that left the chain and may still be read by work that began before. */
import type { Hex } from '../../encoding/hex.ts'

/** Number of states after which unreadable ones are forgotten. */
const MANY = 1_000

interface Departure {
  readonly root: Hex
  /** Work that began before it may read the state. */
  readonly time: number
}

/** The roots of such states. Times count departures. */
export class LeftStates {
  #departures: Departure[] = []
  #limit = MANY
  #time = 0
  /** Running work by the time at which it began, in ascending order. */
  readonly #running = new Map<number, number>()

  /** Registers work that may read any present state; the returned function ends it. */
  begin(): () => void {
    const time = this.#time
    this.#running.set(time, (this.#running.get(time) ?? 0) + 1)
    return () => {
      const others = (this.#running.get(time) ?? 1) - 1
      if (others > 0) this.#running.set(time, others)
      else this.#running.delete(time)
      if (this.#running.size === 0) this.#departures = []
    }
  }

  /** States have left the chain. */
  add(roots: Iterable<Hex>): void {
    if (this.#running.size === 0) return
    this.#time++
    for (const root of roots) this.#departures.push({ root, time: this.#time })
    if (this.#departures.length < this.#limit) return
    this.#forget()
    this.#limit = Math.max(MANY, 2 * this.#departures.length)
  }

  /** Roots of the states that left the chain and may still be read. */
  roots(): readonly Hex[] {
    this.#forget()
    return this.#departures.map(({ root }) => root)
  }

  #forget(): void {
    const [oldest = this.#time] = this.#running.keys()
    this.#departures = this.#departures.filter(({ time }) => time > oldest)
  }
}
