/** Head and canonical chain: genesis, insert, rewind. Runs no code; every move is one batch on disk. */
import type { ExecutedBlock } from '../chain/block.ts'
import type { Header } from '../chain/header.ts'
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { SealedState } from '../execution/state.ts'
import type { StateTrie } from '../execution/state-trie.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { Store } from '../store/level.ts'
import { putSealed } from '../store/state-nodes.ts'
import type { Write } from '../store/table.ts'
import type { ChainUpdate } from './events.ts'

/** Heights kept at hand for BLOCKHASH (256) and fork detection (449). */
const RECENT_HEIGHTS = 512

interface Parts {
  readonly store: Store
  readonly blocks: BlockStore
  readonly trie: StateTrie
  /** Where the database is, for the words of a refusal. */
  readonly place: string
}

/** The chain of blocks that counts. Writers must come one at a time; readers may come at any time. */
export class Blockchain {
  readonly #store: Store
  readonly #blocks: BlockStore
  readonly #trie: StateTrie
  readonly #recent = new Map<number, { readonly hash: Hex; readonly header: Header }>()
  #head: ExecutedBlock
  #genesis: ExecutedBlock

  private constructor(parts: Parts, genesis: ExecutedBlock, head: ExecutedBlock) {
    this.#store = parts.store
    this.#blocks = parts.blocks
    this.#trie = parts.trie
    this.#genesis = genesis
    this.#head = head
    this.#remember(head)
  }

  /** Opens the chain that the store holds, or starts it with `genesis` where it holds none. */
  static async open(
    parts: Parts,
    genesis: () => { block: ExecutedBlock; state: SealedState },
  ): Promise<Blockchain> {
    const { store, blocks, trie } = parts
    const { block, state } = genesis()
    const headHash = blocks.head()
    if (headHash === undefined) {
      trie.remember(state)
      await store.batch([
        ...putSealed(state),
        ...blocks.put(block),
        ...blocks.extend(block),
        blocks.putHead(block.hash),
      ])
      trie.settle(state)
      return new Blockchain(parts, block, block)
    }
    blocks.requireGenesis(block.hash)
    const head = blocks.get(headHash)
    if (head === undefined)
      throw new NodeError('database', `The database in ${parts.place} lacks its head block ${headHash}.`)
    return new Blockchain(parts, block, head)
  }

  get head(): ExecutedBlock {
    return this.#head
  }

  get genesis(): ExecutedBlock {
    return this.#genesis
  }

  /** Header and hash of the canonical block at a height, or `undefined` above the head. */
  headerAt(height: number): { readonly hash: Hex; readonly header: Header } | undefined {
    if (height > this.#head.block.header.number || height < 0) return undefined
    const known = this.#recent.get(height)
    if (known !== undefined) return known
    const hash = this.#blocks.canonicalHash(height)
    const header = hash === undefined ? undefined : this.#blocks.header(hash)
    if (hash === undefined || header === undefined) return undefined
    const entry = { hash, header }
    if (height > this.#head.block.header.number - RECENT_HEIGHTS) this.#recent.set(height, entry)
    return entry
  }

  isCanonical(hash: Hex): boolean | undefined {
    const header = this.#blocks.header(hash)
    if (header === undefined) return undefined
    return this.headerAt(header.number)?.hash === hash
  }

  /**
   * Puts a child of the head on top of it: state, block, receipts, lookups, head and `alsoWrite` in one batch.
   * Resolves once that is written.
   */
  async extend(
    block: ExecutedBlock,
    state: SealedState,
    alsoWrite: readonly Write[] = [],
  ): Promise<ChainUpdate> {
    if (block.block.header.parentHash !== this.#head.hash) {
      throw new Error(`block ${block.hash} is no child of the head ${this.#head.hash}`)
    }
    this.#trie.remember(state)
    try {
      await this.#store.batch([
        ...putSealed(state),
        ...this.#blocks.put(block),
        ...this.#blocks.extend(block),
        this.#blocks.putHead(block.hash),
        ...alsoWrite,
      ])
    } finally {
      this.#trie.settle(state)
    }
    this.#head = block
    this.#remember(block)
    return { removed: [], added: [block] }
  }

  /** Takes the chain back to a canonical block: everything above it is forgotten, in one batch. */
  async rewind(target: ExecutedBlock, alsoWrite: readonly Write[] = []): Promise<ChainUpdate> {
    const removed: ExecutedBlock[] = []
    for (let hash = this.#head.hash; hash !== target.hash; ) {
      const block = this.#blocks.get(hash)
      if (block === undefined || block.block.header.number <= target.block.header.number) {
        throw new Error(`block ${target.hash} is not below the head`)
      }
      removed.push(block)
      hash = block.block.header.parentHash
    }
    const writes = removed.flatMap((block) => [...this.#blocks.retract(block), ...this.#blocks.forget(block)])
    await this.#store.batch([...writes, this.#blocks.putHead(target.hash), ...alsoWrite])
    for (const { block } of removed) this.#recent.delete(block.header.number)
    this.#head = target
    return { removed, added: [] }
  }

  #remember({ hash, block: { header } }: ExecutedBlock): void {
    this.#recent.set(header.number, { hash, header })
    this.#recent.delete(header.number - RECENT_HEIGHTS)
  }
}
