/** The wallets of a node. */
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { equal } from '../../encoding/bytes.ts'
import { sha256 } from '../../encoding/hash.ts'
import { scriptKey } from '../chain/coin.ts'
import { digitsOf, fromDigits } from '../displayed-hash.ts'
import { type PrivateKey, publicKeyOf } from '../private-key.ts'
import { KeyTree } from './key-tree.ts'
import {
  ADDRESS_TYPES,
  type AddressType,
  NO_WALLETS,
  scriptForHash,
  scriptForKey,
  type Wallet,
  type WalletScript,
  type WalletState,
  walletKey,
  withScript,
  withSecret,
  withWallet,
} from './model.ts'
import type { Signer } from './signing.ts'

/** What a new wallet is made of. */
export type WalletOptions = Pick<
  Wallet,
  'name' | 'hasPrivateKeys' | 'isBlank' | 'avoidsReuse' | 'hasDescriptors'
> & {
  readonly passphrase: string
}

/** What is imported: a script to watch, or a public key, or a private one. */
export interface Import {
  readonly label: string
  /** Seconds since 1970. */
  readonly time: number
}

const digestOf = (passphrase: string): string => digitsOf(sha256(utf8ToBytes(passphrase)))

/** The wallets. They change at once or not at all. */
export class Wallets {
  readonly #keys: KeyTree
  readonly #write: (before: WalletState, after: WalletState) => void
  #state: WalletState

  /** `write` keeps a change; the wallets stay as they were when it throws. */
  constructor(
    seed: Uint8Array,
    write: (before: WalletState, after: WalletState) => void,
    state: WalletState = NO_WALLETS,
  ) {
    this.#keys = new KeyTree(seed)
    this.#write = write
    this.#state = state
  }

  get state(): WalletState {
    return this.#state
  }

  /** The wallet with the name, loaded or not. */
  get(name: string): Wallet | undefined {
    return this.#state.wallets.get(walletKey(name))
  }

  /** All loaded wallets in the order of their names. */
  get loaded(): readonly Wallet[] {
    const loaded = [...this.#state.wallets.values()].filter(({ isLoaded }) => isLoaded)
    return loaded.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Goes to another state, back or forth. */
  restore(state: WalletState): void {
    this.#write(this.#state, state)
    this.#state = state
  }

  create({ passphrase, ...options }: WalletOptions): Wallet {
    const wallet: Wallet = {
      ...options,
      isLoaded: true,
      passphrase: passphrase === '' ? undefined : digestOf(passphrase),
      unlockedUntil: 0,
      receiving: 0,
      change: 0,
    }
    this.restore(withWallet(this.#state, wallet))
    return wallet
  }

  setLoaded(wallet: Wallet, isLoaded: boolean): void {
    this.restore(withWallet(this.#state, { ...wallet, isLoaded }))
  }

  /** Does it wait for its passphrase? `now`: seconds since 1970. */
  isLocked({ passphrase, unlockedUntil }: Wallet, now: number): boolean {
    return passphrase !== undefined && now >= unlockedUntil
  }

  /** Unlocks until a time; false for a wrong passphrase. */
  unlock(wallet: Wallet, passphrase: string, until: number): boolean {
    const known = fromDigits(wallet.passphrase ?? '')
    if (!equal(known, fromDigits(digestOf(passphrase)))) return false
    this.restore(withWallet(this.#state, { ...wallet, unlockedUntil: until }))
    return true
  }

  lock(wallet: Wallet): void {
    this.restore(withWallet(this.#state, { ...wallet, unlockedUntil: 0 }))
  }

  setPassphrase(wallet: Wallet, passphrase: string): void {
    const changed = { ...wallet, passphrase: digestOf(passphrase), unlockedUntil: 0 }
    this.restore(withWallet(this.#state, changed))
  }

  /** A new script to receive with. `time`: seconds since 1970. */
  newScript(wallet: Wallet, type: AddressType, isChange: boolean, { label, time }: Import): WalletScript {
    const index = isChange ? wallet.change : wallet.receiving
    const { key, path } = this.#keys.keyAt(wallet.name, isChange, index)
    const publicKey = publicKeyOf(key)
    const script: WalletScript = {
      ...scriptForKey(publicKey, type),
      publicKey,
      isMine: true,
      isChange,
      label,
      path,
      time,
    }
    const counted = isChange ? { ...wallet, change: index + 1 } : { ...wallet, receiving: index + 1 }
    const withKey = withSecret(withWallet(this.#state, counted), wallet, { key })
    this.restore(withScript(this.#withRedeem(withKey, wallet, script.redeem), wallet, script))
    return script
  }

  /** Watches a script. `redeem`: the script whose hash it has. */
  watch(wallet: Wallet, script: Uint8Array, source: Import, redeem?: Uint8Array): void {
    const watched: WalletScript = {
      script,
      publicKey: undefined,
      redeem,
      isMine: false,
      isChange: false,
      path: '',
      ...source,
    }
    this.restore(this.#withNew(this.#withRedeem(this.#state, wallet, redeem), wallet, watched))
  }

  /** Watches the hash of a script, and the script itself. */
  watchHashOf(wallet: Wallet, script: Uint8Array, source: Import): void {
    this.watch(wallet, script, source)
    this.watch(wallet, scriptForHash(script), source, script)
  }

  /** Watches all addresses of a public key. */
  watchKey(wallet: Wallet, publicKey: Uint8Array, source: Import, isMine = false): void {
    let state = this.#state
    for (const type of publicKey.length === 33 ? ADDRESS_TYPES : (['legacy'] as const)) {
      const scripts = scriptForKey(publicKey, type)
      const script: WalletScript = { ...scripts, publicKey, isMine, isChange: false, path: '', ...source }
      state = this.#withRedeem(state, wallet, script.redeem)
      state = isMine ? withScript(state, wallet, script) : this.#withNew(state, wallet, script)
    }
    this.restore(state)
  }

  /** Takes a private key in, with all addresses of its public key. */
  importKey(wallet: Wallet, key: PrivateKey, source: Import): void {
    this.restore(withSecret(this.#state, wallet, { key }))
    this.watchKey(wallet, publicKeyOf(key), source, true)
  }

  /** Signs with the wallet's keys and scripts. */
  signer({ name }: Wallet): Signer {
    const { secrets } = this.#state
    const find = (hash: string) => secrets.get(walletKey(name) + hash)
    return {
      keyOf: (hash) => {
        const secret = find(hash)
        return secret !== undefined && 'key' in secret ? secret.key : undefined
      },
      scriptOf: (hash) => {
        const secret = find(hash)
        return secret !== undefined && 'script' in secret ? secret.script : undefined
      },
    }
  }

  #withRedeem(state: WalletState, wallet: Wallet, redeem: Uint8Array | undefined): WalletState {
    return redeem === undefined ? state : withSecret(state, wallet, { script: redeem })
  }

  /** What the wallet knows already stays as it is. */
  #withNew(state: WalletState, wallet: Wallet, script: WalletScript): WalletState {
    const isKnown = state.scripts.has(walletKey(wallet.name) + scriptKey(script.script))
    return isKnown ? state : withScript(state, wallet, script)
  }
}
