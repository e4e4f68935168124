/** The state as the EVM reads it, and the store below it. Everything is synchronous: no promise in the inner loops. */
import type { Account } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'

/** Immutable, content-addressed data below every state: trie nodes and code by their keccak-256. Shared by any number of readers. */
export interface NodeSource {
  /** The node's RLP, or `undefined` when no such node is known. */
  node(hash: Hex): Uint8Array | undefined
  /** The code, or `undefined` when unknown. Returns the same array for the same hash while it is cached. */
  code(hash: Hex): Uint8Array | undefined
}

/** A state that can be read. Overlays are readers too, so they stack. */
export interface StateReader {
  /** `undefined` when the account does not exist. */
  account(address: Hex): Account | undefined
  /** The word in a storage slot; 0 when empty. */
  storage(address: Hex, slot: bigint): bigint
  /** Code by its hash; the same array each time for the same hash. Throws when a non-empty hash is unknown. */
  code(codeHash: Hex): Uint8Array
}

/** The outcome of committing an overlay: the new root, and what must be written for it to be readable. Nothing is written yet. */
export interface CommittedState {
  readonly root: Hex
  /** New trie nodes of account and storage tries, by hash; only those reachable from the new root. */
  readonly nodes: ReadonlyMap<Hex, Uint8Array>
  /** New code by hash. */
  readonly code: ReadonlyMap<Hex, Uint8Array>
}
