/** Gas used ratios and gas prices of consecutive blocks, for `eth_feeHistory`. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import { createEventLoopYield } from '../event-loop.ts'

/** The sample of one block. */
export interface FeeSample {
  /** Gas used over gas limit. */
  readonly gasUsedRatio: number
  /** Wei per gas at each requested percentile, weighted by gas used; zeros for a block that used none. */
  readonly prices: readonly bigint[]
  /** Of the block, wei per gas. */
  readonly minimumGasPrice: bigint
}

/** Samples of the blocks from height `oldest` on. */
export interface FeeHistory {
  readonly oldest: number
  readonly samples: readonly FeeSample[]
}

/** The gas prices at the given percentiles (percent of the block's gas used, ascending). */
function pricesOf(block: ExecutedBlock, percentiles: readonly number[]): bigint[] {
  const paid = block.block.transactions
    .map(({ gasPrice, isRemasc }, index) => ({
      gasPrice,
      gasUsed: isRemasc ? 0n : (block.receipts[index]?.gasUsed ?? 0n),
    }))
    .filter(({ gasUsed }) => gasUsed > 0n)
    .sort((a, b) => (a.gasPrice < b.gasPrice ? -1 : a.gasPrice > b.gasPrice ? 1 : 0))
  const total = Number(paid.reduce((sum, { gasUsed }) => sum + gasUsed, 0n))
  let index = 0
  let passed = Number(paid[0]?.gasUsed ?? 0n)
  return percentiles.map((percentile) => {
    while (index < paid.length - 1 && passed < (total * percentile) / 100) {
      index++
      passed += Number(paid[index]?.gasUsed ?? 0n)
    }
    return paid[index]?.gasPrice ?? 0n
  })
}

/** Makes the query: `count` blocks up to and including the canonical one at height `newest`; percentiles ascend. */
export function createFeeHistory({ blockchain, blocks }: ChainAccess) {
  return async (count: number, newest: number, percentiles: readonly number[]): Promise<FeeHistory> => {
    const yieldIfDue = createEventLoopYield('query')
    const oldest = Math.max(blocks.lowest, newest - count + 1)
    const samples: FeeSample[] = []
    for (let height = oldest; height <= newest; height++) {
      const at = blockchain.headerAt(height)
      // The chain may have become shorter during a yield.
      if (at === undefined) break
      const block = percentiles.length === 0 ? undefined : blocks.get(at.hash)
      samples.push({
        gasUsedRatio: Number(at.header.gasUsed) / Number(at.header.gasLimit),
        prices: block === undefined ? [] : pricesOf(block, percentiles),
        minimumGasPrice: at.header.minimumGasPrice,
      })
      await yieldIfDue()
    }
    return { oldest, samples }
  }
}
