/** Where a node came from, and what a copy of it begins with: for pools only, not for users of a node. */
import type { AbiRegistry } from '../abi/registry.ts'
import type { BitcoinState } from '../bitcoin/bitcoin.ts'
import type { Genesis } from '../chain/genesis.ts'
import type { Hex } from '../encoding/hex.ts'
import type { NodeModes } from '../engine/dev/dev-tools.ts'
import type { Engine } from '../engine/engine.ts'
import type { Peers } from '../engine/peers/peer-scoring.ts'
import type { Recordings } from '../engine/recording/recordings.ts'
import { type Accounts, accountsOf, type LocalAccounts } from '../engine/wallet/accounts.ts'
import type { WalletCopy } from '../engine/wallet/wallet.ts'
import { NodeError } from '../errors.ts'
import type { NodeOptions } from '../options/options.ts'
import type { Load } from '../rpc/load.ts'
import type { Store } from '../store/level.ts'

/** What a copy of a node begins with, beside the entries of its database. */
export interface Start {
  readonly genesis: Genesis
  /** Never changes. */
  readonly names: AbiRegistry
  readonly accounts: WalletCopy
  /** Shared: what runs on the copy is recorded with what runs on its node. */
  readonly recordings: Recordings
  readonly modes: NodeModes
  /** Of a node with a Bitcoin chain. */
  readonly bitcoin?: BitcoinState | undefined
}

/** What a copy shares with its node, which must then stay open longer: callers, and the limits of concurrent work. */
export interface Shared {
  readonly peers: Peers
  readonly load: Load
}

/** What a chain of a pool is made from. */
export interface Origin {
  readonly engine: Engine
  readonly given: NodeOptions
  /** Closed with the node. */
  readonly store: Store
  readonly shared: Shared
  /** Copies what the node has now. */
  start(): Start
  /** Changes with the chain, the state after the head, and the pool. */
  version(): string
}

/** The same accounts with keys of their own: a wallet wipes the keys that it locks. */
export function copyOf(local: Accounts): LocalAccounts {
  const keys = new Map<Hex, Uint8Array>()
  for (const address of local.list()) keys.set(address, (local.key(address) as Uint8Array).slice())
  return { ...accountsOf(local.enabled, keys), toFund: [] }
}

/** The origins of open nodes: what another node needs to continue from one, kept from users of a node. */
const origins = new WeakMap<object, Origin>()

/** Notes where a node came from. */
export function setOrigin(node: object, origin: Origin): void {
  origins.set(node, origin)
}

/** Where a node came from. Throws `invalid-options` for an object of another package. */
export function originOf(node: object): Origin {
  const origin = origins.get(node)
  if (origin === undefined) throw new NodeError('invalid-options', 'This is not a node of createNode.')
  return origin
}
