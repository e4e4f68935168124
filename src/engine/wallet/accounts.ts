/** The accounts whose keys the node has from its start. */
import { addressOf } from '../../chain/signature.ts'
import { keccak256 } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'

/** Accounts that the node can sign for. With a disabled wallet it is empty and `enabled` is false. */
export interface Accounts {
  readonly enabled: boolean
  /** In the order in which `eth_accounts` lists them. */
  list(): readonly Hex[]
  has(address: Hex): boolean
  /** The 32-byte key of an account, or `undefined`. */
  key(address: Hex): Uint8Array | undefined
}

/** Accounts, and those of them that get a balance in the genesis of a new local chain. */
export interface LocalAccounts extends Accounts {
  /** Empty on the public networks, whose genesis is fixed. The genesis files of local chains hold the ten well-known accounts already. */
  readonly toFund: readonly Hex[]
}

/** Which accounts to hold. */
export interface AccountsOptions {
  /** Whether there are any accounts, whatever the other options. */
  readonly enabled: boolean
  /** Has the chain well-known keys? */
  readonly isLocal: boolean
  /** Number of accounts; 10 unless given, but none on the public networks without a mnemonic. */
  readonly count?: number | undefined
  /** BIP-39 words to derive the keys from, instead of the well-known keys. */
  readonly mnemonic?: string | undefined
  /** BIP-32 path to which the index of each account is appended; that of `mnemonic.ts` unless given. */
  readonly derivationPath?: string | undefined
}

const DEFAULT_COUNT = 10
const MINER_SECRET = 'regtest_miner_secret_please_change'

/** Keys of the reference node's local accounts: the keccak-256 of a text (docs/internals/rpc-reference.md#9-local-chain). */
function keyOf(secret: string): Uint8Array {
  return keccak256(new TextEncoder().encode(secret))
}

/** Coinbase of blocks mined on the reference node's local chain. */
export const MINER_ADDRESS: Hex = addressOf(keyOf(MINER_SECRET))

/** `cow`, `cow1`, `cow2`, … */
function wellKnownKeys(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => keyOf(index === 0 ? 'cow' : `cow${index}`))
}

/**
 * Makes the local accounts. Without count and mnemonic a local chain has the reference node's: the ten well-known ones,
 * then the miner's. With a count or a mnemonic it has only those. Throws `invalid-options` for an invalid mnemonic.
 */
export async function createAccounts(options: AccountsOptions): Promise<LocalAccounts> {
  const { enabled, isLocal, count, mnemonic, derivationPath } = options
  const isDefault = count === undefined && mnemonic === undefined
  const wanted = !enabled || (isDefault && !isLocal) ? 0 : (count ?? DEFAULT_COUNT)
  const funded = keysByAddress(await keysFor(wanted, mnemonic, derivationPath))
  const keys = new Map(funded)
  if (enabled && isDefault && isLocal) keys.set(MINER_ADDRESS, keyOf(MINER_SECRET))
  return { ...accountsOf(enabled, keys), toFund: isLocal ? [...funded.keys()] : [] }
}

/** The accounts of some keys, listed in their order. */
export function accountsOf(enabled: boolean, keys: ReadonlyMap<Hex, Uint8Array>): Accounts {
  const addresses = [...keys.keys()]
  return {
    enabled,
    list: () => addresses,
    has: (address) => keys.has(address),
    key: (address) => keys.get(address),
  }
}

async function keysFor(
  count: number,
  mnemonic: string | undefined,
  path: string | undefined,
): Promise<Uint8Array[]> {
  if (count === 0 || mnemonic === undefined) return wellKnownKeys(count)
  const { deriveKeys } = await import('./mnemonic.ts')
  return deriveKeys(mnemonic, count, path)
}

function keysByAddress(keys: readonly Uint8Array[]): Map<Hex, Uint8Array> {
  return new Map(keys.map((key) => [addressOf(key), key]))
}
