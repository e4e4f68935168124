/** Finds a proof of work here, by the same means that pools have, and completes the block with it. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { type Header, headerHash } from '../../chain/header.ts'
import { forkDetectionData } from '../../chain/merged-mining/fork-detection.ts'
import { createSealSearch } from '../../chain/merged-mining/seal.ts'
import { NodeError } from '../../errors.ts'
import { ancestryOf, type ChainAccess } from '../ancestry.ts'
import type { UnsealedBlock } from './builder.ts'

/** Hashes tried before the event loop gets its turn; a local chain needs about three. */
const ATTEMPTS_PER_SLICE = 20_000

/** Above this many hashes to expect, one process would search for hours: a whole round of the parent-chain nonce. */
const MAX_LOCAL_DIFFICULTY = 2n ** 32n

/** The 12 bytes that a block's proof must carry (RSKIP-110, protocol 1.5); `undefined` where the rules ask for none. */
export function forkDetectionOf(
  { block: { header }, parent }: UnsealedBlock,
  { config, blockchain, blocks }: ChainAccess,
): Uint8Array | undefined {
  if (!config.rulesAt(header.number).forkDetection) return undefined
  const ancestry = ancestryOf({ hash: parent.hash, header: parent.block.header }, blockchain, blocks)
  return forkDetectionData((height) => {
    const found = ancestry(height)
    if (found === undefined) throw new Error(`no ancestor at height ${height}`)
    return found.header
  }, parent.block.header.number)
}

/** The block with a proof of work in its header, as it stands in a chain. */
export function completed(
  { block, result, parent, state }: UnsealedBlock,
  header: Header,
  { config }: Pick<ChainAccess, 'config'>,
): ExecutedBlock {
  return {
    hash: headerHash(header, config),
    block: { ...block, header },
    receipts: result.receipts,
    totalDifficulty: block.uncles.reduce(
      (sum, uncle) => sum + uncle.difficulty,
      parent.totalDifficulty + header.difficulty,
    ),
    postState: state.root,
  }
}

/**
 * Seals blocks by the same kind of proof that pools submit (protocol 2.4). Throws `mining-refused` where no proof can be
 * expected of one process, or when `isClosing` while one is searched for.
 */
export function createSealer(
  chain: ChainAccess,
  isClosing: () => boolean,
): (unsealed: UnsealedBlock) => Promise<ExecutedBlock> {
  return async function seal(unsealed) {
    const { header: unproven } = unsealed.block
    if (unproven.difficulty > MAX_LOCAL_DIFFICULTY) {
      throw new NodeError(
        'mining-refused',
        `Cannot mine here at difficulty ${unproven.difficulty}: a proof would take about as many hashes. Start the node with --difficulty, or with --mining manual and a miner that submits work.`,
      )
    }
    const search = createSealSearch(unproven, chain.config, {
      forkDetectionData: forkDetectionOf(unsealed, chain),
      time: unproven.timestamp,
    })
    let header = search.advance(ATTEMPTS_PER_SLICE)
    while (header === undefined) {
      await new Promise((resolve) => setImmediate(resolve))
      if (isClosing()) throw new NodeError('mining-refused', 'The node is closing: the search for work ends.')
      header = search.advance(ATTEMPTS_PER_SLICE)
    }
    return completed(unsealed, header, chain)
  }
}
