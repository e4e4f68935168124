/** Tables of a gas report while they are added up. */
import type { GasStats } from './model.ts'

/** Rows by a key, in the order of their first mention. */
export class Rows<T> {
  readonly #rows = new Map<string, T>()
  readonly #add: (to: T, row: T) => void

  constructor(add: (to: T, row: T) => void) {
    this.#add = add
  }

  /** Adds a row to that of its key. */
  take(key: string, row: T): void {
    const known = this.#rows.get(key)
    if (known === undefined) this.#rows.set(key, { ...row })
    else this.#add(known, row)
  }

  get all(): T[] {
    return [...this.#rows.values()]
  }
}

/** A key of the parts that tell rows apart. */
export const keyOf = (...parts: readonly (string | number | undefined)[]): string => JSON.stringify(parts)

/** Adds transactions to a row. */
export function addStats(to: GasStats, { calls, min, max, total }: GasStats): void {
  to.min = Math.min(to.min, min)
  to.max = Math.max(to.max, max)
  to.calls += calls
  to.total += total
}

/** Adds gas to a row. */
export const addGas = (to: { gas: number }, { gas }: { readonly gas: number }): void => {
  to.gas += gas
}
