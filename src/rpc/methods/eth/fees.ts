/**
 * What clients ask before they price a transaction. The chain has no base fee: these answers, and blocks without a base
 * fee, make clients choose legacy transactions by themselves; after RSKIP-546 blocks have one of zero.
 */
import { z } from 'zod'
import { toQuantity } from '../../../encoding/hex.ts'
import { requireKnown } from '../../block-lookup.ts'
import { schemaForm } from '../../json-forms.ts'
import { method } from '../../method.ts'
import { expected, mapped, optional, orNull, type Parameter, refine, scalar } from '../../parameter.ts'
import { LookupBlock } from '../../wire/block-reference.ts'
import { Quantity, QuantityText } from '../../wire/scalars.ts'

/** Maximum number of blocks in an answer, and of percentiles per block. */
const MAX_BLOCKS = 1024n
const MAX_PERCENTILES = 100

/** The number of blocks; a larger number is cut to the maximum. */
const BlockCount: Parameter<number> = mapped(
  refine(Quantity, {
    where: (count) => count > 0n,
    what: `a number of blocks from 1 to ${MAX_BLOCKS}`,
  }),
  (count) => Number(count > MAX_BLOCKS ? MAX_BLOCKS : count),
)

function isAscending(percentages: readonly unknown[]): boolean {
  return percentages.every((one, i) => i === 0 || Number(one) >= Number(percentages[i - 1]))
}

/** Ascending percentages; null is none. */
const Percentiles: Parameter<readonly number[]> = orNull(
  scalar({
    form: schemaForm(() => z.array(z.number().min(0).max(100)).max(MAX_PERCENTILES).refine(isAscending)),
    description: 'Ascending percentages',
    decode: (percentages) => percentages,
    refusal: (_, name) => expected(name, `at most ${MAX_PERCENTILES} ascending numbers from 0 to 100`),
  }),
  [],
)

export const eth_feeHistory = method({
  name: 'eth_feeHistory',
  summary:
    'Gas used ratios and effective gas prices of past blocks. The chain has no base fee, so `baseFeePerGas` is always zero; after RSKIP-546 a reward is at least the minimum gas price of its block.',
  params: {
    blockCount: BlockCount,
    newestBlock: LookupBlock,
    rewardPercentiles: optional(Percentiles, []),
  },
  result: () =>
    z.strictObject({
      oldestBlock: QuantityText,
      baseFeePerGas: z.array(QuantityText),
      gasUsedRatio: z.array(z.number()),
      reward: z.array(z.array(QuantityText)).optional(),
    }),
  errors: ['block-not-found'],
  examples: [
    {
      params: ['0x1', 'latest', [50]],
      result: { oldestBlock: '0x0', baseFeePerGas: ['0x0', '0x0'], gasUsedRatio: [0], reward: [['0x0']] },
    },
  ],
  async run({ blockCount, newestBlock, rewardPercentiles }, { engine }) {
    requireKnown(newestBlock, engine.queries)
    const view = await engine.queries.block(newestBlock.reference)
    const head = engine.queries.head().block.header.number
    const newest = Math.min(view?.executed.block.header.number ?? head, head)
    const { oldest, samples } = await engine.queries.feeHistory(blockCount, newest, rewardPercentiles)
    return {
      oldestBlock: toQuantity(oldest),
      // One more than there are blocks: the answer includes the base fee of the next block.
      baseFeePerGas: Array.from({ length: samples.length + 1 }, () => toQuantity(0)),
      gasUsedRatio: samples.map(({ gasUsedRatio }) => gasUsedRatio),
      ...(rewardPercentiles.length > 0 && {
        reward: samples.map(({ prices, minimumGasPrice }, index) => {
          // Clients take the reward for the price to offer, also after a block without transactions.
          const least = engine.config.rulesAt(oldest + index).zeroBaseFee ? minimumGasPrice : 0n
          return prices.map((price) => toQuantity(price > least ? price : least))
        }),
      }),
    }
  },
})

export const eth_maxPriorityFeePerGas = method({
  name: 'eth_maxPriorityFeePerGas',
  summary: 'The same price as eth_gasPrice: without a base fee the miner gets all of it.',
  params: {},
  result: () => QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: (_, { engine }) => toQuantity(engine.queries.gasPrice()),
})

/** The methods of this file, in the order of the document. */
export const FEE_METHODS = [eth_feeHistory, eth_maxPriorityFeePerGas] as const
