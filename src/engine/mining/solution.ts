/** Verifies the proofs of work that miners submit, and completes the blocks that they are for. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import { committedHash } from '../../chain/merged-mining/commitment.ts'
import { ProofSearch } from '../../chain/merged-mining/mine-header.ts'
import { attachProof, type Solution } from '../../chain/merged-mining/proof.ts'
import { validateOwnHeader } from '../../chain/validation.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import { completeBlock } from './miner.ts'
import type { CachedWork, Works } from './work.ts'

/** A work with a valid proof, and the completed block. */
export interface SolvedWork {
  readonly work: CachedWork
  readonly block: ExecutedBlock
}

/** Verifies proofs; changes neither chain nor works. */
export interface Solutions {
  /**
   * Verifies a parent-chain block that commits to one of the cached works by the last tag in its coinbase. Throws
   * `mining-refused` with the reference node's text (docs/internals/rpc-reference.md#713-mining).
   */
  verify(solution: Solution): SolvedWork
  /**
   * Verifies a nonce of the parent-chain block that this node would mine for the work; `undefined` when the work is not
   * cached, or when the nonce does not meet its target.
   */
  tryNonce(workHash: Hex, nonce: number): SolvedWork | undefined
}

interface Parts extends ChainAccess {
  readonly works: Works
  readonly logger: Logger
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** Monotonic clock, milliseconds. */
  readonly elapsed: () => number
  /** Minimum time between two submissions, milliseconds; 0 is no limit. */
  readonly rateLimitMs: number
}

function refused(message: string): NodeError {
  return new NodeError('mining-refused', message)
}

/** Verifies the proofs for the works of a node. */
export class SolutionVerifier implements Solutions {
  readonly #parts: Parts
  #lastSubmission = Number.NEGATIVE_INFINITY

  constructor(parts: Parts) {
    this.#parts = parts
  }

  verify(solution: Solution): SolvedWork {
    const { config, logger, now } = this.#parts
    this.#enforceRateLimit()
    const committed = committedHash(solution.coinbase)
    if (committed === undefined) {
      throw refused('Cannot publish block, the coinbase transaction holds no tag with a hash behind it')
    }
    const hash = toHex(committed)
    const work = this.#validWork(hash)
    if (work === undefined) throw refused(`Cannot publish block, could not find hash ${hash} in the cache`)
    const { built } = work
    const header = attachProof(built.block.header, solution)
    try {
      validateOwnHeader(header, built.parent.block.header, config, now())
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      // The reference node's text does not contain the reason, so it is logged.
      logger.warn('submitted work is refused', { work: hash, rule: error.message })
      throw refused(
        `Invalid block supplied by miner: ${headerHash(header, config)} ${hash} at height ${header.number}`,
      )
    }
    return { work, block: completeBlock(built, header, this.#parts) }
  }

  tryNonce(workHash: Hex, nonce: number): SolvedWork | undefined {
    const work = this.#validWork(workHash)
    if (work === undefined) return undefined
    const { built, forkDetectionData } = work
    const unproven = built.block.header
    const header = new ProofSearch(unproven, this.#parts.config, {
      forkDetectionData,
      time: unproven.timestamp,
      startNonce: nonce,
    }).advance(1)
    return header && { work, block: completeBlock(built, header, this.#parts) }
  }

  /**
   * A cached work whose parent is still stored with the state that the work was built on: a revert to a snapshot deletes
   * blocks, and state edits replace the state.
   */
  #validWork(hash: Hex): CachedWork | undefined {
    const { works, blocks } = this.#parts
    const work = works.find(hash)
    const parent = work && blocks.get(work.parentHash)
    return parent !== undefined && parent.postState === work?.built.parent.postState ? work : undefined
  }

  #enforceRateLimit(): void {
    const { rateLimitMs, elapsed } = this.#parts
    if (rateLimitMs === 0) return
    const time = elapsed()
    if (time - this.#lastSubmission < rateLimitMs) {
      throw refused('Cannot publish block, block submission rate limit exceeded')
    }
    this.#lastSubmission = time
  }
}
