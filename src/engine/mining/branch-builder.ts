/** Builds a branch of blocks before any of them is written, for `evm_reorg`. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { validateBody } from '../../chain/validation.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { OnDemand } from '../../state/fork/demand.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { BlockReader } from '../blockchain/ancestry.ts'
import type { BlockWithState } from '../blockchain/blockchain.ts'
import { UnwrittenBranch } from '../blockchain/unwritten-branch.ts'
import type { Clock } from '../clock.ts'
import type { PlannedBlock } from '../model.ts'
import { inOrder } from '../pool/order.ts'
import type { Progress } from '../progress.ts'
import type { BuildRequest, BuiltBlock } from './builder.ts'
import type { Miner } from './miner.ts'

interface Parts {
  readonly config: ChainConfig
  readonly blocks: BlockStore
  readonly trie: StateTrie
  readonly clock: Clock
  readonly coinbase: () => Hex
  readonly extraData: Uint8Array
  readonly build: (request: BuildRequest) => Promise<BuiltBlock>
  readonly mine: Miner
  readonly onDemand: OnDemand
}

/** The place of a block in the branch that is built. */
interface Place {
  readonly index: number
  /** Reads the stored blocks and the branch so far. */
  readonly reader: BlockReader
  readonly uncles: boolean
}

/** How a branch is built. */
export interface BranchOptions {
  /** Include known siblings as uncles. */
  readonly uncles: boolean
  /** Append empty blocks until the branch's total difficulty exceeds this. */
  readonly minimumDifficulty?: bigint | undefined
  /** Can end the building before each block: nothing of the branch is written until all of it is built. */
  readonly progress?: Progress | undefined
}

/** Builds branches of blocks. */
export class BranchBuilder {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Builds the planned blocks on `fork`, each the child of the one before, and calls `use` with them; their states are
   * readable until `use` settles. Throws `invalid-params` when a transaction is invalid in its block, or a timestamp does
   * not exceed the parent's.
   */
  async build<T>(
    fork: ExecutedBlock,
    plan: readonly PlannedBlock[],
    { uncles, minimumDifficulty = -1n, progress }: BranchOptions,
    use: (branch: readonly BlockWithState[]) => Promise<T>,
  ): Promise<T> {
    const { blocks, trie } = this.#parts
    const branch = new UnwrittenBranch(blocks, trie)
    let tip = fork
    try {
      for (let index = 0; index < plan.length || tip.totalDifficulty <= minimumDifficulty; index++) {
        progress?.step(index, undefined, 'nothing was changed')
        const made = await this.#buildNext(tip, plan[index] ?? {}, { index, reader: branch, uncles })
        branch.add(made)
        tip = made.block
      }
      return await use(branch.made)
    } finally {
      branch.settle()
    }
  }

  async #buildNext(parent: ExecutedBlock, planned: PlannedBlock, place: Place): Promise<BlockWithState> {
    const { config, clock, coinbase, extraData, onDemand } = this.#parts
    const { index, reader, uncles } = place
    const above = parent.block.header.timestamp
    const timestamp = planned.timestamp ?? clock.nextTimestamp(above)
    if (timestamp <= above) {
      throw invalidParams(
        `blocks[${index}].timestamp: ${timestamp} must be greater than the parent's ${above}`,
      )
    }
    const transactions = planned.transactions ?? []
    const built = await onDemand(() =>
      this.#parts.build({
        parent,
        timestamp,
        coinbase: planned.coinbase ?? coinbase(),
        extraData,
        candidates: inOrder(transactions),
        branch: reader,
        ...(!uncles && { uncles: [] }),
      }),
    )
    checkBuilt(built, transactions, index, config)
    if (planned.timestamp === undefined) clock.blockMined(timestamp)
    const block = await this.#parts.mine(built, reader)
    return { block, state: built.state, result: built.result }
  }
}

/** Throws `invalid-params` unless the block at an index of the plan has all its transactions and a valid body. */
function checkBuilt(
  { block, rejected, errored }: BuiltBlock,
  transactions: readonly Transaction[],
  index: number,
  config: ChainConfig,
): void {
  const [refused] = [
    ...rejected,
    ...errored.map((transaction) => ({ transaction, reason: 'it could not be run' })),
  ]
  if (refused !== undefined) {
    const place = transactions.indexOf(refused.transaction)
    throw invalidParams(`blocks[${index}].transactions[${place}]: ${refused.reason}`)
  }
  try {
    validateBody(block, config)
  } catch (error) {
    throw error instanceof NodeError ? invalidParams(`blocks[${index}]: ${error.message}`) : error
  }
}
