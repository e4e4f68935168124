/** The blocks that the node knows between two heights, laid out as lanes: lane 0 is the canonical chain. */
import { call, callAll, RpcError } from './client.ts'
import { type Hex, toBigInt, toNumber } from './format.ts'
import type { Block } from './model.ts'

/** A block of the tree. */
export interface TreeBlock {
  readonly hash: Hex
  readonly parentHash: Hex
  readonly height: number
  readonly isCanonical: boolean
  /** Of the branch up to the block, uncles included. */
  readonly totalDifficulty: bigint
  readonly difficulty: bigint
  readonly timestamp: Hex
  readonly miner: Hex
  readonly transactions: number
  readonly uncles: readonly Hex[]
  /** The canonical block that names it as an uncle. */
  readonly includedBy: number | undefined
  readonly lane: number
}

interface Known {
  readonly hash: Hex
  readonly totalDifficulty: Hex
  readonly inMainChain: boolean
}

const hex = (height: number): Hex => `0x${height.toString(16)}`

/** The results that are there. */
function present<Value>(outcomes: readonly (Value | null | RpcError)[]): Value[] {
  return outcomes.flatMap((outcome) => (outcome === null || outcome instanceof RpcError ? [] : [outcome]))
}

/**
 * Gives each block a lane: the canonical chain has lane 0, a child of a side block takes its lane, and any other side
 * block takes the first lane that is free from its height down to its parent's.
 */
export function assignLanes(blocks: readonly Omit<TreeBlock, 'lane'>[]): TreeBlock[] {
  const lanes = new Map<Hex, number>()
  /** The height up to which each lane is taken. */
  const takenTo: number[] = []
  const upwards = [...blocks].sort(
    (a, b) => a.height - b.height || Number(b.isCanonical) - Number(a.isCanonical),
  )
  /** Parents whose lane a child has taken over. */
  const continued = new Set<Hex>()
  for (const { hash, parentHash, height, isCanonical } of upwards) {
    if (isCanonical) {
      lanes.set(hash, 0)
      continue
    }
    const parentLane = lanes.get(parentHash) ?? 0
    let lane = parentLane
    if (parentLane === 0 || continued.has(parentHash)) {
      lane = 1
      while ((takenTo[lane] ?? -1) >= height - 1) lane++
    }
    continued.add(parentHash)
    lanes.set(hash, lane)
    takenTo[lane] = height
  }
  return blocks.map((block) => ({ ...block, lane: lanes.get(block.hash) ?? 0 }))
}

/** Loads the blocks of these heights, newest first. */
export async function loadBranches(from: number, to: number, signal: AbortSignal): Promise<TreeBlock[]> {
  const heights = Array.from({ length: to - from + 1 }, (_, i) => to - i)
  const lists = await callAll<readonly Known[]>(
    heights.map((height) => ['eth_getBlocksByNumber', [hex(height)]] as const),
    signal,
  )
  const known = present(lists).flat()
  const blocks = present(
    await callAll<Block | null>(
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
  return toNumber(await call<Hex>('eth_blockNumber', [], signal))
}
