/** Blocks of several branches laid out as lanes: lane 0 is the canonical chain. */
import type { Hex } from './format.ts'

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
