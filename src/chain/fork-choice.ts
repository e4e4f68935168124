/** Fork choice between two branches. */
import type { Hex } from '../encoding/hex.ts'

/** The properties of a branch's tip that decide. */
export interface BranchTip {
  /** Difficulty summed from genesis, uncles included. */
  readonly totalDifficulty: bigint
  /** Fees of the tip's transactions, wei. */
  readonly paidFees: bigint
  readonly hash: Hex
}

/**
 * Does the candidate replace the best tip (docs/internals/protocol.md#33-fork-choice)? More difficulty wins. At equal
 * difficulty more than twice the fees win, then the smaller hash if its fees are more than half of the
 * other's; a block without fees never replaces another by its hash.
 */
export function prefers(candidate: BranchTip, best: BranchTip): boolean {
  if (candidate.totalDifficulty !== best.totalDifficulty) {
    return candidate.totalDifficulty > best.totalDifficulty
  }
  if (candidate.paidFees > 2n * best.paidFees) return true
  return best.paidFees < 2n * candidate.paidFees && candidate.hash < best.hash
}
