/** ASCII text that grows outside of the heap, which would otherwise be searched for garbage over and over. */
import type { TraceBudget } from '../../../execution/trace/trace-budget.ts'

const FIRST_CHUNK = 1 << 12
const LARGEST_CHUNK = 1 << 20

/** Gathers text in chunks. Throws `limit-exceeded` beyond its budget. */
export class TextBuffer {
  readonly #budget: TraceBudget
  readonly #full: Buffer[] = []
  #open = Buffer.allocUnsafeSlow(0)
  #length = 0

  constructor(budget: TraceBudget) {
    this.#budget = budget
  }

  /** `text` is ASCII. */
  append(text: string): void {
    this.#budget.take(text.length)
    if (this.#length + text.length > this.#open.length) this.#makeRoom(text.length)
    this.#length += this.#open.write(text, this.#length, 'latin1')
  }

  /** All text so far; nothing may be appended afterwards. */
  chunks(): readonly Buffer[] {
    return [...this.#full, this.#open.subarray(0, this.#length)]
  }

  #makeRoom(length: number): void {
    if (this.#length > 0) this.#full.push(this.#open.subarray(0, this.#length))
    const size = Math.max(length, FIRST_CHUNK, Math.min(LARGEST_CHUNK, this.#open.length * 2))
    this.#open = Buffer.allocUnsafeSlow(size)
    this.#length = 0
  }
}
