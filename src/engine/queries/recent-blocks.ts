/** Difficulties of the canonical blocks of a recent time span, summed incrementally, so that no query reads all of them. */
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'

interface Parts extends Pick<ChainAccess, 'blockchain' | 'blocks'> {
  /** Wall clock, Unix seconds. */
  readonly now: () => number
}

/** The sums over the canonical blocks of the last `seconds`. Nothing is read until they are asked for. */
export class RecentBlocks {
  readonly #parts: Parts
  readonly #seconds: number
  readonly #difficulties = new Map<Hex, bigint>()
  /** The lowest height of the blocks that are summed. */
  #first = 0
  /** The highest block that is summed. */
  #last: { readonly hash: Hex; readonly height: number } | undefined
  #lastSince = 0

  constructor(parts: Parts, seconds: number) {
    this.#parts = parts
    this.#seconds = seconds
  }

  /**
   * The sum of the difficulties by beneficiary. Reads the blocks that were added and those that have become too old since
   * the last call; all of them after a reorganisation.
   */
  upToNow(): ReadonlyMap<Hex, bigint> {
    const { blockchain, now } = this.#parts
    const since = now() - this.#seconds
    const { hash, block } = blockchain.head
    const height = block.header.number
    const last = this.#last
    if (last !== undefined && since >= this.#lastSince && blockchain.isCanonical(last.hash) === true) {
      this.#advance(last.height + 1, height, since)
    } else {
      this.#sumAll(height, since)
    }
    this.#last = { hash, height }
    this.#lastSince = since
    return this.#difficulties
  }

  #headerAt(height: number): Header | undefined {
    return this.#parts.blockchain.headerAt(height)?.header
  }

  #add({ coinbase, difficulty }: Header, sign: 1n | -1n): void {
    const sum = (this.#difficulties.get(coinbase) ?? 0n) + sign * difficulty
    if (sum === 0n) this.#difficulties.delete(coinbase)
    else this.#difficulties.set(coinbase, sum)
  }

  /** From the head down; timestamps ascend with the height. */
  #sumAll(head: number, since: number): void {
    this.#difficulties.clear()
    for (this.#first = head + 1; this.#first - 1 > this.#parts.blocks.first; this.#first--) {
      const below = this.#headerAt(this.#first - 1)
      if (below === undefined || below.timestamp < since) break
      this.#add(below, 1n)
    }
  }

  #advance(from: number, head: number, since: number): void {
    for (let height = from; height <= head; height++) {
      const header = this.#headerAt(height)
      if (header !== undefined) this.#add(header, 1n)
    }
    for (; this.#first <= head; this.#first++) {
      const oldest = this.#headerAt(this.#first)
      if (oldest === undefined || oldest.timestamp >= since) break
      this.#add(oldest, -1n)
    }
  }
}
