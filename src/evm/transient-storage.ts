/** Storage that lasts one transaction (TLOAD, TSTORE: EIP-1153, RSKIP-446), with checkpoints. */
import type { Hex } from '../encoding/hex.ts'

/** Words by contract and slot, all 0 at first. */
export class TransientStorage {
  readonly #words = new Map<Hex, Map<bigint, bigint>>()
  readonly #undo: { readonly words: Map<bigint, bigint>; readonly slot: bigint; readonly old: bigint }[] = []
  readonly #marks: number[] = []

  get(address: Hex, slot: bigint): bigint {
    return this.#words.get(address)?.get(slot) ?? 0n
  }

  put(address: Hex, slot: bigint, value: bigint): void {
    let words = this.#words.get(address)
    if (words === undefined) {
      words = new Map()
      this.#words.set(address, words)
    }
    this.#undo.push({ words, slot, old: words.get(slot) ?? 0n })
    words.set(slot, value)
  }

  checkpoint(): void {
    this.#marks.push(this.#undo.length)
  }

  commit(): void {
    this.#marks.pop()
  }

  revert(): void {
    const mark = this.#marks.pop() ?? 0
    while (this.#undo.length > mark) {
      const change = this.#undo.pop()
      change?.words.set(change.slot, change.old)
    }
  }
}
