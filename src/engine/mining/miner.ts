/** Searches a proof of work in this process, of the kind that mining pools submit, and completes the block with it. */
import { cumulativeDifficulty, type ExecutedBlock } from '../../chain/block.ts'
import { type Header, hashForMergedMining, headerHash } from '../../chain/header.ts'
import { ProofSearch, type ProofSearchOptions } from '../../chain/merged-mining/mine-header.ts'
import { decodeParentHeader, hashValue, targetOf } from '../../chain/merged-mining/parent-header.ts'
import { attachProof } from '../../chain/merged-mining/proof.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import { doubleSha256 } from '../../encoding/hash.ts'
import { fromHex, type Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import { ancestryOf, type BlockReader, type BranchAccess, type ChainAccess } from '../blockchain/ancestry.ts'
import { forkDetectionAbove } from '../blockchain/fork-detection.ts'
import type { ParentChain } from '../parent-chain.ts'
import type { BuiltBlock } from './builder.ts'

/** Hashes per event loop iteration; a local chain needs about three. */
const ATTEMPTS_PER_SLICE = 20_000

const NONCE_OFFSET = 76

function withNonce(header: Uint8Array, nonce: number): Uint8Array {
  const copy = header.slice()
  new DataView(copy.buffer).setUint32(NONCE_OFFSET, nonce, true)
  return copy
}

const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Expected number of hashes above which the search would take hours: all values of the parent-chain nonce. */
const MAX_LOCAL_DIFFICULTY = 2n ** 32n

/**
 * The 12 bytes of fork detection data in a block's proof (RSKIP-110, docs/internals/protocol.md#15-hashes); `undefined` where the
 * rules require none.
 */
export function forkDetectionOf(
  { block: { header }, parent }: BuiltBlock,
  { config, blockchain, blocks }: BranchAccess,
): Uint8Array | undefined {
  const ancestry = ancestryOf({ hash: parent.hash, header: parent.block.header }, blockchain, blocks)
  return forkDetectionAbove(header.number - 1, ancestry, config)
}

/** The built block with the given header, which holds a proof of work. */
export function completeBlock(
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
    internals: result.internals,
  }
}

/** Completes a block with a proof of work; `branch` reads the parent's branch, the store unless given. */
export type Miner = (built: BuiltBlock, branch?: BlockReader) => Promise<ExecutedBlock>

/**
 * Makes the miner (docs/internals/protocol.md#24-local-miners). Throws `mining-refused` when the difficulty is too high for one
 * process, or when `isClosing` during the search.
 */
export function createMiner(
  chain: ChainAccess,
  isClosing: () => boolean,
  parentChain?: Pick<ParentChain, 'template'>,
): Miner {
  const { config } = chain

  async function search(unproven: Header, options: ProofSearchOptions): Promise<Header> {
    const search = new ProofSearch(unproven, config, options)
    for (;;) {
      const proven = search.advance(ATTEMPTS_PER_SLICE)
      if (proven !== undefined) return proven
      await new Promise((resolve) => setImmediate(resolve))
      if (isClosing()) throw new NodeError('mining-refused', 'The node is closing: the search for work ends.')
    }
  }

  /**
   * A proof by a block of the parent chain, under which no other block at the height is known; `undefined` where that
   * chain does not answer.
   */
  async function proveBy(
    chainOfParent: Pick<ParentChain, 'template'>,
    unproven: Header,
    forkDetectionData: Uint8Array | undefined,
    known: readonly Hex[],
  ): Promise<Header | undefined> {
    const hash = fromHex(hashForMergedMining(unproven, config, forkDetectionData ?? EMPTY))
    for (let attempt = 0; ; attempt++) {
      const parent = await chainOfParent.template(hash, attempt)
      if (parent === undefined) return undefined
      const target = lower(parent.target, targetOf(unproven.difficulty))
      for (let nonce = 0; nonce < ATTEMPTS_PER_SLICE; nonce++) {
        const parentHeader = withNonce(parent.header, nonce)
        if (hashValue(doubleSha256(parentHeader)) > target) continue
        const header = attachProof(unproven, { ...parent, parentHeader })
        const block = headerHash(header, config)
        if (known.includes(block)) break
        parent.found(parentHeader, block)
        return header
      }
      await new Promise((resolve) => setImmediate(resolve))
      if (isClosing()) throw new NodeError('mining-refused', 'The node is closing: the search for work ends.')
    }
  }

  return async function mine(built, branch = chain.blocks) {
    const { header: unproven } = built.block
    if (unproven.difficulty > MAX_LOCAL_DIFFICULTY) {
      throw new NodeError(
        'mining-refused',
        `Cannot mine here at difficulty ${unproven.difficulty}: a proof would take about as many hashes. Start the node with --difficulty, or with --mining manual and a miner that submits work.`,
      )
    }
    const options = {
      forkDetectionData: forkDetectionOf(built, { config, blockchain: chain.blockchain, blocks: branch }),
      time: unproven.timestamp,
    }
    if (parentChain !== undefined) {
      const known = branch.hashesAt(unproven.number)
      const proven = await proveBy(parentChain, unproven, options.forkDetectionData, known)
      if (proven !== undefined) return completeBlock(built, proven, chain)
    }
    let header = await search(unproven, options)
    // A known sibling has the same content and proof: continue the search, so that the block has a hash of its own.
    while (branch.hashesAt(header.number).includes(headerHash(header, config))) {
      const { nonce } = decodeParentHeader(header.bitcoinHeader)
      header = await search(unproven, { ...options, startNonce: nonce + 1 })
    }
    return completeBlock(built, header, chain)
  }
}
