/** The state that a traced transaction runs on: the block's own, or one laid over it where the tracer watches reads. */

import type { Tracer } from '../evm/tracing/tracer.ts'
import { Overlay, type StateChanges } from '../state/overlay.ts'
import type { TransactionOutcome } from './apply-transaction.ts'

/** A state to run on, and what to do when the transaction is over and stands. */
export interface WatchedState {
  readonly state: Overlay
  /** Tells the tracer, and brings the changes into the block's state. `gasLimit` in gas. */
  end(gasLimit: bigint, outcome: TransactionOutcome): void
}

/** Makes in `state` what another overlay changed over it. */
function absorb(state: Overlay, { accounts, storage, code }: StateChanges): void {
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

/** Where the next transaction of a block runs. */
export function watchedState(state: Overlay, tracer: Tracer | undefined): WatchedState {
  const below = tracer?.watch?.(state)
  const own = below === undefined ? state : new Overlay(below)
  return {
    state: own,
    end(gasLimit, { gasUsed, succeeded, output }) {
      tracer?.finish?.({ gasLimit, gasUsed, succeeded, output, after: own })
      if (own !== state) absorb(state, own.changes())
    },
  }
}
