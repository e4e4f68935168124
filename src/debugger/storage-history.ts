/** The words of storage slots over the steps of an execution. */
import type { Hex } from '../encoding/hex.ts'

/** Estimated memory of a word that is noted, bytes. */
export const NOTE_BYTES = 96

/** The words of one slot: each holds from its step on. */
interface Timeline {
  readonly steps: number[]
  readonly words: bigint[]
}

interface Write {
  readonly line: Timeline
  /** What the slot held before. */
  readonly before: bigint
}

/** Before the first step. */
const BEFORE = -1

function wordAt({ steps, words }: Timeline, step: number): bigint | undefined {
  let [low, high] = [-1, steps.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((steps[middle] as number) <= step) low = middle
    else high = middle - 1
  }
  return words[low]
}

/** Notes reads and writes while code runs, and answers what a slot held before each step. */
export class StorageHistory {
  readonly #accounts = new Map<Hex, Map<bigint, Timeline>>()
  /** Writes of the messages that are open, innermost last. */
  readonly #open: Write[][] = []

  enter(): void {
    this.#open.push([])
  }

  /** The innermost message has ended before a step; what it wrote is undone where it failed. */
  exit(step: number, hasFailed: boolean): void {
    const writes = this.#open.pop() ?? []
    if (!hasFailed) {
      const outer = this.#open.at(-1)
      for (const write of writes) outer?.push(write)
      return
    }
    for (const { line, before } of writes.reverse()) {
      line.steps.push(step)
      line.words.push(before)
    }
  }

  /** Notes the word that a slot holds; returns whether it was unknown. */
  read(address: Hex, slot: bigint, word: bigint): boolean {
    let slots = this.#accounts.get(address)
    if (slots === undefined) {
      slots = new Map()
      this.#accounts.set(address, slots)
    }
    if (slots.has(slot)) return false
    slots.set(slot, { steps: [BEFORE], words: [word] })
    return true
  }

  /** Notes a write, whose word is there from a step on. The slot was read before. */
  write(step: number, address: Hex, slot: bigint, word: bigint): void {
    const line = this.#accounts.get(address)?.get(slot)
    if (line === undefined) throw new Error('a slot is written that was not read')
    this.#open.at(-1)?.push({ line, before: line.words.at(-1) ?? 0n })
    line.steps.push(step)
    line.words.push(word)
  }

  /** What a slot holds before a step; `undefined` where the execution does not touch it. */
  at(address: Hex, slot: bigint, step: number): bigint | undefined {
    const line = this.#accounts.get(address)?.get(slot)
    return line && wordAt(line, step)
  }

  /** The slots of an account that the execution reads or writes at all. */
  slotsOf(address: Hex): readonly bigint[] {
    return [...(this.#accounts.get(address)?.keys() ?? [])]
  }
}
