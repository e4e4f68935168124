/** A map that keeps what was used lately and forgets the rest, at the cost of a plain map. */

/**
 * Holds at most `capacity` entries in two generations: when the young one has filled half, the old one is dropped
 * and the young one grows old. Entries that are used move to the young one.
 */
export class RecentMap<K, V> {
  readonly #half: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(capacity: number) {
    this.#half = Math.max(1, capacity >> 1)
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
