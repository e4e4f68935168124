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
import type { Clock } from '../clock.ts'
import type { PlannedBlock } from '../model.ts'
import type { Candidates } from '../pool/order.ts'
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

/** How a branch is built. */
export interface BranchOptions {
  /** Include known siblings as uncles. */
  readonly uncles: boolean
  /** Append empty blocks until the branch's total difficulty exceeds this. */
  readonly minimumDifficulty?: bigint | undefined
  /** Looks at each block whether to go on; nothing of the branch is written until all of it is built. */
  readonly progress?: Progress | undefined
}

/**
 * Builds the planned blocks on `fork`, each the child of the one before, and calls `use` with them; their states are
 * readable until `use` settles. Throws `invalid-params` when a transaction is invalid in its block, or a timestamp does
 * not exceed the parent's.
 */
export type BranchBuilder = <T>(
  fork: ExecutedBlock,
  plan: readonly PlannedBlock[],
  options: BranchOptions,
  use: (branch: readonly BlockWithState[]) => Promise<T>,
) => Promise<T>

/** Makes the branch builder. */
export function createBranchBuilder(parts: Parts): BranchBuilder {
  const { config, blocks, trie, clock } = parts

  async function buildNext(
    parent: ExecutedBlock,
    planned: PlannedBlock,
    index: number,
    reader: BlockReader,
    uncles: boolean,
  ): Promise<BlockWithState> {
    const above = parent.block.header.timestamp
    const timestamp = planned.timestamp ?? clock.nextTimestamp(above)
    if (timestamp <= above) {
      throw invalidParams(
        `blocks[${index}].timestamp: ${timestamp} must be greater than the parent's ${above}`,
      )
    }
    const transactions = planned.transactions ?? []
    const built = await parts.onDemand(() =>
      parts.build({
        parent,
        timestamp,
        coinbase: planned.coinbase ?? parts.coinbase(),
        extraData: parts.extraData,
        candidates: inOrder(transactions),
        branch: reader,
        ...(!uncles && { uncles: [] }),
      }),
    )
    const [refused] = [
      ...built.rejected,
      ...built.errored.map((transaction) => ({ transaction, reason: 'it could not be run' })),
    ]
    if (refused !== undefined) {
      const place = transactions.indexOf(refused.transaction)
      throw invalidParams(`blocks[${index}].transactions[${place}]: ${refused.reason}`)
    }
    try {
      validateBody(built.block, config)
    } catch (error) {
      throw error instanceof NodeError ? invalidParams(`blocks[${index}]: ${error.message}`) : error
    }
    if (planned.timestamp === undefined) clock.taken(timestamp)
    const block = await parts.mine(built, reader)
    return { block, state: built.state, outcomes: built.result.outcomes }
  }

  return async (fork, plan, { uncles, minimumDifficulty = -1n, progress }, use) => {
    const branch: BlockWithState[] = []
    let tip = fork
    try {
      for (let index = 0; index < plan.length || tip.totalDifficulty <= minimumDifficulty; index++) {
        progress?.step(index, undefined, 'nothing was changed')
        const reader = withUnwritten(
          blocks,
          branch.map(({ block }) => block),
        )
        const made = await buildNext(tip, plan[index] ?? {}, index, reader, uncles)
        trie.remember(made.state)
        branch.push(made)
        tip = made.block
      }
      return await use(branch)
    } finally {
      for (const { state } of branch) trie.settle(state)
    }
  }
}

/** These transactions in this order; a failed one does not skip the sender's others. */
function inOrder(transactions: readonly Transaction[]): Candidates {
  let index = 0
  return { next: () => transactions[index++], skipSender() {} }
}

/** Reads the stored blocks and some that are not written yet. */
function withUnwritten(stored: BlockReader, branch: readonly ExecutedBlock[]): BlockReader {
  const added = new Map(branch.map((block) => [block.hash, block]))
  return {
    get: (hash) => added.get(hash) ?? stored.get(hash),
    header: (hash) => added.get(hash)?.block.header ?? stored.header(hash),
    hashesAt(height) {
      const here = branch.filter(({ block }) => block.header.number === height).map(({ hash }) => hash)
      return here.length === 0 ? stored.hashesAt(height) : [...stored.hashesAt(height), ...here]
    },
  }
}
