/** A repeatable stream of numbers, so that the decisions of a run can be repeated. */

/** The random choices of a load. */
export interface Random {
  /** In [0, 1). */
  next(): number
  /** A whole number from `low` up to and with `high`. */
  whole(low: number, high: number): number
  pick<T>(of: readonly T[]): T
  /** True in so many cases of one. */
  chance(share: number): boolean
  /** An independent stream, which draws from this one do not shift. */
  branch(): Random
}

/** Mulberry32, by a seed of 32 bits. */
export function createRandom(seed: number): Random {
  let state = seed | 0
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    next,
    whole,
    pick: (of) => of[whole(0, of.length - 1)] as (typeof of)[number],
    chance: (share) => next() < share,
    branch: () => createRandom(whole(0, 2 ** 31)),
  }
}
