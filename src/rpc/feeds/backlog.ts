/** What happened, in order, kept until everybody who polls has read it. */

/** Numbered items; a position that was given out stays good until what lies behind it is dropped. */
export class Backlog<T> {
  #items: T[] = []
  #start = 0

  /** Position of the oldest item that is still here. */
  get start(): number {
    return this.#start
  }

  /** Position of the item that comes next. */
  get end(): number {
    return this.#start + this.#items.length
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** The item at a position; `undefined` outside. */
  at(position: number): T | undefined {
    return this.#items[position - this.#start]
  }

  /** All items from a position on. */
  since(position: number): readonly T[] {
    return this.#items.slice(Math.max(0, position - this.#start))
  }

  /** Forgets what lies before a position. */
  dropBefore(position: number): void {
    const count = Math.min(Math.max(0, position - this.#start), this.#items.length)
    this.#items = this.#items.slice(count)
    this.#start += count
  }
}
