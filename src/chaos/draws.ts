/** Random decisions from a seed. Each stream has a sequence of its own, so that one kind of decision does not shift another. */
import { seededBytes } from '../engine/randomness.ts'

/** A whole number from the first to the second, both included. */
export type Range = readonly [number, number]

/** A fault that, once it has begun, lasts for some more decisions. */
export interface Windowed {
  readonly probability: number
  readonly window: Range
}

/** A window that is open. */
interface Open<T> {
  left: number
  readonly value: T
}

/** The draws of one seed. */
export class Draws {
  readonly #seed: string
  readonly #counts = new Map<string, number>()
  readonly #open = new Map<string, Open<unknown>>()

  constructor(seed: string) {
    this.#seed = seed
  }

  /** At least 0, below 1, to 32 bits. */
  next(stream: string): number {
    const count = this.#counts.get(stream) ?? 0
    this.#counts.set(stream, count + 1)
    const bytes = seededBytes(this.#seed, `chaos ${stream}`, count)
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) / 2 ** 32
  }

  happens(stream: string, probability: number | undefined): boolean {
    return probability !== undefined && probability > 0 && this.next(stream) < probability
  }

  within(stream: string, [least, most]: Range): number {
    return least + Math.floor(this.next(stream) * (most - least + 1))
  }

  /** From a normal distribution of mean 0 and deviation 1 (Box and Muller, 1958). */
  normal(stream: string): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next(stream)))
    return radius * Math.cos(2 * Math.PI * this.next(stream))
  }

  /** The value that `begin` made for the open window, or for one that begins now; `undefined` outside. */
  windowed<T>(stream: string, rule: Windowed | undefined, begin: () => T): T | undefined {
    if (rule === undefined) return undefined
    const open = this.#open.get(stream) as Open<T> | undefined
    if (open !== undefined) {
      open.left--
      if (open.left === 0) this.#open.delete(stream)
      return open.value
    }
    if (!this.happens(stream, rule.probability)) return undefined
    const left = this.within(`${stream} window`, rule.window) - 1
    const value = begin()
    if (left > 0) this.#open.set(stream, { left, value })
    return value
  }
}
