/** State edits: accounts changed outside of any transaction. */
import { EMPTY_ACCOUNT, MAX_NONCE } from '../../chain/account.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import { type NamedVariables, putVariables } from '../../execution/variables.ts'
import type { Overlay } from '../../state/overlay.ts'
import { storageValue } from '../../state/state-keys.ts'

/** The edit of one account; absent members stay unchanged. A missing account is created. */
export interface AccountEdit {
  readonly address: Hex
  /** Wei. */
  readonly balance?: bigint
  readonly nonce?: bigint
  /** Empty removes the code. */
  readonly code?: Uint8Array
  /** New words by slot; 0 clears a slot. */
  readonly storage?: ReadonlyMap<bigint, bigint>
  /** `storage` replaces all words, and not only those of its slots. */
  readonly replacesStorage?: boolean
  /** Contents of cells of a precompiled contract, of any length; none empty a cell. */
  readonly cells?: ReadonlyMap<bigint, Uint8Array>
  /** Written after `code` and `storage`. */
  readonly variables?: NamedVariables
}

/**
 * Writes edits into a state. Throws `invalid-params`, with part of them written, when a nonce exceeds the maximum or is
 * below the account's: transactions with those nonces are in the chain, which must not hold the same transaction twice; and
 * for variables that do not fit the contract.
 */
export function applyEdits(state: Overlay, edits: readonly AccountEdit[]): void {
  for (const edit of edits) {
    const { address, balance, nonce, code, storage, replacesStorage, variables, cells } = edit
    const account = state.account(address) ?? EMPTY_ACCOUNT
    if (nonce !== undefined && nonce < account.nonce) {
      throw invalidParams(`nonce: ${nonce} is below the account's ${account.nonce}`)
    }
    if (nonce !== undefined && nonce > MAX_NONCE) throw invalidParams(`nonce: ${nonce} exceeds ${MAX_NONCE}`)
    state.putAccount(address, {
      ...account,
      balance: balance ?? account.balance,
      nonce: nonce ?? account.nonce,
    })
    if (code !== undefined) state.putCode(address, code)
    if (replacesStorage === true) state.clearStorage(address)
    for (const [slot, word] of storage ?? []) state.putStorage(address, slot, word)
    for (const [slot, bytes] of cells ?? []) state.putCell(address, slot, storageValue(bytes))
    if (variables !== undefined) putVariables(state, address, variables)
  }
}
