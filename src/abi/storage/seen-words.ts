/** Words that were seen in calls and logs: what the keys of mappings usually are. */
import { toBigInt } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'

/** Words of one list, and of one call or log. */
const MOST_WORDS = 4096
const MOST_OF_ONE = 256
const SELECTOR_BYTES = 4
const WORD_BYTES = 32

/** Collects words, each once: addresses come first in the list. */
export class SeenWords {
  readonly #addresses = new Set<bigint>()
  readonly #others = new Set<bigint>()

  get isFull(): boolean {
    return this.#addresses.size + this.#others.size >= MOST_WORDS
  }

  /** The most likely keys first. */
  get list(): readonly bigint[] {
    return [...new Set([...this.#addresses, ...this.#others])]
  }

  addAddress(address: Hex | null | undefined): void {
    if (address != null && !this.isFull) this.#addresses.add(BigInt(address))
  }

  /** The arguments behind a selector. */
  addCallData(data: Uint8Array): void {
    this.#addWords(data, SELECTOR_BYTES)
  }

  addLog({ topics, data }: { readonly topics: readonly Hex[]; readonly data: Uint8Array }): void {
    for (const topic of topics.slice(1)) if (!this.isFull) this.#others.add(BigInt(topic))
    this.#addWords(data, 0)
  }

  #addWords(data: Uint8Array, start: number): void {
    const end = Math.min(data.length, start + MOST_OF_ONE * WORD_BYTES)
    for (let at = start; at + WORD_BYTES <= end && !this.isFull; at += WORD_BYTES) {
      this.#others.add(toBigInt(data.subarray(at, at + WORD_BYTES)))
    }
  }
}
