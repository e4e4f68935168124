/** The state that a traced transaction runs on: the block's own, or an overlay above the reader of a tracer that records reads. */
import type { Tracer } from '../evm/tracing/tracer.ts'
import { Overlay, type StateChanges } from '../state/overlay.ts'
import type { TransactionOutcome } from './apply-transaction.ts'

/** A state to run on, and the step that ends an included transaction. */
export interface TracedState {
  readonly state: Overlay
  /** Reports the end to the tracer and copies the changes to the block's state. `gasLimit` in gas. */
  end(gasLimit: bigint, outcome: TransactionOutcome): void
}

/** Applies the changes of an overlay to the state below it. */
function applyChanges(state: Overlay, { accounts, storage, code }: StateChanges): void {
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

/** The state for the next transaction of a block. */
export function tracedState(state: Overlay, tracer: Tracer | undefined): TracedState {
  const below = tracer?.wrapState?.(state)
  const own = below === undefined ? state : new Overlay(below)
  return {
    state: own,
    end(gasLimit, { gasUsed, succeeded, output }) {
      tracer?.finish?.({ gasLimit, gasUsed, succeeded, output, after: own })
      if (own !== state) applyChanges(state, own.changes())
    },
  }
}
