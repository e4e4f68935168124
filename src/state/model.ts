/** A state as running code reads it, and its source in the store. All is synchronous: a promise for each access would cost more than the access. */
import type { Account } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'
import type { StorageValue } from './state-keys.ts'

/** Immutable data under its keccak-256, shared by any number of readers. */
export interface NodeSource {
  /** The bytes of a trie node, or `undefined` when there is no such node. */
  node(hash: Hex): Uint8Array | undefined
  /** Code, or another value of over 32 bytes; `undefined` when there is none. The same array for the same hash while it is cached. */
  code(hash: Hex): Uint8Array | undefined
}

/** A state that can be read. Overlays are readers too, so they stack. */
export interface StateReader {
  /** `undefined` when the account does not exist. */
  account(address: Hex): Account | undefined
  /** What a storage cell holds; 0 when it is empty. */
  cell(address: Hex, slot: bigint): StorageValue
  /** The word in a storage cell; 0 when it is empty. */
  storage(address: Hex, slot: bigint): bigint
  /** All storage cells of an account that are not empty, by slot, in no particular order. Walks the whole storage. */
  cells(address: Hex): ReadonlyMap<bigint, StorageValue>
  /** Code by its hash; the same array each time for the same hash. Throws when a non-empty hash is unknown. */
  code(codeHash: Hex): Uint8Array
}

/** The outcome of committing changes: the new root, and what must be stored for it to be readable. Nothing is stored yet. */
export interface CommittedState {
  readonly root: Hex
  /** New trie nodes by hash; only those reachable from the new root. */
  readonly nodes: ReadonlyMap<Hex, Uint8Array>
  /** New code, and other new values of over 32 bytes, by hash. */
  readonly code: ReadonlyMap<Hex, Uint8Array>
}
