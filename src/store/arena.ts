/**
 * Byte strings one behind the other in a few large arrays, found again by a small number. A chain in memory keeps some
 * fifty values a block: as arrays of their own each is three objects that every garbage collection visits.
 */

/** Bytes of the first array; each later one is twice as large, up to the last size. */
const FIRST_SLAB_BYTES = 4 << 10
const LAST_SLAB_BYTES = 1 << 20
/** Places of values are multiples of this, so that their numbers stay below 2^31 up to 16 GiB. */
const ALIGNMENT = 8
/** The length in front of a value. */
const LENGTH_BYTES = 4

/** Where a value is. */
export type Location = number

/** Values that are added and read. What was read stays as it is, also when the arena is dropped. */
export class Arena {
  readonly #slabs: Uint8Array[] = []
  /** Where each slab begins, in units of `ALIGNMENT`. */
  readonly #starts: number[] = []
  #slab: Uint8Array = new Uint8Array(0)
  #used = 0
  /** End of all slabs before the one in use, in units of `ALIGNMENT`. */
  #start = 0
  #size = 0

  /** Bytes of all values, with what their places take. */
  get size(): number {
    return this.#size
  }

  /** Bytes that a value takes. */
  static sizeOf(length: number): number {
    return Math.ceil((LENGTH_BYTES + length) / ALIGNMENT) * ALIGNMENT
  }

  /** Copies a value into the arena. */
  add(value: Uint8Array): Location {
    const { length } = value
    const size = Arena.sizeOf(length)
    if (this.#used + size > this.#slab.length) this.#open(size)
    const slab = this.#slab
    const at = this.#used
    slab[at] = length >>> 24
    slab[at + 1] = length >>> 16
    slab[at + 2] = length >>> 8
    slab[at + 3] = length
    slab.set(value, at + LENGTH_BYTES)
    this.#used = at + size
    this.#size += size
    return this.#start + at / ALIGNMENT
  }

  /** The value at a location, not copied. */
  at(location: Location): Uint8Array {
    let index = this.#slabs.length - 1
    if (location < this.#start) {
      let low = 0
      while (low < index) {
        const middle = (low + index + 1) >>> 1
        if ((this.#starts[middle] as number) <= location) low = middle
        else index = middle - 1
      }
    }
    const slab = this.#slabs[index] as Uint8Array
    const at = (location - (this.#starts[index] as number)) * ALIGNMENT
    const length =
      (((slab[at] as number) << 24) |
        ((slab[at + 1] as number) << 16) |
        ((slab[at + 2] as number) << 8) |
        (slab[at + 3] as number)) >>>
      0
    return slab.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + length)
  }

  /** Begins a slab that has room for this many bytes. */
  #open(size: number): void {
    this.#start += this.#slab.length / ALIGNMENT
    const length = Math.min(Math.max(FIRST_SLAB_BYTES, 2 * this.#slab.length), LAST_SLAB_BYTES)
    this.#slab = new Uint8Array(Math.max(length, size))
    this.#used = 0
    this.#slabs.push(this.#slab)
    this.#starts.push(this.#start)
  }
}
