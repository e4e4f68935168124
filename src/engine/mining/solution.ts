/** Judges the proofs of work that miners hand in, and completes the blocks that they are for. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import { committedHash } from '../../chain/merged-mining/commitment.ts'
import { createProofSearch } from '../../chain/merged-mining/mine-header.ts'
import { attachProof, type Solution } from '../../chain/merged-mining/proof.ts'
import { validateOwnHeader } from '../../chain/validation.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import { completed } from './miner.ts'
import type { KeptWork, Works } from './work.ts'

/** A work whose proof stands, and the block that it became. */
export interface SolvedWork {
  readonly work: KeptWork
  readonly block: ExecutedBlock
}

/** Judges proofs; what it refuses has changed nothing. */
export interface Solutions {
  /**
   * A parent-chain block that commits to one of the kept works by the last tag in its coinbase. Throws `mining-refused`
   * in the node's words (docs/rpc-reference.md#713-mining).
   */
  judge(solution: Solution): SolvedWork
  /**
   * A nonce for the parent-chain block that this node itself would seal the work with; `undefined` when the work is not
   * kept, or when the nonce does not meet its target.
   */
  tryNonce(workHash: Hex, nonce: number): SolvedWork | undefined
}

interface Parts extends ChainAccess {
  readonly works: Works
  readonly logger: Logger
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** A clock that never goes back, milliseconds. */
  readonly elapsed: () => number
  /** Least time between two submissions, milliseconds; 0 is no limit. */
  readonly rateLimitMs: number
}

function refused(message: string): NodeError {
  return new NodeError('mining-refused', message)
}

/** Makes the judge. */
export function createSolutions(parts: Parts): Solutions {
  const { config, blocks, works, logger, now, elapsed, rateLimitMs } = parts
  let lastSubmission = Number.NEGATIVE_INFINITY

  /**
   * A kept work whose parent still stands, with the state that the work began with: going back to a save point takes
   * blocks away for good, and edits move the state.
   */
  function standing(hash: Hex): KeptWork | undefined {
    const work = works.find(hash)
    const parent = work && blocks.get(work.parentHash)
    return parent !== undefined && parent.postState === work?.built.parent.postState ? work : undefined
  }

  function holdToRate(): void {
    if (rateLimitMs === 0) return
    const time = elapsed()
    if (time - lastSubmission < rateLimitMs) {
      throw refused('Cannot publish block, block submission rate limit exceeded')
    }
    lastSubmission = time
  }

  return {
    judge(solution) {
      holdToRate()
      const committed = committedHash(solution.coinbase)
      if (committed === undefined) {
        throw refused('Cannot publish block, the coinbase transaction holds no tag with a hash behind it')
      }
      const hash = toHex(committed)
      const work = standing(hash)
      if (work === undefined) throw refused(`Cannot publish block, could not find hash ${hash} in the cache`)
      const { built } = work
      const header = attachProof(built.block.header, solution)
      try {
        validateOwnHeader(header, built.parent.block.header, config, now())
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        // The node's words do not say why, and a miner's author will want to know.
        logger.warn('submitted work is refused', { work: hash, rule: error.message })
        throw refused(
          `Invalid block supplied by miner: ${headerHash(header, config)} ${hash} at height ${header.number}`,
        )
      }
      return { work, block: completed(built, header, parts) }
    },

    tryNonce(workHash, nonce) {
      const work = standing(workHash)
      if (work === undefined) return undefined
      const { built, forkDetectionData } = work
      const unproven = built.block.header
      const header = createProofSearch(unproven, config, {
        forkDetectionData,
        time: unproven.timestamp,
        startNonce: nonce,
      }).advance(1)
      return header && { work, block: completed(built, header, parts) }
    },
  }
}
