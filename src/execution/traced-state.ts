/** The state that a traced transaction runs on: the block's own, or an overlay above the reader of a tracer that records reads. */
import type { Tracer } from '../evm/tracing/tracer.ts'
import { applyChanges } from '../state/apply-changes.ts'
import { Overlay } from '../state/overlay.ts'
import type { TransactionOutcome } from './apply-transaction.ts'

/** A state to run on, and the step that ends an included transaction. */
export interface TracedState {
  readonly state: Overlay
  /** Reports the end to the tracer and copies the changes to the block's state. `gasLimit` in gas. */
  end(gasLimit: bigint, outcome: TransactionOutcome): void
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
