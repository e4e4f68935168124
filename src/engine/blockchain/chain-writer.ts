/** Takes blocks into the chain and carries what follows: the pool in memory and on disk, then everybody who listens. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateReader } from '../../state/model.ts'
import type { Store } from '../../store/level.ts'
import type { ErrorNames } from '../error-names.ts'
import type { ChainUpdate, Emitter, EngineEvents } from '../events.ts'
import type { KeptPool } from '../pool/kept-pool.ts'
import type { Pool } from '../pool/pool.ts'
import type { Pending } from '../queries/pending.ts'
import type { Blockchain, BlockWithState, Insertion } from './blockchain.ts'
import { notesOf } from './transaction-notes.ts'

interface Parts {
  readonly store: Store
  readonly blockchain: Blockchain
  readonly pool: Pool
  readonly kept: KeptPool
  readonly pending: Pending
  readonly events: Emitter<EngineEvents>
  readonly headState: () => StateReader
  readonly named: ErrorNames
}

/** Moves of the chain, for the commands to make; one at a time. */
export interface ChainWriter {
  /**
   * Inserts blocks that are each the child of the one before, in one batch and one move; `broken` are pooled
   * transactions that must not be offered again. Resolves when all is on disk and everybody has heard of it.
   */
  insert(branch: readonly BlockWithState[], broken?: readonly Transaction[]): Promise<Insertion>
  /** The head has moved on disk, and the pool with it: everybody else hears of it. */
  announce(update: ChainUpdate, runnable: readonly Transaction[]): void
  /**
   * State or dials have moved while the head stands still: what waits, or what waits of some senders, is judged again,
   * and what no longer fits leaves the pool, in memory and on disk.
   */
  rejudge(senders?: Iterable<Hex>): Promise<void>
}

/** Makes them. */
export function createChainWriter(parts: Parts): ChainWriter {
  const { store, blockchain, pool, kept, pending, events } = parts

  function announce(update: ChainUpdate, runnable: readonly Transaction[]): void {
    pending.forget()
    events.emit('chain', update)
    if (runnable.length > 0) events.emit('pool', { added: runnable })
  }

  /** Transactions that leave the chain with a move, oldest first. */
  function returning({ removed }: ChainUpdate, mined: ReadonlySet<Hex>): Transaction[] {
    return [...removed]
      .reverse()
      .flatMap(({ block }) =>
        block.transactions.filter(({ isRemasc, hash }) => !isRemasc && !mined.has(hash)),
      )
  }

  return {
    announce,
    async rejudge(senders) {
      pending.forget()
      const added = pool.rejudge(blockchain.head, parts.headState(), senders)
      await store.batch(kept.drop(pool.takeForgotten()))
      if (added.length > 0) events.emit('pool', { added })
    },
    async insert(branch, broken = []) {
      const notes = await notesOf(branch, parts.named)
      const planned = blockchain.moveTo(branch.map(({ block }) => block))
      const mined = new Set<Hex>()
      for (const { block } of planned?.added ?? []) for (const { hash } of block.transactions) mined.add(hash)
      const back = planned === undefined ? [] : returning(planned, mined)
      const insertion = await blockchain.insertBranch(branch, [
        ...kept.drop([...mined, ...broken.map(({ hash }) => hash), ...pool.takeForgotten()]),
        // Noted with the move itself, so that a crash between the two loses none of them.
        ...kept.put(back),
      ])
      for (const { hash } of broken) pool.drop(hash)
      for (const [transaction, { console }] of notes ?? []) {
        if (console !== undefined) events.emit('console', { texts: console, transaction })
      }
      const { update } = insertion
      if (update === undefined) {
        // A new sibling may be an uncle of the next block.
        pending.forget()
        return insertion
      }
      const runnable = pool.apply(update, blockchain.head, parts.headState())
      if (back.length > 0) {
        const refused = back.filter(({ hash }) => !pool.has(hash)).map(({ hash }) => hash)
        await store.batch(kept.drop([...refused, ...pool.takeForgotten()]))
      }
      announce(notes === undefined ? update : { ...update, notes }, runnable)
      return insertion
    },
  }
}
