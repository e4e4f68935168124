/** Keys that the node holds and signs with. */
import type { ChainName } from '../../chain/activations.ts'
import { addressOf } from '../../chain/signature.ts'
import { keccak256 } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'

/** The local wallet. With the wallet disabled it holds nothing, and `enabled` is false. */
export interface Accounts {
  readonly enabled: boolean
  /** In the order in which `eth_accounts` lists them. */
  list(): readonly Hex[]
  has(address: Hex): boolean
  /** The 32-byte key of a held account, or `undefined`. */
  key(address: Hex): Uint8Array | undefined
}

/** Accounts, and which of them a new local chain gives a balance at genesis. */
export interface LocalAccounts extends Accounts {
  /** Empty on the public networks, whose genesis is what it is. The ten well-known ones stand in the genesis files already. */
  readonly toFund: readonly Hex[]
}

/** Which keys to hold. */
export interface AccountsOptions {
  /** False holds none, whatever else is said. */
  readonly enabled: boolean
  readonly chain: ChainName
  /** How many; left out: 10, but none on the public networks unless a mnemonic is given. */
  readonly count?: number | undefined
  /** BIP-39 words to derive the keys from, in place of the well-known ones; see `mnemonic.ts` for the path. */
  readonly mnemonic?: string | undefined
}

const DEFAULT_COUNT = 10
const MINER_SECRET = 'regtest_miner_secret_please_change'

/** The real node's local accounts: the key is the keccak-256 of a text (docs/rpc-reference.md#9-local-chain). */
function keyOf(secret: string): Uint8Array {
  return keccak256(new TextEncoder().encode(secret))
}

/** Who is rewarded for blocks mined on the real node's local chain. */
export const MINER_ADDRESS: Hex = addressOf(keyOf(MINER_SECRET))

/** `cow`, `cow1`, `cow2`, … */
function wellKnownKeys(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => keyOf(index === 0 ? 'cow' : `cow${index}`))
}

/**
 * The local accounts. Asked for nothing in particular on a local chain, they are the real node's: the ten well-known
 * ones, then the miner's. Asked for a count or a mnemonic, they are just those. Throws `invalid-options` for a bad
 * mnemonic.
 */
export async function createAccounts(options: AccountsOptions): Promise<LocalAccounts> {
  const { enabled, chain, count, mnemonic } = options
  const isLocal = chain === 'regtest' || chain === 'devnet'
  const isDefault = count === undefined && mnemonic === undefined
  const wanted = !enabled || (isDefault && !isLocal) ? 0 : (count ?? DEFAULT_COUNT)
  const funded = keysByAddress(await keysFor(wanted, mnemonic))
  const keys = new Map(funded)
  if (enabled && isDefault && isLocal) keys.set(MINER_ADDRESS, keyOf(MINER_SECRET))
  const addresses = [...keys.keys()]
  return {
    enabled,
    toFund: isLocal ? [...funded.keys()] : [],
    list: () => addresses,
    has: (address) => keys.has(address),
    key: (address) => keys.get(address),
  }
}

async function keysFor(count: number, mnemonic: string | undefined): Promise<Uint8Array[]> {
  if (count === 0 || mnemonic === undefined) return wellKnownKeys(count)
  const { deriveKeys } = await import('./mnemonic.ts')
  return deriveKeys(mnemonic, count)
}

function keysByAddress(keys: readonly Uint8Array[]): Map<Hex, Uint8Array> {
  return new Map(keys.map((key) => [addressOf(key), key]))
}
