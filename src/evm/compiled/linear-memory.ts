/** A linear memory of compiled code as JavaScript reads and writes it. */
import { createMemory, PAGE } from '../../wasm/web-assembly.ts'
import { MEMORY_LIMIT } from '../gas-schedule.ts'

/** Offsets and lengths below it are added without a check: no sum is beyond the limit of memory. */
const SMALL_NUMBERS = MEMORY_LIMIT / 2

const LOW_64 = (1n << 64n) - 1n

/** To make a bigint of a number takes longer than to look one up. */
const FEW = Array.from({ length: 256 }, (_, i) => BigInt(i))

/** Bytes that are copied one by one. */
const FEW_BYTES = 64

/** Views of the memory, which are others after it has grown, and the words in it. */
export class LinearMemory {
  readonly memory
  halves: Uint32Array
  lanes: BigUint64Array
  floats: Float64Array
  bytes: Uint8Array

  /** `size` in bytes, whole pages. */
  constructor(size: number) {
    this.memory = createMemory(size / PAGE)
    const { buffer } = this.memory
    this.halves = new Uint32Array(buffer)
    this.lanes = new BigUint64Array(buffer)
    this.floats = new Float64Array(buffer)
    this.bytes = new Uint8Array(buffer)
  }

  get size(): number {
    return this.bytes.length
  }

  /** Adds so many bytes, at least. */
  grow(bytes: number): void {
    this.memory.grow(Math.ceil(bytes / PAGE))
    const { buffer } = this.memory
    this.halves = new Uint32Array(buffer)
    this.lanes = new BigUint64Array(buffer)
    this.floats = new Float64Array(buffer)
    this.bytes = new Uint8Array(buffer)
  }

  /** The unsigned number of 32 bits at an address, which is a multiple of 4. */
  u32(at: number): number {
    return this.halves[at >> 2] ?? 0
  }

  putU32(at: number, value: number): void {
    this.halves[at >> 2] = value
  }

  /** The float at an address, which is a multiple of 8. */
  f64(at: number): number {
    return this.floats[at >> 3] ?? 0
  }

  putF64(at: number, value: number): void {
    this.floats[at >> 3] = value
  }

  /** The word at an address: four 64-bit lanes, the lowest first. */
  read(at: number): bigint {
    const { halves, lanes } = this
    const half = at >> 2
    const first = at >> 3
    const above =
      (halves[half + 2] ?? 0) |
      (halves[half + 3] ?? 0) |
      (halves[half + 4] ?? 0) |
      (halves[half + 5] ?? 0) |
      (halves[half + 6] ?? 0) |
      (halves[half + 7] ?? 0)
    if (above === 0) {
      if (halves[half + 1] !== 0) return lanes[first] as bigint
      const low = halves[half] ?? 0
      return low < FEW.length ? (FEW[low] as bigint) : BigInt(low)
    }
    const high = ((lanes[first + 3] as bigint) << 64n) | (lanes[first + 2] as bigint)
    return (high << 128n) | ((lanes[first + 1] as bigint) << 64n) | (lanes[first] as bigint)
  }

  write(at: number, word: bigint): void {
    const { lanes, floats } = this
    const first = at >> 3
    // An element keeps the low 64 bits.
    lanes[first] = word
    if (word <= LOW_64) {
      floats[first + 1] = 0
      floats[first + 2] = 0
      floats[first + 3] = 0
      return
    }
    lanes[first + 1] = word >> 64n
    lanes[first + 2] = word >> 128n
    lanes[first + 3] = word >> 192n
  }

  /** Copies bytes; a few in a loop, as below. */
  copyWithin(from: number, length: number, to: number): void {
    const { bytes, halves } = this
    if (length > FEW_BYTES) bytes.copyWithin(to, from, from + length)
    else if (((from | to | length) & 3) === 0)
      for (let i = 0; i < length >> 2; i++) halves[(to >> 2) + i] = halves[(from >> 2) + i] ?? 0
    else for (let i = 0; i < length; i++) bytes[to + i] = bytes[from + i] ?? 0
  }

  /** Writes the first `length` bytes; a few in a loop, which takes less time than the platform's copy. */
  copyIn(source: Uint8Array, length: number, at: number): void {
    const { bytes } = this
    if (length > FEW_BYTES) bytes.set(source.subarray(0, length), at)
    else for (let i = 0; i < length; i++) bytes[at + i] = source[i] ?? 0
  }

  /** Copies a word. */
  copyWord(from: number, to: number): void {
    const { halves } = this
    const source = from >> 2
    const target = to >> 2
    for (let i = 0; i < 8; i++) halves[target + i] = halves[source + i] ?? 0
  }

  /** Are two words equal? */
  isSame(one: number, other: number): boolean {
    const { halves } = this
    const first = one >> 2
    const second = other >> 2
    for (let i = 0; i < 8; i++) if (halves[first + i] !== halves[second + i]) return false
    return true
  }

  /** The word at an address when it is a small number; else -1. */
  small(at: number): number {
    const { halves } = this
    const half = at >> 2
    const above =
      (halves[half + 1] ?? 0) |
      (halves[half + 2] ?? 0) |
      (halves[half + 3] ?? 0) |
      (halves[half + 4] ?? 0) |
      (halves[half + 5] ?? 0) |
      (halves[half + 6] ?? 0) |
      (halves[half + 7] ?? 0)
    const low = halves[half] ?? 0
    return above === 0 && low < SMALL_NUMBERS ? low : -1
  }
}
