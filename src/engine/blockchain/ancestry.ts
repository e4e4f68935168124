/** The ancestors of a block by height: canonical lookups where they hold, parent links on side branches. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { AncestorBlock } from '../../evm/precompiles/precompile.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Blockchain } from './blockchain.ts'

/** What running code on one of a chain's blocks needs. */
export interface ChainAccess {
  readonly config: ChainConfig
  readonly blockchain: Blockchain
  readonly blocks: BlockStore
}

/** Reads of blocks by hash and height, canonical or not. */
export type BlockReader = Pick<BlockStore, 'get' | 'header' | 'hashesAt'>

/** The same as `ChainAccess` on a branch that may not be stored yet. */
export interface BranchAccess {
  readonly config: ChainConfig
  readonly blockchain: Blockchain
  readonly blocks: BlockReader
}

/** Header and hash at a height, for heights up to and including the block's own. */
export type Ancestry = (height: number) => { readonly hash: Hex; readonly header: Header } | undefined

/** The ancestry that ends at `tip` (itself included). */
export function ancestryOf(
  tip: { hash: Hex; header: Header },
  blockchain: Blockchain,
  blocks: Pick<BlockStore, 'header'>,
): Ancestry {
  const branch = new Map<number, { hash: Hex; header: Header }>()
  let lowest = tip
  branch.set(tip.header.number, tip)
  return (height) => {
    if (height > tip.header.number || height < 0) return undefined
    for (;;) {
      const known = branch.get(height)
      if (known !== undefined) return known
      if (blockchain.headerAt(lowest.header.number)?.hash === lowest.hash) return blockchain.headerAt(height)
      const hash = lowest.header.parentHash
      const header = blocks.header(hash)
      if (header === undefined) return undefined
      lowest = { hash, header }
      branch.set(header.number, lowest)
    }
  }
}

/** The environment of code that runs in a block with this header. `ancestry` ends at the block's parent. */
export function environmentOf(
  header: Header,
  ancestry: Ancestry,
  executed: (hash: Hex) => ExecutedBlock | undefined,
): BlockEnvironment {
  return {
    number: header.number,
    timestamp: header.timestamp,
    coinbase: header.coinbase,
    difficulty: header.difficulty,
    gasLimit: header.gasLimit,
    minimumGasPrice: header.minimumGasPrice,
    precompiles: undefined,
    ancestorHash: (height) => ancestry(height)?.hash,
    ancestor(depth) {
      const found = ancestry(header.number - 1 - depth)
      return found && new Ancestor(found, executed)
    },
  }
}

/** An ancestor for the precompiled contracts: most calls read the header alone, so the block is loaded on demand. */
class Ancestor implements AncestorBlock {
  readonly hash: Hex
  readonly header: Header
  readonly #executed: (hash: Hex) => ExecutedBlock | undefined

  constructor(
    { hash, header }: { hash: Hex; header: Header },
    executed: (hash: Hex) => ExecutedBlock | undefined,
  ) {
    this.hash = hash
    this.header = header
    this.#executed = executed
  }

  get uncles(): readonly Header[] {
    return this.header.uncleCount === 0 ? [] : this.#load().block.uncles
  }

  get totalDifficulty(): bigint {
    return this.#load().totalDifficulty
  }

  #load(): ExecutedBlock {
    const block = this.#executed(this.hash)
    if (block === undefined) throw new Error(`block ${this.hash} is missing from the store`)
    return block
  }
}

/** The environment of a stored block, canonical or not. */
export function environmentAt(header: Header, { blockchain, blocks }: ChainAccess): BlockEnvironment {
  const parent = blocks.header(header.parentHash)
  const ancestry: Ancestry =
    parent === undefined
      ? () => undefined
      : ancestryOf({ hash: header.parentHash, header: parent }, blockchain, blocks)
  return environmentOf(header, ancestry, (hash) => blocks.get(hash))
}
