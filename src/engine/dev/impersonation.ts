/** Addresses that transactions may be sent from without their key. In memory only. */
import type { Hex } from '../../encoding/hex.ts'

/** The impersonated addresses: a list, or all. */
export class Impersonation {
  readonly #addresses = new Set<Hex>()
  #everybody = false

  /** Whether transactions may be sent from this address without its key. */
  covers(address: Hex): boolean {
    return this.#everybody || this.#addresses.has(address)
  }

  start(address: Hex): void {
    this.#addresses.add(address)
  }

  /** False when the address was not in the list; does not change `setEverybody`. */
  stop(address: Hex): boolean {
    return this.#addresses.delete(address)
  }

  /** Impersonates all addresses, or only those in the list. */
  setEverybody(on: boolean): void {
    this.#everybody = on
  }

  clear(): void {
    this.#addresses.clear()
    this.#everybody = false
  }
}
