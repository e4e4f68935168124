/**
 * Byte strings one after another in a few large arrays, each found by a small number. A chain in memory keeps some
 * sixty values a block: as arrays of their own each is three objects that every garbage collection visits.
 */

import { wordAt } from '../encoding/bytes.ts'

/** Bytes of an array; the first one grows to it, so that a short chain takes little. */
const SLAB_BYTES = 1 << 20
const FIRST_BYTES = 4 << 10
/** Places of values are multiples of this, so that their numbers stay below 2^31 up to 16 GiB. */
const ALIGNMENT = 8
/** Places in a slab, as a power of two. */
const SLAB_PLACES = Math.log2(SLAB_BYTES / ALIGNMENT)
/** The length in front of a value. */
const LENGTH_BYTES = 4

/** Bytes of discarded values up to which they stay where they are. */
const LITTLE_WASTE = 64 << 10

const NOTHING = new Uint8Array(0)

/** Where a value is: a number below 2^31. */
export type Location = number

/** Values that are added and read. What was read stays valid, even when the arena is dropped. */
export class Arena {
  /** A value that is larger than a slab has an array of its own, which stands for several. */
  readonly #slabs: Uint8Array[] = []
  /** Number of the slab in use, and the bytes that are used of it. */
  #current = -1
  #used = SLAB_BYTES
  /** Bytes of all values, and of those that are not needed any more. */
  #size = 0
  #waste = 0

  /** Are most of the values not needed any more, so that the others should be copied into a new arena? */
  get isWasted(): boolean {
    return this.#waste > LITTLE_WASTE && 2 * this.#waste > this.#size
  }

  /** Copies a value into the arena, with other bytes in front of it if there are any. */
  add(value: Uint8Array, front: Uint8Array = NOTHING): Location {
    const length = front.length + value.length
    const size = sizeOf(length)
    this.#open(size)
    const slab = this.#slabs[this.#current] as Uint8Array
    const at = this.#used
    slab[at] = length >>> 24
    slab[at + 1] = length >>> 16
    slab[at + 2] = length >>> 8
    slab[at + 3] = length
    if (front.length > 0) slab.set(front, at + LENGTH_BYTES)
    slab.set(value, at + LENGTH_BYTES + front.length)
    this.#used = at + size
    this.#size += size
    return (this.#current << SLAB_PLACES) + at / ALIGNMENT
  }

  /** The value at a location, not copied, without its first `skip` bytes. */
  at(location: Location, skip = 0): Uint8Array {
    const slab = this.#slabs[location >>> SLAB_PLACES] as Uint8Array
    const at = this.#offset(location)
    const length = wordAt(slab, at) >>> 0
    return slab.subarray(at + LENGTH_BYTES + skip, at + LENGTH_BYTES + length)
  }

  /** Counts a value that is not needed any more. */
  discard(location: Location): void {
    this.#waste += sizeOf(this.at(location).length)
  }

  /** The first four bytes of the value at a location, which has as many, as a number of 32 bits. */
  firstWord(location: Location): number {
    const slab = this.#slabs[location >>> SLAB_PLACES] as Uint8Array
    return wordAt(slab, this.#offset(location) + LENGTH_BYTES)
  }

  /** Does the value at a location begin with these bytes? */
  beginsWith(location: Location, bytes: Uint8Array): boolean {
    const slab = this.#slabs[location >>> SLAB_PLACES] as Uint8Array
    const at = this.#offset(location) + LENGTH_BYTES
    for (let i = 0; i < bytes.length; i++) if (slab[at + i] !== bytes[i]) return false
    return true
  }

  #offset(location: Location): number {
    return (location & ((1 << SLAB_PLACES) - 1)) * ALIGNMENT
  }

  /** Makes room for this many bytes. */
  #open(size: number): void {
    if (this.#used + size > SLAB_BYTES) {
      this.#current = this.#slabs.length
      this.#used = 0
      const first = this.#current === 0 ? FIRST_BYTES : SLAB_BYTES
      this.#slabs.push(new Uint8Array(Math.max(first, size)))
      // Numbers of slabs that a larger one covers.
      for (let covered = SLAB_BYTES; covered < size; covered += SLAB_BYTES) this.#slabs.push(NOTHING)
      return
    }
    const slab = this.#slabs[this.#current] as Uint8Array
    const needed = this.#used + size
    if (needed <= slab.length) return
    const larger = new Uint8Array(Math.min(SLAB_BYTES, Math.max(2 * slab.length, needed)))
    larger.set(slab)
    this.#slabs[this.#current] = larger
  }
}

/** Bytes that a value takes. */
function sizeOf(length: number): number {
  return Math.ceil((LENGTH_BYTES + length) / ALIGNMENT) * ALIGNMENT
}
