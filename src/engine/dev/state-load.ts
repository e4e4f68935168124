/** Loads state files: accounts into the state after the head, or a whole chain in place of the node's. */
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import { cumulativeDifficulty, type ExecutedBlock, transactionsRoot, unclesHash } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { headerHash } from '../../chain/header.ts'
import { receiptsRoot } from '../../chain/receipt.ts'
import type {
  BlockRecord,
  DumpedHead,
  LoadedHead,
  PartialAccount,
  StateChangeRecord,
} from '../../chain/state-file/records.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { CommittedState } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import { storageValue } from '../../state/state-keys.ts'
import { putCommitted } from '../../store/state-nodes.ts'
import type { Write } from '../../store/table.ts'
import { firstHeader } from '../blockchain/chain-start.ts'
import type { Call } from '../call.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { EngineParts } from '../parts.ts'
import { Progress } from '../progress.ts'
import type { Enqueue } from '../serial-queue.ts'

/** A chain to load. */
export interface ChainToLoad {
  readonly head: DumpedHead
  /** From the first block on. */
  readonly blocks: Iterable<BlockRecord>
  readonly pool: readonly Transaction[]
}

/** The commands that load; each runs in the engine's queue and changes nothing when it fails. */
export interface LoadCommands {
  /**
   * Puts accounts into the state after the head, as a state edit: what an account has replaces what is there, its storage
   * as a whole; other accounts stay. A nonce is never lowered: the chain holds the account's transactions. A local chain
   * that has its first block only begins anew at `head`: with a block of that number, time and minimum gas price.
   */
  loadAccounts(accounts: ReadonlyMap<Hex, PartialAccount>, head?: LoadedHead): Promise<void>
  /**
   * Replaces the chain, genesis and pool included, by another one of this network, whose roots are checked and whose
   * blocks are not executed again. Blocks that both begin with stay. Throws `invalid-params`.
   */
  loadChain(chain: ChainToLoad): Promise<void>
}

/** Trie nodes after which they are written; without a block that has their root they are never read. */
const NODES_PER_BATCH = 5_000

/** Writes whole accounts, or parts of them, into a state. */
function applyAccounts(state: Overlay, accounts: ReadonlyMap<Hex, PartialAccount>): void {
  for (const [address, { nonce = 0n, balance, isContract, code, cells }] of accounts) {
    const known = state.account(address)
    const account = known ?? EMPTY_ACCOUNT
    state.putAccount(address, {
      ...account,
      balance: balance ?? account.balance,
      nonce: nonce > account.nonce ? nonce : account.nonce,
    })
    if (code !== undefined) state.putCode(address, code)
    if (isContract === true) state.markContract(address)
    if (cells === undefined) continue
    if (known !== undefined) state.clearStorage(address)
    for (const [slot, bytes] of cells) state.putCell(address, slot, storageValue(bytes))
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

/** Throws `invalid-params` unless a block belongs behind its parent and holds what its header names. */
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

/** Makes the commands of a node, for the calls whose jobs `enqueue` runs. */
export function createLoadCommands(parts: EngineParts): (enqueue: Enqueue) => LoadCommands {
  const { config, store, blockchain, trie, pool, persistedPool, chainWriter } = parts

  /** Collects trie nodes and writes them; the states are readable at once. */
  function createNodeWriter() {
    let waiting: CommittedState[] = []
    let size = 0
    return {
      add(state: CommittedState): void {
        trie.remember(state)
        waiting.push(state)
        size += state.nodes.size + state.code.size
      },
      async flush(isLast = false): Promise<void> {
        if (!isLast && size < NODES_PER_BATCH) return
        const states = waiting
        waiting = []
        size = 0
        try {
          await store.batch(states.flatMap(putCommitted))
        } finally {
          for (const state of states) trie.settle(state)
        }
      },
    }
  }

  /** The blocks of a file with their states, which are on disk once it resolves; from the first that this chain lacks on. */
  async function rebuild({ head, blocks }: ChainToLoad, call: Call) {
    const added: ExecutedBlock[] = []
    const nodes = createNodeWriter()
    const yieldIfDue = createEventLoopYield('chain')
    const progress = new Progress('loading a state file', call, parts.logger)
    let pristine: ExecutedBlock | undefined
    let parent: ExecutedBlock | undefined
    let number = 0
    let length = 0

    function stateAfter(root: Hex, changes: StateChangeRecord): Hex {
      if (changes.size === 0) return root
      const overlay = new Overlay(trie.reader(root))
      applyChanges(overlay, changes)
      const state = trie.commit(root, overlay.changes())
      nodes.add(state)
      return state.root
    }

    try {
      for (const record of blocks) {
        progress.step(number, undefined, 'nothing was changed')
        const { block, receipts, internals, changes, edits } = record
        if (parent === undefined) number = block.header.number
        checkBlock(record, number, parent?.hash, config)
        const { header } = block
        const hash = headerHash(header, config)
        const own = stateAfter(parent?.postState ?? EMPTY_TRIE_ROOT, changes)
        const { pristineGenesis } = blockchain
        const isKnownGenesis = pristine === undefined && hash === pristineGenesis.hash
        const root = isKnownGenesis ? pristineGenesis.postState : header.stateRoot
        // Before the unified trie the header's root is of another format; a later block's, and the head's, covers the state.
        const hasRoot = pristine === undefined || config.rulesAt(number).unifiedTrie
        if (hasRoot && own !== root) {
          throw invalidParams(`block ${number} of the state file: its state is not that of its header`)
        }
        const executed: ExecutedBlock = {
          hash,
          block,
          receipts,
          internals,
          totalDifficulty: (parent?.totalDifficulty ?? 0n) + cumulativeDifficulty(block),
          postState: stateAfter(own, edits),
        }
        pristine ??= { ...executed, postState: own }
        parent = executed
        const isThere =
          blockchain.hashAt(number) === hash && parts.blocks.get(hash)?.postState === executed.postState
        if (added.length > 0 || !isThere) added.push(executed)
        number++
        length++
        await nodes.flush()
        await yieldIfDue()
      }
    } finally {
      await nodes.flush(true)
    }
    if (pristine === undefined || parent?.hash !== head.hash || parent.postState !== head.stateRoot) {
      throw invalidParams('The blocks of the state file do not end with its head.')
    }
    if (config.name !== 'regtest' && pristine.hash !== blockchain.genesis.hash) {
      throw invalidParams(
        `The chain of the state file began with block ${pristine.hash}, not ${blockchain.genesis.hash}.`,
      )
    }
    return { pristine, added, isWhole: added.length === length, next: number }
  }

  /** Has the chain its first block only, and may it have another one? A network's and a fork's is given. */
  function canBeginAnew(): boolean {
    const { head, genesis } = blockchain
    return config.name === 'regtest' && parts.fork === undefined && head.hash === genesis.hash
  }

  /** Puts a first block at a loaded head in place of the chain's only one. */
  async function beginAt(loaded: LoadedHead, state: CommittedState): Promise<void> {
    const genesis = blockchain.configuredGenesis.block.header
    const header = firstHeader(genesis, loaded, state.root, config)
    const first: ExecutedBlock = {
      hash: headerHash(header, config),
      block: { header, transactions: [], uncles: [] },
      receipts: [],
      totalDifficulty: header.difficulty,
      postState: state.root,
    }
    trie.remember(state)
    try {
      const update = await blockchain.replaceFrom(parts.blocks.first, [first], first, putCommitted(state))
      chainWriter.publish(update, [])
    } finally {
      trie.settle(state)
    }
  }

  /** Adds transactions to the empty pool; those that it refuses leave the disk. */
  async function fillPool(transactions: readonly Transaction[]): Promise<Transaction[]> {
    const runnable: Transaction[] = []
    const refused: Hex[] = []
    for (const transaction of transactions) {
      try {
        runnable.push(...pool.add(transaction, blockchain.head, parts.headState()).promoted)
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        refused.push(transaction.hash)
      }
    }
    const gone: Write[] = persistedPool.drop([...refused, ...pool.takeEvicted()])
    if (gone.length > 0) await store.batch(gone)
    return runnable
  }

  return (enqueue) => ({
    loadAccounts: (accounts, head) =>
      enqueue(async () => {
        const { postState } = blockchain.head
        const overlay = new Overlay(trie.reader(postState))
        applyAccounts(overlay, accounts)
        const state = trie.commit(postState, overlay.changes())
        if (head !== undefined && canBeginAnew()) await beginAt(head, state)
        else await blockchain.amendHead(state)
        await chainWriter.revalidatePool()
      }),

    loadChain: (chain) =>
      enqueue(async (call) => {
        const { pristine, added, isWhole, next } = await rebuild(chain, call)
        const from = isWhole ? parts.blocks.first : next - added.length
        const update = await blockchain.replaceFrom(from, added, pristine, [
          ...persistedPool.clear(),
          ...persistedPool.put(chain.pool),
        ])
        pool.clear()
        chainWriter.publish(update, await fillPool(chain.pool))
      }),
  })
}
