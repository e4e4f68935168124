/** Inserts blocks into the chain and updates what depends on the head: the pool in memory and on disk, then the listeners. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Write } from '../../store/table.ts'
import type { Emitter } from '../events.ts'
import type { ChainUpdate, EngineEvents, TransactionNotes } from '../model.ts'
import type { ParentChain } from '../parent-chain.ts'
import type { PersistedPool } from '../pool/persisted-pool.ts'
import type { Pool } from '../pool/pool.ts'
import type { CallTrees } from '../recording/call-trees.ts'
import { type NameFailure, notesOf } from '../transaction-notes.ts'
import type { BlockWithState, Insertion } from './blockchain.ts'
import type { Chain } from './chain.ts'

interface Parts extends Pick<Chain, 'store' | 'blockchain' | 'headState'> {
  readonly pool: Pool
  readonly persistedPool: PersistedPool
  /** Discards the pending block and the current mining work. */
  readonly discardPending: () => void
  readonly events: Emitter<EngineEvents>
  readonly nameFailure: NameFailure
  readonly callTrees: CallTrees
  readonly parentChain?: ParentChain | undefined
}

/** What submissions of several calls have made of the chain and of a copy of its pool. */
export interface StagedChanges {
  /** Blocks on the head, each the child of the one before. */
  readonly branch: readonly BlockWithState[]
  readonly pool: Pool
  /** Makes the writes of the pool's table. */
  readonly poolWrites: () => readonly Write[]
  /** Those that became runnable, in order. */
  readonly promoted: readonly Transaction[]
}

/** Updates chain and pool together, for the commands. Calls must not overlap. */
export class ChainWriter {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Inserts blocks that are each the child of the one before, in one batch and one update; `errored` are pooled
   * transactions whose execution threw, which leave the pool. Resolves when all is on disk and the listeners have run.
   */
  async insert(branch: readonly BlockWithState[], errored: readonly Transaction[] = []): Promise<Insertion> {
    const { blockchain, pool, persistedPool, nameFailure, callTrees, parentChain } = this.#parts
    const notes = await notesOf(branch, nameFailure)
    const planned = blockchain.planUpdate(branch.map(({ block }) => block))
    const mined = new Set<Hex>()
    for (const { block } of planned?.added ?? []) for (const { hash } of block.transactions) mined.add(hash)
    const returned = planned === undefined ? [] : unmined(planned, mined)
    const insertion = await blockchain.insertBranch(branch, [
      ...persistedPool.drop([...mined, ...errored.map(({ hash }) => hash), ...pool.takeEvicted()]),
      // In the batch of the update itself, so that a crash between the two loses none of them.
      ...persistedPool.put(returned),
      ...(parentChain?.accept(
        branch.map(({ block: { hash, block } }) => ({ hash, number: block.header.number })),
      ) ?? []),
    ])
    callTrees.keep(branch)
    for (const { hash } of errored) pool.drop(hash)
    this.#emitConsole(notes)
    const { update } = insertion
    if (update === undefined) {
      // A new sibling may be an uncle of the next block.
      this.#parts.discardPending()
      return insertion
    }
    const executable = await this.#applyToPool(update, returned)
    this.publish(notes === undefined ? update : { ...update, notes }, executable)
    return insertion
  }

  /**
   * Inserts the blocks of a branch on the head that were made from a copy of the pool, and the changes of that copy, in
   * one batch. Where it throws, nothing was changed.
   */
  async insertStaged({ branch, pool: staged, poolWrites, promoted }: StagedChanges): Promise<void> {
    const { pool, persistedPool, nameFailure, callTrees, discardPending, events } = this.#parts
    const notes = await notesOf(branch, nameFailure)
    if (promoted.length > 0) events.emit('admitted', { added: promoted })
    const persisted = persistedPool.hashes
    const update = await this.#writeStaged(branch, poolWrites()).catch((error) => {
      persistedPool.restore(persisted)
      throw error
    })
    callTrees.keep(branch)
    pool.adopt(staged)
    this.#emitConsole(notes)
    discardPending()
    if (promoted.length > 0) events.emit('pool', { added: promoted, wasAdmitted: true })
    if (update !== undefined) events.emit('chain', notes === undefined ? update : { ...update, notes })
  }

  async #writeStaged(
    branch: readonly BlockWithState[],
    poolWrites: readonly Write[],
  ): Promise<ChainUpdate | undefined> {
    const { store, blockchain } = this.#parts
    if (branch.length > 0) return (await blockchain.insertBranch(branch, poolWrites)).update
    await store.batch(poolWrites)
    return undefined
  }

  /** Emits an update that is on disk and applied to the pool; `executable` are the transactions that it made executable. */
  publish(update: ChainUpdate, executable: readonly Transaction[]): void {
    const { discardPending, events } = this.#parts
    discardPending()
    events.emit('chain', update)
    if (executable.length > 0) events.emit('pool', { added: executable })
  }

  /**
   * Validates the pooled transactions again, or those of some senders, after the state or the block overrides changed
   * under an unchanged head; what is no longer valid leaves the pool, in memory and on disk.
   */
  async revalidatePool(senders?: Iterable<Hex>): Promise<void> {
    const { store, blockchain, headState, pool, persistedPool, discardPending, events } = this.#parts
    discardPending()
    const added = pool.revalidate(blockchain.head, headState(), senders)
    await store.batch(persistedPool.drop(pool.takeEvicted()))
    if (added.length > 0) events.emit('pool', { added })
  }

  #emitConsole(notes: ReadonlyMap<Hex, TransactionNotes> | undefined): void {
    for (const [transaction, { console }] of notes ?? []) {
      if (console !== undefined) this.#parts.events.emit('console', { texts: console, transaction })
    }
  }

  /** Applies an update to the pool; `returned` are the transactions that it took off the chain. Returns the executable ones. */
  async #applyToPool(update: ChainUpdate, returned: readonly Transaction[]): Promise<readonly Transaction[]> {
    const { store, blockchain, headState, pool, persistedPool } = this.#parts
    const executable = pool.apply(update, blockchain.head, headState())
    if (returned.length > 0) {
      const refused = returned.filter(({ hash }) => !pool.has(hash)).map(({ hash }) => hash)
      await store.batch(persistedPool.drop([...refused, ...pool.takeEvicted()]))
    }
    return executable
  }
}

/** Transactions that an update takes off the canonical chain, oldest first. */
function unmined({ removed }: ChainUpdate, mined: ReadonlySet<Hex>): Transaction[] {
  return [...removed]
    .reverse()
    .flatMap(({ block }) => block.transactions.filter(({ isRemasc, hash }) => !isRemasc && !mined.has(hash)))
}
