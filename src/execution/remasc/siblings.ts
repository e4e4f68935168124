/** The blocks that lost against a block of the chain and were named as uncles in time. */
import type { ChainConfig } from '../../chain/config.ts'
import { prefers } from '../../chain/fork-choice.ts'
import { headerHash } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { AncestorBlock } from '../../evm/precompiles/precompile.ts'

/** An uncle is named at most this many blocks above it (docs/internals/protocol.md#32-uncles). */
const GENERATIONS = 7

/** A block beside the chain. */
export interface Sibling {
  readonly hash: Hex
  readonly coinbase: Hex
  /** Wei. */
  readonly paidFees: bigint
  readonly uncleCount: number
  /** Coinbase of the block that named it. */
  readonly publisher: Hex
  /** How many blocks above the first that could have named it that block stands. */
  readonly blocksLate: number
}

/** The ancestor at a height; throws when it is unknown, since nothing true could be paid then. */
export function ancestorAt(env: BlockEnvironment, height: number): AncestorBlock {
  const ancestor = env.ancestor(env.number - 1 - height)
  if (ancestor === undefined) throw new Error(`block ${env.number} lacks its ancestor at height ${height}`)
  return ancestor
}

/** The siblings of the ancestor at a height, in the order in which the chain names them. Looks at seven headers. */
export function siblingsAt(env: BlockEnvironment, height: number, config: ChainConfig): readonly Sibling[] {
  const siblings: Sibling[] = []
  for (let above = 1; above <= GENERATIONS; above++) {
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

/** Should one of its siblings have won against a block, by fees, hash or uncles named? Difficulty counts as equal. */
export function breaksSelectionRule({ header, hash }: AncestorBlock, siblings: readonly Sibling[]): boolean {
  const block = { totalDifficulty: 0n, paidFees: header.paidFees, hash }
  return siblings.some(
    (sibling) =>
      sibling.uncleCount > header.uncleCount || prefers({ ...sibling, totalDifficulty: 0n }, block),
  )
}

/** Looks at all ancestors that a payout needs, so that a fork fetches them together. */
export function readAncestors(env: BlockEnvironment, height: number): void {
  for (let above = 0; above <= GENERATIONS && height >= 1; above++) {
    env.ancestor(env.number - 1 - height - above)
  }
}
