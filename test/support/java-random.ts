/** `java.util.Random`: the numbers that the reference node's own tests were made from. */
const MULTIPLIER = 0x5deece66dn
const MASK = (1n << 48n) - 1n

/** One generator. */
export class JavaRandom {
  #seed: bigint

  constructor(seed: bigint) {
    this.#seed = (seed ^ MULTIPLIER) & MASK
  }

  #next(bits: bigint): number {
    this.#seed = (this.#seed * MULTIPLIER + 0xbn) & MASK
    return Number(BigInt.asIntN(32, this.#seed >> (48n - bits)))
  }

  /** `nextInt(bound)`. */
  below(bound: number): number {
    if ((bound & -bound) === bound) return Number((BigInt(bound) * BigInt(this.#next(31n))) >> 31n)
    for (;;) {
      const drawn = this.#next(31n)
      const rest = drawn % bound
      if (drawn - rest + bound - 1 <= 0x7fff_ffff) return rest
    }
  }

  /** `nextBytes` into a new array. */
  bytes(length: number): Uint8Array {
    const out = new Uint8Array(length)
    for (let i = 0; i < length; ) {
      let drawn = this.#next(32n)
      for (let n = Math.min(length - i, 4); n > 0; n--, drawn >>= 8) out[i++] = drawn & 0xff
    }
    return out
  }
}
