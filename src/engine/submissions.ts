/** Adds submitted transactions to the pool and, under automining, mines them. */
import type { ExecutedBlock } from '../chain/block.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { Failure } from '../evm/failure-message.ts'
import { afterDelays } from '../state/fork/demand.ts'
import type { Store } from '../store/level.ts'
import type { Mining } from './mining/mining.ts'
import { minesAtOnce, type PoolUpdate, type Submitted } from './model.ts'
import { NextBlock, type NextBlockParts } from './next-block.ts'
import type { PersistedPool } from './pool/persisted-pool.ts'
import { receiptAt } from './queries/lookup.ts'
import type { NameFailure } from './transaction-notes.ts'

/** What transactions are submitted to: the engine's own chain and pool, or those of a group of submissions. */
export interface SubmissionParts extends NextBlockParts {
  readonly mining: Pick<Mining, 'build' | 'mine' | 'schedule' | 'discardPending'>
  readonly store: Pick<Store, 'batch'>
  readonly persistedPool: Pick<PersistedPool, 'put' | 'drop'>
  readonly events: { emit(name: 'pool', event: PoolUpdate): void }
  readonly nameFailure: NameFailure
}

/** A transaction that the pool has admitted. */
interface Admitted {
  readonly status: 'pending' | 'queued'
  /** Emits the transactions that became executable, once. */
  readonly announce: () => void
}

/** Submits transactions to the pool of an engine. Calls must not overlap: each belongs to a job of the engine's queue. */
export class Submissions {
  readonly #parts: SubmissionParts
  readonly #next: NextBlock

  constructor(parts: SubmissionParts) {
    this.#parts = parts
    this.#next = new NextBlock(parts)
  }

  /** Adds a transaction; mines it where `minesNow`. Throws `transaction-refused`, `not-mined`. */
  async submit(
    transaction: Transaction,
    minesNow = minesAtOnce(this.#parts.mining.schedule.mode),
  ): Promise<Submitted> {
    const { status, announce } = this.#admit(transaction)
    const { store, persistedPool, pool, mining } = this.#parts
    const { handler } = mining.schedule
    const isDue = minesNow && status === 'pending'
    if (isDue && handler === undefined) return this.#mineUntilIn(transaction.hash, announce)
    announce()
    try {
      await store.batch([...persistedPool.put([transaction]), ...persistedPool.drop(pool.takeEvicted())])
    } catch (error) {
      this.#drop(transaction.hash)
      throw error
    }
    if (isDue) handler?.admitted()
    return { hash: transaction.hash }
  }

  #admit(transaction: Transaction): Admitted {
    const { pool, blockchain, mining, events } = this.#parts
    const { status, promoted } = pool.add(transaction, blockchain.head, this.#parts.headState())
    mining.discardPending()
    let isDue = promoted.length > 0
    return {
      status,
      announce() {
        if (isDue) events.emit('pool', { added: promoted })
        isDue = false
      },
    }
  }

  /** Mines blocks until one holds the transaction; drops it from the pool when that fails. */
  async #mineUntilIn(hash: Hex, announce: () => void): Promise<Submitted> {
    for (let isFirst = true; ; isFirst = false) {
      const mineNext = () => this.#next.mine(undefined, this.#parts.blockchain.head, announce)
      const { block, built } = await (isFirst ? mineNext() : afterDelays(mineNext)).catch((error) => {
        this.#drop(hash)
        throw error
      })
      const index = block.block.transactions.findIndex((other) => other.hash === hash)
      if (index >= 0) {
        return { hash, mined: this.#minedAt(block, index, built.result.outcomes[index]?.failure) }
      }
      // A block without any pooled transaction: the next one would not include this transaction either.
      if (block.block.transactions.length === 1 || this.#parts.pool.get(hash) === undefined) break
    }
    this.#drop(hash)
    throw new NodeError('not-mined', "Unknown error when sending transaction: transaction wasn't mined")
  }

  #drop(hash: Hex): void {
    this.#parts.pool.drop(hash)
    this.#parts.mining.discardPending()
  }

  #minedAt(
    block: ExecutedBlock,
    index: number,
    failure: Failure | undefined,
  ): NonNullable<Submitted['mined']> {
    const view = receiptAt(block, index)
    if (view === undefined) throw new Error(`block ${block.hash} has no transaction ${index}`)
    return failure === undefined
      ? { view }
      : { view, failure: this.#parts.nameFailure(failure, view.transaction.to) }
  }
}
