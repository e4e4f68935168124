/** The edits of the unified trie that a change of one account makes (docs/internals/protocol.md#5-execution-and-state). */
import { type Account, EMPTY_CODE_HASH } from '../chain/account.ts'
import { concat } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { TrieEdit } from '../encoding/trie-update.ts'
import type { StateChanges, StorageChanges } from './overlay.ts'
import { CONTRACT_MARKER, cellBytes, encodeAccount, type StateKeys } from './state-keys.ts'

/** Edits of a trie: the deletions of subtrees come before all others. */
export interface StateEdits {
  readonly deletions: TrieEdit[]
  readonly edits: TrieEdit[]
  /** Code of the edited accounts, by hash. */
  readonly code: Map<Hex, Uint8Array>
}

/** What the edits of an account depend on beside the changes. */
interface StateBefore {
  readonly keys: StateKeys
  /** The account before the changes. */
  account(address: Hex): Account | undefined
  code(codeHash: Hex): Uint8Array
}

/** Appends the edits of one account. Throws when a cell is written in the storage of an account that does not exist. */
export function addAccountEdits(
  into: StateEdits,
  address: Hex,
  changes: StateChanges,
  { keys, account: accountBefore, code: codeOf }: StateBefore,
): void {
  const { deletions, edits, code } = into
  const key = keys.account(address)
  const storage = changes.storage.get(address)
  const changed = changes.accounts.get(address)
  const before = accountBefore(address)
  const account = changed === undefined ? before : (changed ?? undefined)
  const isEmptied = account === undefined || storage?.wiped === true
  if (isEmptied && before !== undefined) deletions.push({ key, value: undefined, subtree: true })
  if (account === undefined) {
    if (storage !== undefined) refuseCells(address, storage)
    return
  }
  const kept = isEmptied ? undefined : before
  if (kept === undefined || kept.nonce !== account.nonce || kept.balance !== account.balance) {
    edits.push({ key, value: encodeAccount(account) })
  }
  if (account.isContract && kept?.isContract !== true) {
    edits.push({ key: keys.marker(address), value: CONTRACT_MARKER })
  }
  if ((kept?.codeHash ?? EMPTY_CODE_HASH) !== account.codeHash) {
    const changed = changes.code.get(account.codeHash)
    const bytes = changed ?? codeOf(account.codeHash)
    // The overlay has hashed new code.
    edits.push({ key: keys.code(address), value: bytes, hash: changed && account.codeHash })
    if (bytes.length > 0) code.set(account.codeHash, bytes)
  }
  if (storage === undefined) return
  for (const [slot, value] of storage.slots) {
    edits.push({ key: concat(key, keys.cell(slot)), value: cellBytes(value) })
  }
}

/** Cells without an account would be lost silently, so the caller has made a mistake. */
function refuseCells(address: Hex, { slots }: StorageChanges): void {
  for (const value of slots.values()) {
    if (value !== 0n) throw new Error(`storage was written at ${address}, where there is no account`)
  }
}
