/** Lists of small numbers that grow: a tenth of the memory of an array of objects. */

const FIRST = 1024

/** Numbers below 2^32 in the order in which they were added. */
export class GrowingList {
  #values = new Uint32Array(FIRST)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const more = new Uint32Array(2 * this.#length)
      more.set(this.#values)
      this.#values = more
    }
    this.#values[this.#length++] = value
  }

  /** The value at an index of the list. */
  at(index: number): number {
    return index < this.#length ? (this.#values[index] ?? 0) : 0
  }

  /** The index of the last value of an ascending list that is at most `most`; -1 where none is. */
  lastUpTo(most: number): number {
    let [low, high] = [-1, this.#length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#values[middle] ?? 0) <= most) low = middle
      else high = middle - 1
    }
    return low
  }
}
