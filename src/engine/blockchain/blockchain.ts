/** Head and canonical chain: genesis, insert, rewind. Executes nothing; every update is one batch on disk. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { type BranchTip, prefers } from '../../chain/fork-choice.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { BlockResult } from '../../execution/apply-block.ts'
import type { CommittedState } from '../../state/model.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Store } from '../../store/level.ts'
import { putCommitted } from '../../store/state-nodes.ts'
import type { Write } from '../../store/table.ts'
import type { ChainUpdate, InsertionOutcome } from '../model.ts'
import { CanonicalHeights, type HeaderAt } from './canonical-heights.ts'
import type { StateCollector } from './state-collector.ts'

interface Parts {
  readonly store: Store
  readonly blocks: BlockStore
  readonly trie: StateTrie
  /** Where the database is, for error messages. */
  readonly place: string
  /** Notified when states leave the chain. */
  readonly collector?: Pick<StateCollector, 'left'> | undefined
}

/** A block and the trie nodes of the state after it. */
export interface BlockWithState {
  readonly block: ExecutedBlock
  readonly state: CommittedState
  /** Absent when the block was not executed in this process. */
  readonly result?: BlockResult
}

/** The result of an insertion: `update` when it moved the head. */
export type Insertion =
  | { readonly outcome: 'best'; readonly update: ChainUpdate }
  | { readonly outcome: Exclude<InsertionOutcome, 'best'>; readonly update?: undefined }

function branchTip({ hash, totalDifficulty, block }: ExecutedBlock): BranchTip {
  return { hash, totalDifficulty, paidFees: block.header.paidFees }
}

function parentHashOf({ block }: ExecutedBlock): Hex {
  return block.header.parentHash
}

/** Genesis without later state edits, and head, of a store that has a chain. Throws `database`. */
function storedEnds(
  { blocks, place }: Pick<Parts, 'blocks' | 'place'>,
  configured: ExecutedBlock,
): { pristine: ExecutedBlock; head: ExecutedBlock } {
  const loaded = blocks.requireGenesis(configured.hash)
  const headHash = blocks.head()
  const head = headHash === undefined ? undefined : blocks.get(headHash)
  if (head === undefined) {
    throw new NodeError('database', `The database in ${place} lacks its head block ${headHash}.`)
  }
  const pristine = loaded === undefined ? configured : { ...loaded, postState: loaded.block.header.stateRoot }
  return { pristine, head }
}

/** The canonical chain. Writes must not overlap; reads are possible at any time. */
export class Blockchain {
  readonly #store: Store
  readonly #blocks: BlockStore
  readonly #trie: StateTrie
  readonly #place: string
  readonly #collector: Parts['collector']
  readonly #heights: CanonicalHeights
  /** The genesis of the settings. */
  readonly #configured: ExecutedBlock
  /** As in the network's file, without later state edits. */
  #pristine: ExecutedBlock
  #head: ExecutedBlock
  #genesis: ExecutedBlock

  private constructor(parts: Parts, configured: ExecutedBlock, pristine: ExecutedBlock, head: ExecutedBlock) {
    this.#store = parts.store
    this.#blocks = parts.blocks
    this.#heights = new CanonicalHeights(parts.blocks)
    this.#trie = parts.trie
    this.#place = parts.place
    this.#collector = parts.collector
    this.#configured = configured
    this.#pristine = pristine
    this.#genesis = parts.blocks.get(pristine.hash) ?? pristine
    this.#head = head
    this.#heights.remember(head)
  }

  /** Opens the chain of the store, or writes `genesis` to an empty store. Throws `database`. */
  static async open(
    parts: Parts,
    genesis: () => { block: ExecutedBlock; state: CommittedState },
  ): Promise<Blockchain> {
    const { store, blocks, trie } = parts
    const { block, state } = genesis()
    const headHash = blocks.head()
    if (headHash === undefined) {
      trie.remember(state)
      await store.batch([
        ...putCommitted(state),
        ...blocks.put(block),
        ...blocks.extend(block),
        blocks.putHead(block.hash),
      ])
      trie.settle(state)
      return new Blockchain(parts, block, block, block)
    }
    const { pristine, head } = storedEnds(parts, block)
    return new Blockchain(parts, block, pristine, head)
  }

  /**
   * Reads genesis and head again after the store was changed by others; `update` has the blocks that joined and left
   * the canonical chain, `undefined` stands for all of it. Throws `database`.
   */
  reload(update: ChainUpdate | undefined): void {
    const { pristine, head } = storedEnds({ blocks: this.#blocks, place: this.#place }, this.#configured)
    this.#pristine = pristine
    this.#genesis = this.#blocks.get(pristine.hash) ?? pristine
    this.#head = head
    if (update === undefined) this.#heights.clear()
    else this.#heights.update(update)
    this.#heights.remember(head)
  }

  get head(): ExecutedBlock {
    return this.#head
  }

  get genesis(): ExecutedBlock {
    return this.#genesis
  }

  /** The genesis block that the settings make, which is not the chain's where that was loaded from a file. */
  get configuredGenesis(): ExecutedBlock {
    return this.#configured
  }

  /** The genesis block with its original state, without later state edits. */
  get pristineGenesis(): ExecutedBlock {
    return this.#pristine
  }

  /** Header and hash of the canonical block at a height, or `undefined` above the head. */
  headerAt(height: number): HeaderAt | undefined {
    return this.#heights.headerAt(height, this.#head.block.header.number)
  }

  /** Hash of the canonical block at a height, or `undefined` above the head. */
  hashAt(height: number): Hex | undefined {
    return this.#heights.hashAt(height, this.#head.block.header.number)
  }

  /** Whether a known block is on the canonical chain; `undefined` for an unknown hash. */
  isCanonical(hash: Hex): boolean | undefined {
    const header = this.#blocks.header(hash)
    if (header === undefined) return undefined
    return this.hashAt(header.number) === hash
  }

  /**
   * The update that inserting these blocks would make, each the child of the one before and none known yet; `undefined`
   * when fork choice keeps the head (docs/internals/protocol.md#33-fork-choice). Reads each block that the update would move.
   */
  planUpdate(branch: readonly ExecutedBlock[]): ChainUpdate | undefined {
    const tip = branch.at(-1)
    if (tip === undefined || !prefers(branchTip(tip), branchTip(this.#head))) return undefined
    const added = [...branch].reverse()
    let fork = parentHashOf(added.at(-1) ?? tip)
    while (fork !== this.#head.hash && this.isCanonical(fork) !== true) {
      const block = this.#stored(fork)
      added.push(block)
      fork = parentHashOf(block)
    }
    const removed: ExecutedBlock[] = []
    for (let block = this.#head; block.hash !== fork; block = this.#stored(parentHashOf(block))) {
      removed.push(block)
    }
    return { removed, added: added.reverse() }
  }

  /**
   * Inserts an executed block whose parent is known, and moves the head if fork choice prefers it: state, block,
   * receipts, lookups, head and `alsoWrite` in one batch. Resolves once that is written. A known block changes nothing.
   */
  async insert(
    block: ExecutedBlock,
    state: CommittedState,
    alsoWrite: readonly Write[] = [],
  ): Promise<Insertion> {
    return this.insertBranch([{ block, state }], alsoWrite)
  }

  /** The same for blocks that are each the child of the one before: one batch and one update for all. */
  async insertBranch(
    branch: readonly BlockWithState[],
    alsoWrite: readonly Write[] = [],
  ): Promise<Insertion> {
    const fresh = branch.filter(({ block: { hash, block } }) => {
      return !this.#blocks.hashesAt(block.header.number).includes(hash)
    })
    const [first] = fresh
    if (first === undefined) return { outcome: 'known' }
    if (this.#blocks.header(parentHashOf(first.block)) === undefined) {
      throw new Error(`the parent of block ${first.block.hash} is not known`)
    }
    const update = this.planUpdate(fresh.map(({ block }) => block))
    // Pushed one by one: a block has some seventy, and each spread copies them.
    const writes: Write[] = []
    for (const { block, state } of fresh) {
      for (const write of putCommitted(state)) writes.push(write)
      for (const write of this.#blocks.put(block)) writes.push(write)
    }
    if (update !== undefined) {
      for (const block of update.removed) writes.push(...this.#blocks.retract(block))
      for (const block of update.added) writes.push(...this.#blocks.extend(block))
    }
    const head = update?.added.at(-1) ?? this.#head
    if (head !== this.#head) writes.push(this.#blocks.putHead(head.hash))
    for (const write of alsoWrite) writes.push(write)
    for (const { state } of fresh) this.#trie.remember(state)
    try {
      await this.#store.batch(writes)
    } finally {
      for (const { state } of fresh) this.#trie.settle(state)
    }
    if (update === undefined) return { outcome: 'side' }
    this.#head = head
    this.#heights.update(update)
    return { outcome: 'best', update }
  }

  /**
   * Replaces the state after the head in one batch: its header stays, and later blocks build on that state. The cost is
   * that of the changed trie nodes. Resolves once that is written.
   */
  async amendHead(state: CommittedState, alsoWrite: readonly Write[] = []): Promise<void> {
    const head = { ...this.#head, postState: state.root }
    this.#trie.remember(state)
    try {
      await this.#store.batch([...putCommitted(state), ...this.#blocks.amend(head), ...alsoWrite])
    } finally {
      this.#trie.settle(state)
    }
    this.#collector?.left([this.#head.postState], head.postState)
    this.#setHead(head)
  }

  /**
   * Rewinds the chain to a canonical block, and to the state that `target` has after it, in one batch. All higher blocks
   * are deleted, side blocks included: no block stays without its parent.
   */
  async rewind(target: ExecutedBlock, alsoWrite: readonly Write[] = []): Promise<ChainUpdate> {
    if (this.isCanonical(target.hash) !== true) throw new Error(`block ${target.hash} is not below the head`)
    const removed: ExecutedBlock[] = []
    for (let block = this.#head; block.hash !== target.hash; block = this.#stored(parentHashOf(block))) {
      removed.push(block)
    }
    const writes = removed.flatMap((block) => this.#blocks.retract(block))
    const left = [this.#stored(target.hash).postState]
    this.#forgetFrom(target.block.header.number + 1, { writes, left })
    if (left[0] !== target.postState) writes.push(...this.#blocks.amend(target))
    await this.#store.batch([...writes, this.#blocks.putHead(target.hash), ...alsoWrite])
    const update = { removed, added: [] }
    this.#heights.update(update)
    this.#setHead(target)
    this.#collector?.left(left, target.postState)
    return update
  }

  /**
   * Replaces all blocks from a height on, side blocks included, in one batch. Where these include the
   * first block, the first one of `added` replaces it: it may have any number, and `pristine` has its original state.
   * The states are on disk already, or in `alsoWrite`.
   */
  async replaceFrom(
    height: number,
    added: readonly ExecutedBlock[],
    pristine: ExecutedBlock,
    alsoWrite: readonly Write[] = [],
  ): Promise<ChainUpdate> {
    const removed: ExecutedBlock[] = []
    const writes: Write[] = []
    let number = this.#head.block.header.number
    for (let block: ExecutedBlock | undefined = this.#head; number >= height; number--) {
      if (block === undefined) throw new Error(`block ${number} is missing from the store`)
      removed.push(block)
      writes.push(...this.#blocks.retract(block))
      block = number === height ? undefined : this.#blocks.get(parentHashOf(block))
    }
    const isWhole = height === this.#blocks.first
    const left: Hex[] = []
    this.#forgetFrom(height, { writes, left })
    for (const block of added) writes.push(...this.#blocks.putAlone(block), ...this.#blocks.extend(block))
    const head = added.at(-1) ?? this.#stored(this.hashAt(height - 1) ?? this.#head.hash)
    writes.push(this.#blocks.putHead(head.hash))
    if (isWhole) writes.push(...this.#blocks.putLoadedGenesis(pristine))
    await this.#store.batch([...writes, ...alsoWrite])
    this.#heights.clear()
    this.#head = head
    this.#collector?.left(left, head.postState)
    if (isWhole) {
      this.#pristine = pristine
      this.#genesis = added[0] ?? this.#genesis
    }
    const update = { removed, added }
    this.#heights.update(update)
    return update
  }

  /**
   * Adds the writes that delete all blocks from a height on, and the roots of their states, to these lists: one by one, since
   * those of a long chain are more than a call can have arguments.
   */
  #forgetFrom(height: number, { writes, left }: { readonly writes: Write[]; readonly left: Hex[] }): void {
    for (let at = height; this.#blocks.hashesAt(at).length > 0; at++) {
      if (this.#collector !== undefined) left.push(...this.#blocks.rootsAt(at))
      for (const write of this.#blocks.forgetHeight(at)) writes.push(write)
    }
  }

  #setHead(head: ExecutedBlock): void {
    this.#head = head
    if (head.hash === this.#genesis.hash) this.#genesis = head
  }

  #stored(hash: Hex): ExecutedBlock {
    const block = this.#blocks.get(hash)
    if (block === undefined) throw new Error(`block ${hash} is missing from the store`)
    return block
  }
}
