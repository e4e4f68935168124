/** The siblings of a block: blocks of the same height that later blocks include as uncles. */
import type { ChainConfig } from '../../chain/config.ts'
import { prefers } from '../../chain/fork-choice.ts'
import { headerHash } from '../../chain/header.ts'
import { UNCLE_GENERATIONS } from '../../chain/validation.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { AncestorBlock } from '../../evm/precompiles/precompile.ts'

/** A block that is not on the canonical chain. */
export interface Sibling {
  readonly hash: Hex
  readonly coinbase: Hex
  /** Wei. */
  readonly paidFees: bigint
  readonly uncleCount: number
  /** Coinbase of the block that includes it. */
  readonly publisher: Hex
  /** Distance of that block from the first one that could have included it. */
  readonly blocksLate: number
}

/** The ancestor at a height; throws when it is unknown, since the payout depends on it. */
export function ancestorAt(env: BlockEnvironment, height: number): AncestorBlock {
  const ancestor = env.ancestor(env.number - 1 - height)
  if (ancestor === undefined) throw new Error(`block ${env.number} lacks its ancestor at height ${height}`)
  return ancestor
}

/** The siblings of the ancestor at a height, in the order of their inclusion. Reads seven headers. */
export function siblingsAt(env: BlockEnvironment, height: number, config: ChainConfig): readonly Sibling[] {
  const siblings: Sibling[] = []
  for (let above = 1; above <= UNCLE_GENERATIONS; above++) {
    const { header, uncles } = ancestorAt(env, height + above)
    for (const uncle of uncles) {
      if (uncle.number !== height) continue
      siblings.push({
        hash: headerHash(uncle, config),
        coinbase: uncle.coinbase,
        paidFees: uncle.paidFees,
        uncleCount: uncle.uncleCount,
        publisher: header.coinbase,
        blocksLate: above - 1,
      })
    }
  }
  return siblings
}

/** Whether fork choice should have preferred a sibling, by fees, hash or number of uncles; difficulties count as equal. */
export function breaksSelectionRule({ header, hash }: AncestorBlock, siblings: readonly Sibling[]): boolean {
  const block = { totalDifficulty: 0n, paidFees: header.paidFees, hash }
  return siblings.some(
    (sibling) =>
      sibling.uncleCount > header.uncleCount || prefers({ ...sibling, totalDifficulty: 0n }, block),
  )
}

/** Reads all ancestors that a payout needs, so that a fork fetches them together. */
export function readAncestors(env: BlockEnvironment, height: number): void {
  for (let above = 0; above <= UNCLE_GENERATIONS && height >= 1; above++) {
    env.ancestor(env.number - 1 - height - above)
  }
}
