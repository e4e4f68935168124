/** Blocks that are about to come, seen as if the store held them already. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Blockchain } from './blockchain.ts'

/** Reads of blocks by hash and height, canonical or not. */
export type KnownBlocks = Pick<BlockStore, 'get' | 'header' | 'hashesAt'>

/** What judging or building a block on a branch looks at. */
export interface BranchAccess {
  readonly config: ChainConfig
  readonly blockchain: Blockchain
  readonly blocks: KnownBlocks
}

/** The stored blocks and, on top, a few more that are not written yet. */
export function knownWith(stored: KnownBlocks, branch: readonly ExecutedBlock[]): KnownBlocks {
  const added = new Map(branch.map((block) => [block.hash, block]))
  return {
    get: (hash) => added.get(hash) ?? stored.get(hash),
    header: (hash) => added.get(hash)?.block.header ?? stored.header(hash),
    hashesAt(height) {
      const here = branch.filter(({ block }) => block.header.number === height).map(({ hash }) => hash)
      return here.length === 0 ? stored.hashesAt(height) : [...stored.hashesAt(height), ...here]
    },
  }
}
