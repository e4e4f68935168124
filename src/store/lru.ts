/** Keeps what was used last, up to a total weight. */

/** A bounded map. Reading an entry makes it the latest; the oldest go when the total weight passes the bound. */
export class Lru<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #maxWeight: number
  readonly #weightOf: (value: V) => number
  #weight = 0

  constructor(maxWeight: number, weightOf: (value: V) => number = () => 1) {
    this.#maxWeight = maxWeight
    this.#weightOf = weightOf
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /** The latest entry always stays, however heavy. */
  set(key: K, value: V): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#weight += this.#weightOf(value)
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight || oldest === key) return
      this.delete(oldest)
    }
  }

  delete(key: K): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#weightOf(value)
  }
}
