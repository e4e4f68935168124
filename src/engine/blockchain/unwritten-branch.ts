/** Blocks that are built and not written yet, each the child of the one before. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import type { BlockReader } from './ancestry.ts'
import type { BlockWithState } from './blockchain.ts'

/** Reads the stored blocks and those of the branch. The states of the branch are readable until `settle`. */
export class UnwrittenBranch implements BlockReader {
  readonly #stored: BlockReader
  readonly #trie: Pick<StateTrie, 'remember' | 'settle'>
  readonly #made: BlockWithState[] = []
  readonly #byHash = new Map<Hex, ExecutedBlock>()
  readonly #byHeight = new Map<number, Hex>()

  constructor(stored: BlockReader, trie: Pick<StateTrie, 'remember' | 'settle'>) {
    this.#stored = stored
    this.#trie = trie
  }

  /** The blocks so far, oldest first. */
  get made(): readonly BlockWithState[] {
    return this.#made
  }

  add(made: BlockWithState): void {
    const { block, state } = made
    this.#trie.remember(state)
    this.#made.push(made)
    this.#byHash.set(block.hash, block)
    this.#byHeight.set(block.block.header.number, block.hash)
  }

  /** Forgets the states: they are written, or not used any more. */
  settle(): void {
    for (const { state } of this.#made) this.#trie.settle(state)
  }

  get(hash: Hex): ExecutedBlock | undefined {
    return this.#byHash.get(hash) ?? this.#stored.get(hash)
  }

  header(hash: Hex): Header | undefined {
    return this.#byHash.get(hash)?.block.header ?? this.#stored.header(hash)
  }

  hashesAt(height: number): readonly Hex[] {
    const here = this.#byHeight.get(height)
    const stored = this.#stored.hashesAt(height)
    return here === undefined ? stored : [...stored, here]
  }
}
