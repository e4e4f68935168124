/** Finds a proof of work here, at the local difficulty, and completes the block with it. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import { forkDetectionData } from '../../chain/merged-mining/fork-detection.ts'
import { createSealSearch } from '../../chain/merged-mining/seal.ts'
import { ancestryOf, type ChainAccess } from '../ancestry.ts'
import type { UnsealedBlock } from './builder.ts'

/** Hashes tried before the event loop gets its turn; a local chain needs about three. */
const ATTEMPTS_PER_SLICE = 20_000

/** Seals blocks by the same kind of proof that pools submit (protocol 2.4). */
export function createSealer({
  config,
  blockchain,
  blocks,
}: ChainAccess): (unsealed: UnsealedBlock) => Promise<ExecutedBlock> {
  return async function seal({ block, result, parent, state }) {
    const ancestry = ancestryOf({ hash: parent.hash, header: parent.block.header }, blockchain, blocks)
    const search = createSealSearch(block.header, config, {
      forkDetectionData: config.rulesAt(block.header.number).forkDetection
        ? forkDetectionData((height) => {
            const found = ancestry(height)
            if (found === undefined) throw new Error(`no ancestor at height ${height}`)
            return found.header
          }, parent.block.header.number)
        : undefined,
      time: block.header.timestamp,
    })
    let header = search.advance(ATTEMPTS_PER_SLICE)
    while (header === undefined) {
      await new Promise((resolve) => setImmediate(resolve))
      header = search.advance(ATTEMPTS_PER_SLICE)
    }
    return {
      hash: headerHash(header, config),
      block: { ...block, header },
      receipts: result.receipts,
      totalDifficulty: parent.totalDifficulty + header.difficulty,
      postState: state.root,
    }
  }
}
