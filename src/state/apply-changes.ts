/** Makes the changes of one overlay in another, which lies over the same state. */
import type { Overlay, StateChanges } from './overlay.ts'

/** Applies `changes` to `state`. */
export function applyChanges(state: Overlay, { accounts, storage, code }: StateChanges): void {
  for (const [address, { wiped }] of storage) if (wiped) state.clearStorage(address)
  for (const [address, account] of accounts) {
    if (account === null) {
      state.deleteAccount(address)
      continue
    }
    const fresh = code.get(account.codeHash)
    if (fresh !== undefined) state.putCode(address, fresh)
    state.putAccount(address, account)
  }
  for (const [address, { slots }] of storage) {
    for (const [slot, value] of slots) state.putCell(address, slot, value)
  }
}
