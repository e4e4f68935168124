/** The chain below a block, by height: canonical lookups where they hold, parent links beside the chain. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { AncestorBlock } from '../../evm/precompiles/precompile.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Blockchain } from './blockchain.ts'

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

/** What code sees of the block that it runs in. `ancestry` ends at the block's parent. */
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
    ancestorHash: (height) => ancestry(height)?.hash,
    ancestor(depth) {
      const found = ancestry(header.number - 1 - depth)
      return found && new Ancestor(found, executed)
    },
  }
}

/** Most that ask want the header alone, so the block itself is looked up only when it holds what they ask for. */
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
    return this.header.uncleCount === 0 ? [] : this.#whole().block.uncles
  }

  get totalDifficulty(): bigint {
    return this.#whole().totalDifficulty
  }

  #whole(): ExecutedBlock {
    const block = this.#executed(this.hash)
    if (block === undefined) throw new Error(`block ${this.hash} is missing from the store`)
    return block
  }
}

/** What both need of a chain to run code on one of its blocks. */
export interface ChainAccess {
  readonly config: ChainConfig
  readonly blockchain: Blockchain
  readonly blocks: BlockStore
}

/** The environment of a block that stands, canonical or beside the chain. */
export function environmentAt(header: Header, { blockchain, blocks }: ChainAccess): BlockEnvironment {
  const parent = blocks.header(header.parentHash)
  const ancestry: Ancestry =
    parent === undefined
      ? () => undefined
      : ancestryOf({ hash: header.parentHash, header: parent }, blockchain, blocks)
  return environmentOf(header, ancestry, (hash) => blocks.get(hash))
}
