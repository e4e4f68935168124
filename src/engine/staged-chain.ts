/**
 * The chain as submissions of several calls leave it, before any of that is written. Pool and clock are copies: nobody
 * else sees a change until `commit` has written all of them.
 */
import type { ExecutedBlock } from '../chain/block.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Logger } from '../logger.ts'
import type { StateReader } from '../state/model.ts'
import type { Write } from '../store/table.ts'
import type { BlockWithState } from './blockchain/blockchain.ts'
import { UnwrittenBranch } from './blockchain/unwritten-branch.ts'
import type { Clock } from './clock.ts'
import type { EngineParts } from './parts.ts'
import type { Pool } from './pool/pool.ts'
import type { SubmissionParts } from './submissions.ts'
import type { NameFailure } from './transaction-notes.ts'

/** What submissions run on in place of the engine's own parts. */
export class StagedChain implements SubmissionParts {
  readonly blockchain: { head: ExecutedBlock }
  readonly pool: Pool
  readonly clock: Clock
  readonly parentChain = undefined
  readonly mining: SubmissionParts['mining']
  readonly logger: Logger
  readonly nameFailure: NameFailure
  readonly #parts: EngineParts
  readonly #branch: UnwrittenBranch
  /** Make the writes of the pool's table, in order. */
  readonly #poolWrites: (() => Write[])[] = []
  readonly #promoted: Transaction[] = []

  constructor(parts: EngineParts) {
    const { blocks, trie, blockchain, mining } = parts
    this.#parts = parts
    this.#branch = new UnwrittenBranch(blocks, trie)
    this.blockchain = { head: blockchain.head }
    this.pool = parts.pool.copy()
    this.clock = parts.clock.copy()
    this.logger = parts.logger
    this.nameFailure = parts.nameFailure
    this.mining = {
      ...mining.onBranch(this.pool, this.#branch),
      schedule: mining.schedule,
      discardPending() {},
    }
  }

  readonly headState = (): StateReader => this.#parts.stateAfter(this.blockchain.head)

  readonly store = { async batch(): Promise<void> {} }

  readonly persistedPool = {
    put: (transactions: Iterable<Transaction>): Write[] => {
      const added = [...transactions]
      this.#poolWrites.push(() => this.#parts.persistedPool.put(added))
      return []
    },
    drop: (hashes: Iterable<Hex>): Write[] => {
      const dropped = [...hashes]
      this.#poolWrites.push(() => this.#parts.persistedPool.drop(dropped))
      return []
    },
  }

  readonly events = {
    emit: (_: 'pool', { added }: { readonly added: readonly Transaction[] }): void => {
      this.#promoted.push(...added)
    },
  }

  readonly chainWriter = {
    insert: async (
      branch: readonly BlockWithState[],
      errored: readonly Transaction[] = [],
    ): Promise<void> => {
      const mined = branch.flatMap(({ block }) => block.block.transactions)
      const gone = [...mined, ...errored].map(({ hash }) => hash)
      this.persistedPool.drop([...gone, ...this.pool.takeEvicted()])
      for (const made of branch) {
        this.#branch.add(made)
        this.blockchain.head = made.block
      }
      for (const { hash } of errored) this.pool.drop(hash)
      const update = { removed: [], added: branch.map(({ block }) => block) }
      this.#promoted.push(...this.pool.apply(update, this.blockchain.head, this.headState()))
    },
  }

  /** Writes all changes in one batch, and shows them. Where it throws, nothing was changed. */
  async commit(): Promise<void> {
    const { chainWriter, clock } = this.#parts
    try {
      await chainWriter.insertStaged({
        branch: this.#branch.made,
        pool: this.pool,
        poolWrites: () => this.#poolWrites.flatMap((write) => write()),
        promoted: this.#promoted,
      })
    } finally {
      this.#branch.settle()
    }
    clock.restore(this.clock.save())
  }
}
