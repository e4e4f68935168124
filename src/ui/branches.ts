/** The blocks that the node knows between two heights, with their branches. */
import { listOf, orNull } from './checks.ts'
import { callAll, callFor, present } from './client.ts'
import { isHex, quantity, toBigInt, toNumber } from './format.ts'
import { assignLanes, type TreeBlock } from './lanes.ts'
import { isBlock, isKnownBlock } from './model.ts'

/** Loads the blocks of these heights, newest first. */
export async function loadBranches(from: number, to: number, signal: AbortSignal): Promise<TreeBlock[]> {
  const heights = Array.from({ length: to - from + 1 }, (_, i) => to - i)
  const lists = await callAll(
    listOf(isKnownBlock),
    heights.map((height) => ['eth_getBlocksByNumber', [quantity(height)]] as const),
    signal,
  )
  const known = present(lists).flat()
  const blocks = present(
    await callAll(
      orNull(isBlock),
      known.map(({ hash }) => ['eth_getBlockByHash', [hash, false]] as const),
      signal,
    ),
  )
  const facts = new Map(known.map((each) => [each.hash, each]))
  const includedBy = new Map(
    blocks
      .filter(({ hash }) => facts.get(hash)?.inMainChain)
      .flatMap(({ uncles, number }) => uncles.map((uncle) => [uncle, toNumber(number)] as const)),
  )
  return assignLanes(
    blocks.map((block) => ({
      hash: block.hash,
      parentHash: block.parentHash,
      height: toNumber(block.number),
      isCanonical: facts.get(block.hash)?.inMainChain ?? false,
      totalDifficulty: toBigInt(facts.get(block.hash)?.totalDifficulty),
      difficulty: toBigInt(block.difficulty),
      timestamp: block.timestamp,
      miner: block.miner,
      transactions: block.transactions.length,
      uncles: block.uncles,
      includedBy: includedBy.get(block.hash),
    })),
  ).sort((a, b) => b.height - a.height || a.lane - b.lane)
}

/** The height of the head. */
export async function headHeight(signal: AbortSignal): Promise<number> {
  return toNumber(await callFor(isHex, 'eth_blockNumber', [], signal))
}
