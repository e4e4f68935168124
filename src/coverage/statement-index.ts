/** Finds the innermost statement around a place. Statements contain each other or have nothing in common. */
import type { Statement } from './coverable-file.ts'

/** A range of bytes. */
interface Bytes {
  readonly start: number
  readonly end: number
}

/** The statements of one file. */
export class StatementIndex {
  readonly #statements: readonly Statement[]
  /** Indexes of the statements by their first byte; of equal ones the outer first. */
  readonly #order: readonly number[]
  /** Of each statement the one around it, or -1. */
  readonly #parents: Int32Array

  constructor(statements: readonly Statement[]) {
    this.#statements = statements
    const rangeOf = (index: number): Bytes => statements[index]?.range ?? { start: 0, end: 0 }
    this.#order = statements
      .map((_, index) => index)
      .sort((a, b) => rangeOf(a).start - rangeOf(b).start || rangeOf(b).end - rangeOf(a).end)
    this.#parents = new Int32Array(statements.length).fill(-1)
    const open: number[] = []
    for (const index of this.#order) {
      while (open.length > 0 && rangeOf(open.at(-1) ?? 0).end < rangeOf(index).end) open.pop()
      while (open.length > 0 && rangeOf(open.at(-1) ?? 0).end <= rangeOf(index).start) open.pop()
      this.#parents[index] = open.at(-1) ?? -1
      open.push(index)
    }
  }

  /** The innermost statement that contains the bytes; -1 where none does. */
  around({ start, end }: Bytes): number {
    let found = this.#order[this.#behind(start) - 1] ?? -1
    while (found !== -1 && (this.#statements[found]?.range.end ?? 0) < end) found = this.#parents[found] ?? -1
    return found
  }

  /** The first statement inside the bytes; -1 where none is. */
  firstIn({ start, end }: Bytes): number {
    const found = this.#order[this.#behind(start - 1)] ?? -1
    return found !== -1 && (this.#statements[found]?.range.end ?? 0) <= end ? found : -1
  }

  /** Indexes with the index of the statement around each, or -1: inner ones before those around them. */
  *outwards(): Generator<readonly [number, number]> {
    for (let at = this.#order.length - 1; at >= 0; at--) {
      const index = this.#order[at] ?? 0
      yield [index, this.#parents[index] ?? -1]
    }
  }

  /** How many statements begin at a byte or before it. */
  #behind(start: number): number {
    let [low, high] = [0, this.#order.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#statements[this.#order[middle] ?? 0]?.range.start ?? 0) <= start) low = middle + 1
      else high = middle
    }
    return low
  }
}
