/** Rebuilds the states of a chain from a state file, block by block, without executing the blocks. */
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import { cumulativeDifficulty, type ExecutedBlock, transactionsRoot, unclesHash } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { headerHash } from '../../chain/header.ts'
import { receiptsRoot } from '../../chain/receipt.ts'
import type { BlockRecord, DumpedHead, StateChangeRecord } from '../../chain/state-file/records.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { CommittedState } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import { storageValue } from '../../state/state-keys.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import type { Store } from '../../store/level.ts'
import { putCommitted } from '../../store/state-nodes.ts'
import type { Call } from '../call.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { EngineParts } from '../parts.ts'
import { Progress } from '../progress.ts'

/** A chain to load. */
export interface ChainToLoad {
  readonly head: DumpedHead
  /** From the first block on. */
  readonly blocks: Iterable<BlockRecord>
  readonly pool: readonly Transaction[]
  /** State of a parent chain in the node, `encodeEntries`. The node's own stays where it is when absent. */
  readonly parent?: Uint8Array | undefined
}

/** What a rebuild gives. The states are on disk. */
export interface RebuiltChain {
  /** The first block, with its state before edits. */
  readonly pristine: ExecutedBlock
  /** The blocks from the first one that the node does not have. */
  readonly added: readonly ExecutedBlock[]
  /** Whether `added` are all blocks of the file. */
  readonly isWhole: boolean
  /** The height above the last block. */
  readonly next: number
}

/** Number of trie nodes that are written in one batch. Nodes of a state that no block has are never read. */
const NODES_PER_BATCH = 5_000

/** Collects the nodes of states and writes them in batches; the states are readable at once. */
class StateWriter {
  readonly #store: Store
  readonly #trie: StateTrie
  #waiting: CommittedState[] = []
  #size = 0

  constructor({ store, trie }: Pick<EngineParts, 'store' | 'trie'>) {
    this.#store = store
    this.#trie = trie
  }

  add(state: CommittedState): void {
    this.#trie.remember(state)
    this.#waiting.push(state)
    this.#size += state.nodes.size + state.code.size
  }

  /** Writes the states if they fill a batch. */
  async flushIfFull(): Promise<void> {
    if (this.#size >= NODES_PER_BATCH) await this.flush()
  }

  async flush(): Promise<void> {
    const states = this.#waiting
    this.#waiting = []
    this.#size = 0
    try {
      await this.#store.batch(states.flatMap(putCommitted))
    } finally {
      for (const state of states) this.#trie.settle(state)
    }
  }
}

/** One rebuild of a chain. */
export class ChainRebuild {
  readonly #parts: EngineParts
  readonly #states: StateWriter
  readonly #added: ExecutedBlock[] = []
  #pristine: ExecutedBlock | undefined
  #parent: ExecutedBlock | undefined
  #number = 0
  #length = 0

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#states = new StateWriter(parts)
  }

  /** Rebuilds and checks the chain. Throws `invalid-params`, and `cancelled` with the call. */
  async run({ head, blocks }: ChainToLoad, call: Call): Promise<RebuiltChain> {
    const yieldIfDue = createEventLoopYield('chain')
    const progress = new Progress('loading a state file', call, this.#parts.logger)
    try {
      for (const record of blocks) {
        progress.step(this.#number, head.number, 'nothing was changed')
        this.#append(record)
        await this.#states.flushIfFull()
        await yieldIfDue()
      }
    } finally {
      await this.#states.flush()
    }
    return this.#finish(head)
  }

  /** Rebuilds the state after the next block. */
  #append(record: BlockRecord): void {
    const { blocks, blockchain, config } = this.#parts
    const { block, receipts, internals, changes, edits } = record
    const parent = this.#parent
    if (parent === undefined) this.#number = block.header.number
    const number = this.#number
    checkBlock(record, number, parent?.hash, config)
    const hash = headerHash(block.header, config)
    const own = this.#stateAfter(parent?.postState ?? EMPTY_TRIE_ROOT, changes)
    this.#checkRoot(own, hash, record)
    const executed: ExecutedBlock = {
      hash,
      block,
      receipts,
      internals,
      totalDifficulty: (parent?.totalDifficulty ?? 0n) + cumulativeDifficulty(block),
      postState: this.#stateAfter(own, edits),
    }
    this.#pristine ??= { ...executed, postState: own }
    this.#parent = executed
    const isThere = blockchain.hashAt(number) === hash && blocks.get(hash)?.postState === executed.postState
    if (this.#added.length > 0 || !isThere) this.#added.push(executed)
    this.#number++
    this.#length++
  }

  /** Throws `invalid-params` unless `root` is the state root of the block's header. */
  #checkRoot(root: Hex, hash: Hex, { block: { header } }: BlockRecord): void {
    const { blockchain, config } = this.#parts
    const { pristineGenesis } = blockchain
    const isFirst = this.#pristine === undefined
    // Before the unified trie the header's root has another format; the head's root, or a later block's, covers the state.
    if (!isFirst && !config.rulesAt(header.number).unifiedTrie) return
    const isKnownGenesis = isFirst && hash === pristineGenesis.hash
    if (root === (isKnownGenesis ? pristineGenesis.postState : header.stateRoot)) return
    throw invalidParams(`block ${header.number} of the state file: its state is not that of its header`)
  }

  #stateAfter(root: Hex, changes: StateChangeRecord): Hex {
    if (changes.size === 0) return root
    const { trie } = this.#parts
    const overlay = new Overlay(trie.reader(root))
    applyChanges(overlay, changes)
    const state = trie.commit(root, overlay.changes())
    this.#states.add(state)
    return state.root
  }

  #finish(head: DumpedHead): RebuiltChain {
    const { blockchain, config } = this.#parts
    const [pristine, last] = [this.#pristine, this.#parent]
    if (pristine === undefined || last?.hash !== head.hash || last.postState !== head.stateRoot) {
      throw invalidParams('The blocks of the state file do not end with its head.')
    }
    if (config.name !== 'regtest' && pristine.hash !== blockchain.genesis.hash) {
      throw invalidParams(
        `The chain of the state file began with block ${pristine.hash}, not ${blockchain.genesis.hash}.`,
      )
    }
    const added = this.#added
    return { pristine, added, isWhole: added.length === this.#length, next: this.#number }
  }
}

/** Writes what a block or an edit changed into the state before it. */
function applyChanges(state: Overlay, changes: StateChangeRecord): void {
  for (const [address, change] of changes) {
    if (change === null) {
      state.deleteAccount(address)
      continue
    }
    const { nonce, balance, isContract, code, isNew, cells } = change
    if (isNew) state.deleteAccount(address)
    const { codeHash } = state.account(address) ?? EMPTY_ACCOUNT
    state.putAccount(address, { nonce, balance, isContract, codeHash })
    if (code !== undefined) state.putCode(address, code)
    for (const [slot, bytes] of cells) state.putCell(address, slot, storageValue(bytes))
  }
}

/** Throws `invalid-params` unless a block follows its parent and holds what its header commits to. */
function checkBlock(
  { block, receipts }: BlockRecord,
  number: number,
  parentHash: Hex | undefined,
  config: ChainConfig,
): void {
  const { header, transactions, uncles } = block
  const refuse = (why: string) => invalidParams(`block ${number} of the state file: ${why}`)
  if (header.number !== number) throw refuse(`its header has the number ${header.number}`)
  if (parentHash !== undefined && header.parentHash !== parentHash)
    throw refuse('its parent is another block')
  if (header.unclesHash !== unclesHash(uncles, config)) throw refuse('its uncles are not those of its header')
  if (parentHash === undefined) return
  const rules = config.rulesAt(number)
  if (header.transactionsRoot !== transactionsRoot(transactions, rules)) {
    throw refuse('its transactions are not those of its header')
  }
  if (receipts.length !== transactions.length || header.receiptsRoot !== receiptsRoot(receipts, rules)) {
    throw refuse('its receipts are not those of its header')
  }
}
