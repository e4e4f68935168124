/** Builds a branch of blocks on request, before any of them is written: what `evm_reorg` puts in place of others. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { validateBody } from '../../chain/validation.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { BlockWithState } from '../blockchain/blockchain.ts'
import { type KnownBlocks, knownWith } from '../blockchain/branch.ts'
import type { Clock } from '../clock.ts'
import type { Candidates } from '../pool/order.ts'
import type { BuildRequest, BuiltBlock } from './builder.ts'
import type { Miner } from './miner.ts'

/** A block to build; what is left out is as if it were mined now. */
export interface PlannedBlock {
  /** All of them, in this order. */
  readonly transactions?: readonly Transaction[]
  /** Unix seconds. */
  readonly timestamp?: number
  readonly coinbase?: Hex
}

interface Parts {
  readonly config: ChainConfig
  readonly blocks: BlockStore
  readonly trie: StateTrie
  readonly clock: Clock
  readonly coinbase: () => Hex
  readonly extraData: Uint8Array
  readonly build: (request: BuildRequest) => Promise<BuiltBlock>
  readonly mine: Miner
}

/** How a branch is built. */
export interface BranchOptions {
  /** Do its blocks name known siblings as uncles? */
  readonly uncles: boolean
  /** Empty blocks follow those of the plan until the branch weighs more than this: a total difficulty. */
  readonly outweighs?: bigint | undefined
}

/**
 * Builds the planned blocks one on the other on top of `fork` and lends them to `use`; their states can be read until
 * that ends. Throws `invalid-params` when a transaction cannot stand where it is planned, or a timestamp does not exceed
 * the parent's.
 */
export type BranchBuilder = <T>(
  fork: ExecutedBlock,
  plan: readonly PlannedBlock[],
  options: BranchOptions,
  use: (branch: readonly BlockWithState[]) => Promise<T>,
) => Promise<T>

/** Makes the builder of branches. */
export function createBranchBuilder(parts: Parts): BranchBuilder {
  const { config, blocks, trie, clock } = parts

  async function next(
    parent: ExecutedBlock,
    planned: PlannedBlock,
    index: number,
    known: KnownBlocks,
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
    const built = await parts.build({
      parent,
      timestamp,
      coinbase: planned.coinbase ?? parts.coinbase(),
      extraData: parts.extraData,
      candidates: inOrder(transactions),
      known,
      ...(!uncles && { uncles: [] }),
    })
    const [refused] = [
      ...built.rejected,
      ...built.broken.map((transaction) => ({ transaction, reason: 'it could not be run' })),
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
    if (planned.timestamp === undefined) clock.taken()
    const block = await parts.mine(built, known)
    return { block, state: built.state, outcomes: built.result.outcomes }
  }

  return async (fork, plan, { uncles, outweighs = -1n }, use) => {
    const branch: BlockWithState[] = []
    let tip = fork
    try {
      for (let index = 0; index < plan.length || tip.totalDifficulty <= outweighs; index++) {
        const known = knownWith(
          blocks,
          branch.map(({ block }) => block),
        )
        const made = await next(tip, plan[index] ?? {}, index, known, uncles)
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

/** Offers these and no others, and withholds none. */
function inOrder(transactions: readonly Transaction[]): Candidates {
  let index = 0
  return { next: () => transactions[index++], skipSender() {} }
}
