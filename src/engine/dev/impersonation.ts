/** Addresses that transactions may be sent from without their key, and signatures that recover to given addresses. In memory only. */
import type { Hex } from '../../encoding/hex.ts'

/** The impersonated addresses and signatures, to be restored later. */
export interface ImpersonationState {
  readonly addresses: readonly Hex[]
  readonly everybody: boolean
  readonly signatures: readonly (readonly [Hex, Hex])[]
}

/** The impersonated addresses: a list, or all. */
export class Impersonation {
  readonly #addresses = new Set<Hex>()
  readonly #signatures = new Map<Hex, Hex>()
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

  /** Signers by signature, for ECRECOVER: r, s and v (27 or 28) in hex. */
  get signatures(): ReadonlyMap<Hex, Hex> {
    return this.#signatures
  }

  /** Lets a signature of 65 bytes, whatever it signs, recover to an address. */
  impersonateSignature(signature: Hex, address: Hex): void {
    this.#signatures.set(signature, address)
  }

  save(): ImpersonationState {
    return { addresses: [...this.#addresses], everybody: this.#everybody, signatures: [...this.#signatures] }
  }

  restore({ addresses, everybody, signatures }: ImpersonationState): void {
    this.#addresses.clear()
    for (const address of addresses) this.#addresses.add(address)
    this.#everybody = everybody
    this.#signatures.clear()
    for (const [signature, address] of signatures) this.#signatures.set(signature, address)
  }

  clear(): void {
    this.#signatures.clear()
    this.#addresses.clear()
    this.#everybody = false
  }
}
