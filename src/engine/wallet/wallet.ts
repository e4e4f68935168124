/** The local wallet: accounts with plain keys, and encrypted ones that are unlocked for a time. */
import { addressOf } from '../../chain/signature.ts'
import { keccak256 } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'
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
  /** Unlocks an encrypted account for so many milliseconds; false when there is none. Throws `invalid-params` when the passphrase is wrong. */
  unlock(address: Hex, passphrase: string, milliseconds: number): Promise<boolean>
  /** Locks an account, and removes it when its key is not encrypted; false when it was not unlocked. */
  lock(address: Hex): boolean
  /** All accounts for a wallet of another node; keys that were unlocked for a time are locked there. @internal */
  copy(): WalletCopy
  /**
   * Decrypts the key of an encrypted account without unlocking it; the caller must wipe the key. `undefined` when there is
   * none. Throws `invalid-params` when the passphrase is wrong.
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

/** Maximum delay of a timer, milliseconds. */
const MAX_DELAY = 2 ** 31 - 1

/** Makes the wallet. */
export function createWallet({ local, keyStore, milliseconds, random }: WalletParts): Wallet {
  const resident = new Map<Hex, Uint8Array>()
  for (const address of local.list()) {
    const key = local.key(address)
    if (key !== undefined) resident.set(address, key)
  }
  const unlocked = new Map<Hex, Unlocked>()

  function relock(address: Hex): boolean {
    const open = unlocked.get(address)
    if (open === undefined) return false
    clearTimeout(open.timer)
    open.key.fill(0)
    unlocked.delete(address)
    return true
  }

  /** Starts a timer that locks the account, without keeping the process alive. */
  function expiry(address: Hex, until: number): NodeJS.Timeout {
    const rest = until - milliseconds()
    return setTimeout(
      () => {
        const open = unlocked.get(address)
        if (open === undefined) return
        if (until <= milliseconds()) relock(address)
        else unlocked.set(address, { ...open, timer: expiry(address, until) })
      },
      Math.min(Math.max(rest, 0), MAX_DELAY),
    ).unref()
  }

  function hold(address: Hex, key: Uint8Array, duration: number): void {
    relock(address)
    const until = milliseconds() + duration
    unlocked.set(address, { key, until, timer: expiry(address, until) })
  }

  /** The usable key of an account; an expired one is locked here, because its timer may be late. */
  function keyOf(address: Hex): Uint8Array | undefined {
    const key = resident.get(address)
    if (key !== undefined) return key
    const open = unlocked.get(address)
    if (open === undefined) return undefined
    if (milliseconds() < open.until) return open.key
    relock(address)
    return undefined
  }

  async function importKey(key: Uint8Array, passphrase: string): Promise<Hex> {
    const address = await keyStore.add(key, passphrase)
    hold(address, key, UNLOCK_MS)
    return address
  }

  return {
    enabled: local.enabled,
    list: () => [...new Set([...resident.keys(), ...keyStore.list()])],
    has: (address) => resident.has(address) || keyStore.has(address),
    key: keyOf,
    create(passphrase) {
      // A seed starts anew with the node: the accounts that it gave before are passed over.
      let key = random('key', 32)
      while (keyStore.has(addressOf(key))) key = random('key', 32)
      return importKey(key, passphrase)
    },
    importKey,

    addSeed(seed) {
      const key = keccak256(new TextEncoder().encode(seed))
      const address = addressOf(key)
      resident.set(address, key)
      return address
    },

    async unlock(address, passphrase, duration) {
      const key = await keyStore.open(address, passphrase)
      if (key === undefined) return false
      hold(address, key, duration)
      return true
    },

    lock(address) {
      const wasUnlocked = keyOf(address) !== undefined
      relock(address)
      resident.get(address)?.fill(0)
      resident.delete(address)
      return wasUnlocked
    },

    copy() {
      const keys = new Map([...resident].map(([address, key]) => [address, key.slice()]))
      return { local: accountsOf(local.enabled, keys), encrypted: keyStore.entries() }
    },

    open: keyStore.open,
  }
}
