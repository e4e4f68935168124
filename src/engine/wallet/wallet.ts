/** The local wallet: keys that lie open for good, and encrypted ones that are unlocked for a while. */
import { getRandomValues } from 'node:crypto'
import { addressOf } from '../../chain/signature.ts'
import { keccak256 } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Accounts } from './accounts.ts'
import type { KeyStore } from './key-store.ts'

/**
 * Accounts that can be made, opened and locked (docs/rpc-reference.md#714-personal). Disabled, it holds
 * nothing and is not to be asked for more.
 */
export interface Wallet extends Accounts {
  /** Makes an account with a random key, encrypted under the passphrase and unlocked for `UNLOCK_MS`. */
  create(passphrase: string): Promise<Hex>
  /** The same for a given 32-byte key, which is the wallet's from then on. Throws on one outside 1..n-1. */
  importKey(key: Uint8Array, passphrase: string): Promise<Hex>
  /** An account of the key keccak-256(seed), unlocked until the process ends or it is locked. */
  addSeed(seed: string): Hex
  /** Opens a encrypted account for so many milliseconds from now; false when there is none. Throws `invalid-params` when the passphrase is wrong. */
  unlock(address: Hex, passphrase: string, milliseconds: number): Promise<boolean>
  /** Closes an account, and forgets it when its key is encrypted nowhere; false when it was not open. */
  lock(address: Hex): boolean
  /** The key of a encrypted account for one use, for the caller to wipe, locked as before; `undefined` when there is none. Throws `invalid-params` when the passphrase is wrong. */
  open(address: Hex, passphrase: string): Promise<Uint8Array | undefined>
}

/** How long an account stays unlocked unless told otherwise, milliseconds (docs/rpc-reference.md#714-personal). */
export const UNLOCK_MS = 1_800_000

/** What a wallet is made of. */
export interface WalletParts {
  /** Accounts that lie open from the start. The wallet owns their keys from then on. */
  readonly local: Accounts
  readonly keyStore: KeyStore
  /** Milliseconds since 1970. */
  readonly milliseconds: () => number
}

/** A key that lies open until a moment. */
interface Unlocked {
  readonly key: Uint8Array
  readonly until: number
  readonly timer: NodeJS.Timeout
}

/** Longest wait of a timer, milliseconds. */
const LONGEST_WAIT = 2 ** 31 - 1

/** Makes the wallet. */
export function createWallet({ local, keyStore, milliseconds }: WalletParts): Wallet {
  const resident = new Map<Hex, Uint8Array>()
  for (const address of local.list()) {
    const key = local.key(address)
    if (key !== undefined) resident.set(address, key)
  }
  const unlocked = new Map<Hex, Unlocked>()

  function close(address: Hex): boolean {
    const open = unlocked.get(address)
    if (open === undefined) return false
    clearTimeout(open.timer)
    open.key.fill(0)
    unlocked.delete(address)
    return true
  }

  /** A timer that wipes the key in time, and does not keep the process alive. */
  function expiry(address: Hex, until: number): NodeJS.Timeout {
    const rest = until - milliseconds()
    return setTimeout(
      () => {
        const open = unlocked.get(address)
        if (open === undefined) return
        if (until <= milliseconds()) close(address)
        else unlocked.set(address, { ...open, timer: expiry(address, until) })
      },
      Math.min(Math.max(rest, 0), LONGEST_WAIT),
    ).unref()
  }

  function hold(address: Hex, key: Uint8Array, duration: number): void {
    close(address)
    const until = milliseconds() + duration
    unlocked.set(address, { key, until, timer: expiry(address, until) })
  }

  /** What lies open of an account now: a timer may be late. */
  function keyOf(address: Hex): Uint8Array | undefined {
    const key = resident.get(address)
    if (key !== undefined) return key
    const open = unlocked.get(address)
    if (open === undefined) return undefined
    if (milliseconds() < open.until) return open.key
    close(address)
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
    create: (passphrase) => importKey(getRandomValues(new Uint8Array(32)), passphrase),
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
      const wasOpen = keyOf(address) !== undefined
      close(address)
      resident.get(address)?.fill(0)
      resident.delete(address)
      return wasOpen
    },

    open: keyStore.open,
  }
}
