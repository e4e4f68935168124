/** Finds a proof of work here, by the same means that pools have, and completes the block with it. */
import { cumulativeDifficulty, type ExecutedBlock } from '../../chain/block.ts'
import { type Header, headerHash } from '../../chain/header.ts'
import { createProofSearch, type ProofSearchOptions } from '../../chain/merged-mining/mine-header.ts'
import { decodeParentHeader } from '../../chain/merged-mining/parent-header.ts'
import { NodeError } from '../../errors.ts'
import { ancestryOf, type ChainAccess } from '../blockchain/ancestry.ts'
import type { BranchAccess, KnownBlocks } from '../blockchain/branch.ts'
import { forkDetectionAbove } from '../blockchain/fork-detection.ts'
import type { BuiltBlock } from './builder.ts'

/** Hashes tried before the event loop gets its turn; a local chain needs about three. */
const ATTEMPTS_PER_SLICE = 20_000

/** Above this many hashes to expect, one process would search for hours: a whole round of the parent-chain nonce. */
const MAX_LOCAL_DIFFICULTY = 2n ** 32n

/**
 * The 12 bytes that a block's proof must carry (RSKIP-110, docs/protocol.md#15-hashes); `undefined` where the
 * rules ask for none.
 */
export function forkDetectionOf(
  { block: { header }, parent }: BuiltBlock,
  { config, blockchain, blocks }: BranchAccess,
): Uint8Array | undefined {
  const ancestry = ancestryOf({ hash: parent.hash, header: parent.block.header }, blockchain, blocks)
  return forkDetectionAbove(header.number - 1, ancestry, config)
}

/** The block with a proof of work in its header, as it stands in a chain. */
export function completed(
  { block, result, parent, state }: BuiltBlock,
  header: Header,
  { config }: Pick<ChainAccess, 'config'>,
): ExecutedBlock {
  const complete = { ...block, header }
  return {
    hash: headerHash(header, config),
    block: complete,
    receipts: result.receipts,
    totalDifficulty: parent.totalDifficulty + cumulativeDifficulty(complete),
    postState: state.root,
  }
}

/** Completes a block; `known`, where its parent is looked up, is the store unless given. */
export type Miner = (built: BuiltBlock, known?: KnownBlocks) => Promise<ExecutedBlock>

/**
 * Seals blocks by the same kind of proof that pools submit (docs/protocol.md#24-local-miners). Throws
 * `mining-refused` where no proof can be expected of one process, or when `isClosing` while one is searched
 * for.
 */
export function createMiner(chain: ChainAccess, isClosing: () => boolean): Miner {
  const { config } = chain

  async function search(unproven: Header, options: ProofSearchOptions): Promise<Header> {
    const search = createProofSearch(unproven, config, options)
    for (;;) {
      const proven = search.advance(ATTEMPTS_PER_SLICE)
      if (proven !== undefined) return proven
      await new Promise((resolve) => setImmediate(resolve))
      if (isClosing()) throw new NodeError('mining-refused', 'The node is closing: the search for work ends.')
    }
  }

  return async function mine(built, known = chain.blocks) {
    const { header: unproven } = built.block
    if (unproven.difficulty > MAX_LOCAL_DIFFICULTY) {
      throw new NodeError(
        'mining-refused',
        `Cannot mine here at difficulty ${unproven.difficulty}: a proof would take about as many hashes. Start the node with --difficulty, or with --mining manual and a miner that submits work.`,
      )
    }
    const options = {
      forkDetectionData: forkDetectionOf(built, { ...chain, blocks: known }),
      time: unproven.timestamp,
    }
    let header = await search(unproven, options)
    // The same content as a sibling's, with another proof, is a block of its own: as when two miners find it.
    while (known.hashesAt(header.number).includes(headerHash(header, config))) {
      const { nonce } = decodeParentHeader(header.bitcoinHeader)
      header = await search(unproven, { ...options, startNonce: nonce + 1 })
    }
    return completed(built, header, chain)
  }
}
