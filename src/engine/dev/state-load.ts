/** Loads state files: accounts into the state after the head, or a whole chain in place of the node's. */
import { EMPTY_ACCOUNT } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import type { LoadedHead, PartialAccount } from '../../chain/state-file/records.ts'
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
import { withParentAt } from '../parent-chain.ts'
import type { EngineParts } from '../parts.ts'
import { ChainRebuild, type ChainToLoad } from './chain-rebuild.ts'

export type { ChainToLoad } from './chain-rebuild.ts'

/** The commands that load; each runs in the engine's queue and changes nothing when it fails. */
export interface LoadCommands {
  /**
   * Puts accounts into the state after the head, as a state edit. The members of an account replace those in the state, its
   * storage as a whole; other accounts stay. A nonce is never lowered: the chain holds the account's transactions. A local chain
   * that has its first block only is started again at `head`: with a block of that number, time and minimum gas price.
   */
  loadAccounts(accounts: ReadonlyMap<Hex, PartialAccount>, head?: LoadedHead): Promise<void>
  /**
   * Replaces the chain, genesis and pool included, by another one of this network, whose roots are checked and whose
   * blocks are not executed again. Blocks that both chains have stay. Throws `invalid-params`.
   */
  loadChain(chain: ChainToLoad): Promise<void>
}

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

/** Loads state files into a node. Calls must not overlap: each belongs to a job of the engine's queue. */
export class StateLoader {
  readonly #parts: EngineParts

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  /** See `LoadCommands.loadAccounts`. */
  async loadAccounts(accounts: ReadonlyMap<Hex, PartialAccount>, head?: LoadedHead): Promise<void> {
    const { blockchain, trie, chainWriter } = this.#parts
    const { postState } = blockchain.head
    const overlay = new Overlay(trie.reader(postState))
    applyAccounts(overlay, accounts)
    const state = trie.commit(postState, overlay.changes())
    if (head !== undefined && this.#mayMoveGenesis()) await this.#moveGenesis(head, state)
    else await blockchain.amendHead(state)
    await chainWriter.revalidatePool()
  }

  /** See `LoadCommands.loadChain`; `call` may end it before anything is changed. */
  async loadChain(chain: ChainToLoad, call: Call): Promise<void> {
    const { blocks, blockchain, persistedPool, pool, chainWriter, parentChain } = this.#parts
    const { pristine, added, isWhole, next } = await new ChainRebuild(this.#parts).run(chain, call)
    const from = isWhole ? blocks.first : next - added.length
    const parent = chain.parent && parentChain?.decode(chain.parent)
    const update = await withParentAt(parentChain, parent, (writes) =>
      blockchain.replaceFrom(from, added, pristine, [
        ...persistedPool.clear(),
        ...persistedPool.put(chain.pool),
        ...writes,
      ]),
    ).catch((error: unknown) => {
      if (!(error instanceof RangeError)) throw error
      throw invalidParams(`The parent chain of the state file is malformed: ${error.message}`)
    })
    pool.clear()
    chainWriter.publish(update, await this.#fillPool(chain.pool))
  }

  /** Only a local chain that has no second block may get another first block: networks and forks have theirs. */
  #mayMoveGenesis(): boolean {
    const { config, fork, blockchain } = this.#parts
    return config.name === 'regtest' && fork === undefined && blockchain.head.hash === blockchain.genesis.hash
  }

  /** Replaces the chain's only block by a first block at a loaded head. */
  async #moveGenesis(loaded: LoadedHead, state: CommittedState): Promise<void> {
    const { config, blocks, blockchain, trie, chainWriter } = this.#parts
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
      const update = await blockchain.replaceFrom(blocks.first, [first], first, putCommitted(state))
      chainWriter.publish(update, [])
    } finally {
      trie.settle(state)
    }
  }

  /** Adds transactions to the empty pool, and deletes from disk those that it refuses. Returns the executable ones. */
  async #fillPool(transactions: readonly Transaction[]): Promise<Transaction[]> {
    const { blockchain, pool, persistedPool, store } = this.#parts
    const executable: Transaction[] = []
    const refused: Hex[] = []
    for (const transaction of transactions) {
      try {
        executable.push(...pool.add(transaction, blockchain.head, this.#parts.headState()).promoted)
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        refused.push(transaction.hash)
      }
    }
    const gone: Write[] = persistedPool.drop([...refused, ...pool.takeEvicted()])
    if (gone.length > 0) await store.batch(gone)
    return executable
  }
}
