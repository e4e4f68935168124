/** Addresses that anybody may send transactions from without their key: some, or all. Kept in memory alone. */
import type { Hex } from '../../encoding/hex.ts'

/** Whom the node lets transactions be sent for. */
export class Impersonation {
  readonly #named = new Set<Hex>()
  #everybody = false

  /** May transactions be sent from this address without its key? */
  covers(address: Hex): boolean {
    return this.#everybody || this.#named.has(address)
  }

  start(address: Hex): void {
    this.#named.add(address)
  }

  /** False when the address was not named; whether everybody is impersonated does not change. */
  stop(address: Hex): boolean {
    return this.#named.delete(address)
  }

  /** Lets every address be sent from, or only those that are named. */
  setEverybody(on: boolean): void {
    this.#everybody = on
  }

  clear(): void {
    this.#named.clear()
    this.#everybody = false
  }
}
