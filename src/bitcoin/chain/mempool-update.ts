/** The mempool after a change of the best chain. */
import { accept } from './acceptance.ts'
import type { KnownScripts } from './connection.ts'
import { entriesInOrder, withEntry, withoutMined } from './mempool.ts'
import { PersistentMap } from './persistent-map.ts'
import { RuleViolation } from './rule-violation.ts'
import type { ChainState, StoredBlock } from './state.ts'

/** The transactions of blocks that were taken off, the oldest first, without coinbases. */
function returned(removed: readonly StoredBlock[]) {
  return removed.toReversed().flatMap(({ block }) => block.transactions.slice(1))
}

/**
 * After a reorganisation the mempool is built anew: of the transactions of the blocks that were taken off, and of the old
 * entries in their order. What is mined, or spends what is not there any more, is left out.
 */
function rebuilt(
  state: ChainState,
  removed: readonly StoredBlock[],
  now: number,
  isKnown: KnownScripts,
): ChainState {
  const entries = entriesInOrder(state)
  const old = new Map(entries.map((entry) => [entry.id, entry]))
  const options = { now, isKnown, hasPolicy: false }
  let next: ChainState = { ...state, mempool: PersistentMap.empty(), spenders: PersistentMap.empty() }
  for (const transaction of [...returned(removed), ...entries.map((entry) => entry.transaction)]) {
    try {
      next = accept(next, transaction, options).state
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error
    }
  }
  // Entries that stay keep the time and height at which they came.
  for (const entry of next.mempool.values()) {
    const before = old.get(entry.id)
    if (before !== undefined) next = withEntry(next, { ...entry, time: before.time, height: before.height })
  }
  return next
}

/** The state with the mempool that fits its best chain. `now`: seconds since 1970. */
export function updatedMempool(
  state: ChainState,
  removed: readonly StoredBlock[],
  added: readonly StoredBlock[],
  now: number,
  isKnown: KnownScripts,
): ChainState {
  if (removed.length > 0) return rebuilt(state, removed, now, isKnown)
  return added.reduce((next, { block, ids }) => withoutMined(next, block.transactions, ids), state)
}
