/** Events in order, kept until every filter has read them. */

/** Numbered items; a position stays valid until the items before it, and it, are dropped. */
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

  /** Drops the items before a position. */
  dropBefore(position: number): void {
    const count = Math.min(Math.max(0, position - this.#start), this.#items.length)
    this.#items = this.#items.slice(count)
    this.#start += count
  }
}
