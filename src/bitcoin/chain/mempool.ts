/** Transactions that wait for a block: how they depend on each other, and on coins. */

import { displayed } from '../displayed-hash.ts'
import type { Transaction } from '../transaction.ts'
import { type Coin, outputOf, spentKey } from './coin.ts'
import { bestBlock, type ChainState, type MempoolEntry } from './state.ts'

/** The entries whose outputs an entry's transaction spends, each once. */
export function parentsOf({ mempool }: ChainState, { inputs }: Transaction): readonly MempoolEntry[] {
  const ids = new Set(inputs.map(({ hash }) => displayed(hash)))
  return [...ids].flatMap((id) => mempool.get(id) ?? [])
}

/** The entries that spend outputs of a transaction, each once. */
export function childrenOf({ mempool, spenders }: ChainState, id: string): readonly MempoolEntry[] {
  const ids = new Set(spenders.values(id))
  return [...ids].flatMap((child) => mempool.get(child) ?? [])
}

function closure(
  first: readonly MempoolEntry[],
  next: (entry: MempoolEntry) => readonly MempoolEntry[],
): readonly MempoolEntry[] {
  const found = new Map<string, MempoolEntry>()
  const waiting = [...first]
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (found.has(entry.id)) continue
    found.set(entry.id, entry)
    waiting.push(...next(entry))
  }
  return [...found.values()].sort((a, b) => a.arrival - b.arrival)
}

/** All entries that a transaction depends on, not itself, in the order in which they came. */
export function ancestorsOf(state: ChainState, transaction: Transaction): readonly MempoolEntry[] {
  return closure(parentsOf(state, transaction), (entry) => parentsOf(state, entry.transaction))
}

/** All entries that depend on a transaction, not itself, in the order in which they came. */
export function descendantsOf(state: ChainState, id: string): readonly MempoolEntry[] {
  return closure(childrenOf(state, id), (entry) => childrenOf(state, entry.id))
}

/** The coin of an output: of a block, or of an entry, as if in the next block; `undefined` when there is none. */
export function coinOf(state: ChainState, key: string): Coin | undefined {
  const coin = state.coins.get(key)
  if (coin !== undefined) return coin
  const { id, index } = outputOf(key)
  const output = state.mempool.get(id)?.transaction.outputs[index]
  return output === undefined
    ? undefined
    : { ...output, height: bestBlock(state).height + 1, isCoinbase: false }
}

/** The entries that spend an output which the transaction spends too. */
export function conflictsOf(
  { mempool, spenders }: ChainState,
  { inputs }: Transaction,
): readonly MempoolEntry[] {
  const ids = new Set(inputs.flatMap((input) => spenders.get(spentKey(input)) ?? []))
  return [...ids].flatMap((id) => mempool.get(id) ?? [])
}

/** The state with one more entry. */
export function withEntry(state: ChainState, entry: MempoolEntry): ChainState {
  return {
    ...state,
    mempool: state.mempool.put(entry.id, entry),
    spenders: entry.transaction.inputs.reduce(
      (spenders, input) => spenders.put(spentKey(input), entry.id),
      state.spenders,
    ),
    arrivals: Math.max(state.arrivals, entry.arrival + 1),
  }
}

/** The state without some entries. */
export function withoutEntries(state: ChainState, entries: readonly MempoolEntry[]): ChainState {
  let { mempool, spenders } = state
  for (const { id, transaction } of entries) {
    mempool = mempool.delete(id)
    for (const input of transaction.inputs) {
      const key = spentKey(input)
      if (spenders.get(key) === id) spenders = spenders.delete(key)
    }
  }
  return { ...state, mempool, spenders }
}

/** Without the transactions of a new block, and without the entries that spend the same outputs. */
export function withoutMined(
  state: ChainState,
  transactions: readonly Transaction[],
  ids: readonly string[],
): ChainState {
  const mined = withoutEntries(
    state,
    ids.flatMap((id) => state.mempool.get(id) ?? []),
  )
  const conflicts = transactions.flatMap((transaction) => conflictsOf(mined, transaction))
  return withoutEntries(
    mined,
    conflicts.flatMap((entry) => [entry, ...descendantsOf(mined, entry.id)]),
  )
}

/** All entries in the order in which they came. */
export function entriesInOrder({ mempool }: ChainState): readonly MempoolEntry[] {
  return [...mempool.values()].sort((a, b) => a.arrival - b.arrival)
}
