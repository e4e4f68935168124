/** Mines the next block of a chain: the one of the engine, or one that is not written yet. */
import type { ExecutedBlock } from '../chain/block.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { StateReader } from '../state/model.ts'
import type { BlockWithState } from './blockchain/blockchain.ts'
import type { ChainWriter } from './blockchain/chain-writer.ts'
import type { Clock } from './clock.ts'
import type { BuiltBlock } from './mining/builder.ts'
import type { Mining } from './mining/mining.ts'
import type { MineRequest } from './model.ts'
import type { ParentChain } from './parent-chain.ts'
import type { Pool } from './pool/pool.ts'

/** A mined block, and what it was built from. */
export interface MinedBlock {
  readonly block: ExecutedBlock
  readonly built: BuiltBlock
}

/** What mines blocks on a chain. */
export interface NextBlockParts {
  readonly blockchain: { readonly head: ExecutedBlock }
  /** The state after the head. */
  readonly headState: () => StateReader
  readonly pool: Pool
  readonly clock: Clock
  readonly mining: Pick<Mining, 'build' | 'mine'>
  readonly chainWriter: { insert(...given: Parameters<ChainWriter['insert']>): Promise<unknown> }
  readonly parentChain: ParentChain | undefined
  readonly logger: Logger
}

/** A block with its state, as the chain inserts it. */
export function withState(block: ExecutedBlock, { state, result }: BuiltBlock): BlockWithState {
  return { block, state, result }
}

/** Mines single blocks. Calls must not overlap: each belongs to a job of the engine's queue. */
export class NextBlock {
  readonly #parts: NextBlockParts

  constructor(parts: NextBlockParts) {
    this.#parts = parts
  }

  /** Mines one block. Resolves when it is inserted. `onBuilt` runs before its first effect. */
  async mine(
    timestamp?: number,
    parent = this.#parts.blockchain.head,
    onBuilt = () => {},
    choose?: MineRequest['choose'],
  ): Promise<MinedBlock> {
    const { mining, chainWriter, clock } = this.#parts
    await this.#admitParentTransactions(parent)
    const time = timestamp ?? clock.nextTimestamp(parent.block.header.timestamp)
    const built = await mining.build(parent, time, choose)
    onBuilt()
    const block = await mining.mine(built)
    await chainWriter.insert([withState(block, built)], built.errored)
    clock.blockMined(block.block.header.timestamp, { given: timestamp !== undefined })
    return { block, built }
  }

  /** Puts the transactions about the parent chain into the pool, for a block on the head. */
  async #admitParentTransactions(parent: ExecutedBlock): Promise<void> {
    const { parentChain, blockchain, pool, headState, logger } = this.#parts
    if (parentChain === undefined || parent.hash !== blockchain.head.hash) return
    for (const transaction of await parentChain.transactions()) {
      try {
        pool.add(transaction, blockchain.head, headState())
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        logger.warn(`a transaction of ${transaction.from} to the Bridge was refused: ${error.message}`)
      }
    }
  }
}
