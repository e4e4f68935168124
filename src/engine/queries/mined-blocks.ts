/** The blocks of a miner, found by the index of miners. */
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { ChainIndexes } from '../index/chain-indexes.ts'

/** Heights that the index is asked for at once. */
const HEIGHTS = 16_384

/** Reads of blocks by their miner. */
export interface MinedBlockQueries {
  /**
   * Headers of the canonical blocks that an account mined, the newest first; further ones are read when the consumer goes
   * on. On a fork those of its own blocks.
   */
  minedBlocks(miner: Hex): AsyncGenerator<Header>
}

/** The headers of an account's blocks. */
export async function* minedBlocks(
  { blockchain, blocks, indexes }: ChainAccess & { readonly indexes: Pick<ChainIndexes, 'minedBy'> },
  miner: Hex,
): AsyncGenerator<Header> {
  const yieldIfDue = createEventLoopYield('query')
  for (let to = blockchain.head.block.header.number; to >= blocks.first; to -= HEIGHTS) {
    const range = { from: Math.max(blocks.first, to - HEIGHTS + 1), to }
    const heights: number[] = []
    for await (const chunk of indexes.minedBy(miner, range, yieldIfDue)) heights.push(...chunk)
    for (const height of heights.reverse()) {
      const header = blockchain.headerAt(height)?.header
      if (header?.coinbase === miner) yield header
    }
  }
}
