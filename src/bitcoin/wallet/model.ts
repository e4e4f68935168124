/** Wallets: which scripts are whose, and the keys for them. */
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { sha256 } from '../../encoding/hash.ts'
import { scriptKey } from '../chain/coin.ts'
import { PersistentMap } from '../chain/persistent-map.ts'
import { digitsOf } from '../displayed-hash.ts'
import { hash160 } from '../hash.ts'
import { outputScript, toScript, toWitnessKey } from '../output-script.ts'
import { type PrivateKey, publicKeyOf } from '../private-key.ts'
import { witnessScriptOf } from '../regtest-address.ts'

/** Kinds of addresses, with Bitcoin Core's names. */
export const ADDRESS_TYPES = ['legacy', 'p2sh-segwit', 'bech32'] as const

/** One of `ADDRESS_TYPES`. */
export type AddressType = (typeof ADDRESS_TYPES)[number]

/** A wallet. Its keys are derived from the node's seed and its name. */
export interface Wallet {
  readonly name: string
  readonly hasPrivateKeys: boolean
  readonly isBlank: boolean
  readonly avoidsReuse: boolean
  readonly hasDescriptors: boolean
  readonly isLoaded: boolean
  /** SHA-256 of the passphrase, hex digits; absent without one. It locks the wallet, but encrypts nothing. */
  readonly passphrase: string | undefined
  /** Seconds since 1970, while it has a passphrase. */
  readonly unlockedUntil: number
  /** Keys derived so far: for receiving, and for change. */
  readonly receiving: number
  readonly change: number
}

/** A script that a wallet watches. */
export interface WalletScript {
  readonly script: Uint8Array
  /** The public key that it pays to; absent for others. */
  readonly publicKey: Uint8Array | undefined
  /** The script whose hash it has. */
  readonly redeem: Uint8Array | undefined
  /** Has the wallet what is needed to spend? */
  readonly isMine: boolean
  readonly isChange: boolean
  readonly label: string
  /** Derivation path; empty for what was imported. */
  readonly path: string
  /** Seconds since 1970. */
  readonly time: number
}

/** A key or script that a wallet signs with, by its hash of 20 bytes. */
export type WalletSecret = { readonly key: PrivateKey } | { readonly script: Uint8Array }

/** All wallets. Maps by `walletKey`, the latter two with a hash behind it. */
export interface WalletState {
  readonly wallets: PersistentMap<Wallet>
  readonly scripts: PersistentMap<WalletScript>
  readonly secrets: PersistentMap<WalletSecret>
}

/** No wallets. */
export const NO_WALLETS: WalletState = {
  wallets: PersistentMap.empty(),
  scripts: PersistentMap.empty(),
  secrets: PersistentMap.empty(),
}

/** Digits of a wallet's name in keys. */
export function walletKey(name: string): string {
  return digitsOf(sha256(utf8ToBytes(name)))
}

/** The wallet's record of a script. */
export function walletScript(
  state: WalletState,
  { name }: Wallet,
  script: Uint8Array,
): WalletScript | undefined {
  return state.scripts.get(walletKey(name) + scriptKey(script))
}

/** All scripts of a wallet. */
export function walletScripts(state: WalletState, { name }: Wallet): Generator<WalletScript> {
  return state.scripts.values(walletKey(name))
}

/** The state with a changed or new wallet. */
export function withWallet(state: WalletState, wallet: Wallet): WalletState {
  return { ...state, wallets: state.wallets.put(walletKey(wallet.name), wallet) }
}

/** The state with a script of a wallet. */
export function withScript(state: WalletState, { name }: Wallet, script: WalletScript): WalletState {
  return { ...state, scripts: state.scripts.put(walletKey(name) + scriptKey(script.script), script) }
}

/** The state with a key or script that a wallet signs with. */
export function withSecret(state: WalletState, { name }: Wallet, secret: WalletSecret): WalletState {
  const hash = hash160('key' in secret ? publicKeyOf(secret.key) : secret.script)
  return { ...state, secrets: state.secrets.put(walletKey(name) + digitsOf(hash), secret) }
}

/** The script of an address type for a public key, and the script whose hash it has. */
export function scriptForKey(
  publicKey: Uint8Array,
  type: AddressType,
): { readonly script: Uint8Array; readonly redeem: Uint8Array | undefined } {
  const hash = hash160(publicKey)
  if (type === 'legacy') return { script: outputScript({ kind: 'publicKeyHash', hash }), redeem: undefined }
  const program = witnessScriptOf(0, hash)
  if (type === 'bech32') return { script: program, redeem: undefined }
  return { script: outputScript(toWitnessKey(publicKey)), redeem: program }
}

/** A payment to the hash of a script. */
export function scriptForHash(script: Uint8Array): Uint8Array {
  return outputScript(toScript(script))
}
