/** States that left the chain and that work which was running then may still read. */
import type { Hex } from '../../encoding/hex.ts'

/** States after which those that nobody can read any more are forgotten. */
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

  /** Some work begins, which may read any state that is there now; it ends with the call of the result. */
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

  /** Roots of the states that are not on the chain any more and may still be read. */
  roots(): readonly Hex[] {
    this.#forget()
    return this.#departures.map(({ root }) => root)
  }

  #forget(): void {
    const [oldest = this.#time] = this.#running.keys()
    this.#departures = this.#departures.filter(({ time }) => time > oldest)
  }
}
