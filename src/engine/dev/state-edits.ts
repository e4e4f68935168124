/** Accounts changed by hand, outside of any transaction. */
import { EMPTY_ACCOUNT } from '../../chain/account.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { Overlay } from '../../state/overlay.ts'

/** What to change of one account; what is left out stays. The account comes into being where there is none. */
export interface AccountEdit {
  readonly address: Hex
  /** Wei. */
  readonly balance?: bigint
  readonly nonce?: bigint
  /** No bytes take the code away. */
  readonly code?: Uint8Array
  /** New words by slot; 0 empties a slot. */
  readonly storage?: ReadonlyMap<bigint, bigint>
}

/** Longest nonce that a transaction may carry (docs/protocol.md#45-pool-admission). */
const MAX_NONCE = 2n ** 64n - 1n

/**
 * Writes edits into a state. Throws `invalid-params`, with part of them written, when a nonce is larger than any
 * transaction's, or below the account's: transactions with those nonces stand in the chain, and the same transaction
 * must not stand there twice.
 */
export function applyEdits(state: Overlay, edits: readonly AccountEdit[]): void {
  for (const { address, balance, nonce, code, storage } of edits) {
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
    for (const [slot, word] of storage ?? []) state.putStorage(address, slot, word)
  }
}
