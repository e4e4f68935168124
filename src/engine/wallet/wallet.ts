/** The local wallet: accounts with plain keys, and encrypted ones that are unlocked for a time. */

import { addressOf } from '../../chain/signature.ts'
import { keccak256 } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'
import { LONGEST_DELAY } from '../../options/kinds.ts'
import type { RandomBytes } from '../randomness.ts'
import { type Accounts, accountsOf } from './accounts.ts'
import type { KeyStore, StoredKey } from './key-store.ts'

/**
 * Accounts that can be created, unlocked and locked (docs/internals/rpc-reference.md#714-personal). A disabled wallet is empty,
 * and its methods must not be called.
 */
export interface Wallet extends Accounts {
  /** Creates an account with a random key, encrypted under the passphrase and unlocked for `UNLOCK_MS`. */
  create(passphrase: string): Promise<Hex>
  /** The same with a given 32-byte key, which the wallet owns from then on. Throws for a key outside 1..n-1. */
  importKey(key: Uint8Array, passphrase: string): Promise<Hex>
  /** Adds the account of the key keccak-256(seed), unlocked until it is locked or the process ends. */
  addSeed(seed: string): Hex
  /** Unlocks an encrypted account for a time in milliseconds; false when there is none. Throws `wrong-passphrase`. */
  unlock(address: Hex, passphrase: string, milliseconds: number): Promise<boolean>
  /** Locks an account, and removes it when its key is not encrypted; false when it was not unlocked. */
  lock(address: Hex): boolean
  /** All accounts for a wallet of another node; keys that were unlocked for a time are locked there. @internal */
  copy(): WalletCopy
  /**
   * Decrypts the key of an encrypted account without unlocking it; the caller must wipe the key. `undefined` when there is
   * none. Throws `wrong-passphrase`.
   */
  open(address: Hex, passphrase: string): Promise<Uint8Array | undefined>
}

/** The accounts of a wallet. */
export interface WalletCopy {
  readonly local: Accounts
  readonly encrypted: readonly StoredKey[]
}

/** Default time that an account stays unlocked, milliseconds (docs/internals/rpc-reference.md#714-personal). */
export const UNLOCK_MS = 1_800_000

/** What a wallet needs. */
export interface WalletParts {
  /** Accounts with plain keys, which the wallet owns from then on. */
  readonly local: Accounts
  readonly keyStore: KeyStore
  /** Milliseconds since 1970. */
  readonly milliseconds: () => number
  readonly random: RandomBytes
}

/** An unlocked key and when it is locked again. */
interface Unlocked {
  readonly key: Uint8Array
  /** Milliseconds since 1970. */
  readonly until: number
  readonly timer: NodeJS.Timeout
}

/** Makes the wallet. */
export function createWallet(parts: WalletParts): Wallet {
  return new LocalWallet(parts)
}

class LocalWallet implements Wallet {
  readonly enabled: boolean
  readonly #keyStore: KeyStore
  readonly #milliseconds: () => number
  readonly #random: RandomBytes
  /** Plain keys. */
  readonly #plain = new Map<Hex, Uint8Array>()
  readonly #unlocked = new Map<Hex, Unlocked>()

  constructor({ local, keyStore, milliseconds, random }: WalletParts) {
    this.enabled = local.enabled
    this.#keyStore = keyStore
    this.#milliseconds = milliseconds
    this.#random = random
    for (const address of local.list()) {
      const key = local.key(address)
      if (key !== undefined) this.#plain.set(address, key)
    }
  }

  list(): readonly Hex[] {
    return [...new Set([...this.#plain.keys(), ...this.#keyStore.list()])]
  }

  has(address: Hex): boolean {
    return this.#plain.has(address) || this.#keyStore.has(address)
  }

  /** The usable key of an account; an expired one is locked here, because its timer may be late. */
  key(address: Hex): Uint8Array | undefined {
    const key = this.#plain.get(address)
    if (key !== undefined) return key
    const unlocked = this.#unlocked.get(address)
    if (unlocked === undefined) return undefined
    if (this.#milliseconds() < unlocked.until) return unlocked.key
    this.#relock(address)
    return undefined
  }

  create(passphrase: string): Promise<Hex> {
    // With a seed the sequence of keys restarts with the node: keys that are in the store are skipped.
    let key = this.#random('key', 32)
    while (this.#keyStore.has(addressOf(key))) key = this.#random('key', 32)
    return this.importKey(key, passphrase)
  }

  async importKey(key: Uint8Array, passphrase: string): Promise<Hex> {
    const address = await this.#keyStore.add(key, passphrase)
    this.#unlockFor(address, key, UNLOCK_MS)
    return address
  }

  addSeed(seed: string): Hex {
    const key = keccak256(new TextEncoder().encode(seed))
    const address = addressOf(key)
    this.#plain.set(address, key)
    return address
  }

  async unlock(address: Hex, passphrase: string, milliseconds: number): Promise<boolean> {
    const key = await this.#keyStore.open(address, passphrase)
    if (key === undefined) return false
    this.#unlockFor(address, key, milliseconds)
    return true
  }

  lock(address: Hex): boolean {
    const wasUnlocked = this.key(address) !== undefined
    this.#relock(address)
    this.#plain.get(address)?.fill(0)
    this.#plain.delete(address)
    return wasUnlocked
  }

  copy(): WalletCopy {
    const keys = new Map([...this.#plain].map(([address, key]) => [address, key.slice()]))
    return { local: accountsOf(this.enabled, keys), encrypted: this.#keyStore.entries() }
  }

  open(address: Hex, passphrase: string): Promise<Uint8Array | undefined> {
    return this.#keyStore.open(address, passphrase)
  }

  #unlockFor(address: Hex, key: Uint8Array, milliseconds: number): void {
    this.#relock(address)
    const until = this.#milliseconds() + milliseconds
    this.#unlocked.set(address, { key, until, timer: this.#startTimer(address, until) })
  }

  #relock(address: Hex): boolean {
    const unlocked = this.#unlocked.get(address)
    if (unlocked === undefined) return false
    clearTimeout(unlocked.timer)
    unlocked.key.fill(0)
    this.#unlocked.delete(address)
    return true
  }

  /** Starts a timer that locks the account, without keeping the process alive. */
  #startTimer(address: Hex, until: number): NodeJS.Timeout {
    const rest = until - this.#milliseconds()
    return setTimeout(
      () => {
        const unlocked = this.#unlocked.get(address)
        if (unlocked === undefined) return
        if (until <= this.#milliseconds()) this.#relock(address)
        else this.#unlocked.set(address, { ...unlocked, timer: this.#startTimer(address, until) })
      },
      Math.min(Math.max(rest, 0), LONGEST_DELAY),
    ).unref()
  }
}
