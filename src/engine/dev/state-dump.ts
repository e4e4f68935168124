/** Dumps: the state after the head, and the blocks with what each changed of the state. */

import { type Account, EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { changesIn } from '../../chain/rule-choice.ts'
import { definitionOf } from '../../chain/shipped-networks.ts'
import type {
  AccountChange,
  BlockRecord,
  CellBytes,
  StateChangeRecord,
  StateDump,
  WholeAccount,
} from '../../chain/state-file/records.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { AccountDifference } from '../../state/account-differences.ts'
import { cellBytes } from '../../state/state-keys.ts'
import { StateTrie } from '../../state/state-trie.ts'
import { BlockStore } from '../../store/block-store.ts'
import type { Store } from '../../store/level.ts'
import { nodeSource } from '../../store/state-nodes.ts'
import { parentChainTable } from '../../store/tables.ts'
import type { Blockchain } from '../blockchain/blockchain.ts'
import { encodeEntries, type ParentEntry, type ParentState } from '../parent-chain.ts'
import type { EngineParts } from '../parts.ts'

interface Parts extends Pick<EngineParts, 'config' | 'blocks' | 'trie'> {
  readonly blockchain: Pick<Blockchain, 'head' | 'genesis' | 'pristineGenesis' | 'hashAt'>
  readonly pool: { inOrder(): readonly Transaction[] }
  /** State of a parent chain in the node. */
  readonly parentChain?: { save(): Pick<ParentState, 'encode'> } | undefined
}

function cellsAfter({ cells }: AccountDifference): CellBytes {
  return new Map([...cells].map(([slot, { after }]) => [slot, cellBytes(after)]))
}

function codeAt(trie: StateTrie, root: Hex, { codeHash }: Account): Uint8Array {
  return trie.reader(root).code(codeHash)
}

/** The lowest hash of a slot: cells from it on are all cells. */
const FIRST_HASH: Hex = `0x${'0'.repeat(64)}`

/** All accounts of a state. */
function* accountsAt(trie: StateTrie, root: Hex): Generator<readonly [Hex, WholeAccount], undefined> {
  for (const difference of trie.differences(EMPTY_TRIE_ROOT, root)) {
    const { address, after } = difference
    if (after === undefined) throw new Error(`the state has storage at ${address}, where there is no account`)
    const { nonce, balance, isContract } = after
    yield [
      address,
      { nonce, balance, isContract, code: codeAt(trie, root, after), cells: cellsAfter(difference) },
    ]
  }
}

/** Whether a contract was destroyed and replaced by an account that is not a contract. */
function replacesContract({ before, after }: AccountDifference): boolean {
  return before?.isContract === true && after?.isContract === false
}

/** What changed between two states. */
export function changesBetween(trie: StateTrie, before: Hex, after: Hex): StateChangeRecord {
  const changes = new Map<Hex, AccountChange | null>()
  for (const difference of trie.differences(before, after)) {
    const { address, before: old, after: account } = difference
    if (account === undefined) {
      changes.set(address, null)
      continue
    }
    const { nonce, balance, isContract, codeHash } = account
    const isNew = replacesContract(difference)
    const cells = isNew
      ? new Map(
          [...trie.cellsFrom(after, address, FIRST_HASH)].map(([slot, value]) => [slot, cellBytes(value)]),
        )
      : cellsAfter(difference)
    const hasOtherCode = isNew || old?.codeHash !== codeHash
    changes.set(address, {
      nonce,
      balance,
      isContract,
      ...(hasOtherCode && { code: codeAt(trie, after, account) }),
      ...(isNew && { isNew }),
      cells,
    })
  }
  return changes
}

/**
 * Makes the dump of a node: of one head, and read during the iteration. Iterating over the blocks throws
 * `block-not-found` when one has left the chain.
 */
export function createDump({
  config,
  blockchain,
  blocks,
  trie,
  pool,
  parentChain,
}: Parts): (history: boolean) => StateDump {
  function* records(hashes: readonly Hex[], pristine: Hex): Generator<BlockRecord, undefined> {
    let parent = EMPTY_TRIE_ROOT
    for (const hash of hashes) {
      const executed = blocks.get(hash)
      if (executed === undefined) {
        throw new NodeError('block-not-found', 'The chain was rewound while it was dumped. Dump it again.')
      }
      const own = ownStateOf(executed, pristine, config)
      yield {
        block: executed.block,
        receipts: executed.receipts,
        internals: blocks.accounts.internalsOf(executed) ?? [],
        changes: changesBetween(trie, parent, own),
        edits: changesBetween(trie, own, executed.postState),
      }
      parent = executed.postState
    }
  }

  return (history) => {
    const { head, genesis, pristineGenesis } = blockchain
    const { number } = head.block.header
    const hashes: Hex[] = []
    for (let height = blocks.lowest; history && height <= number; height++) {
      const hash = blockchain.hashAt(height)
      if (hash === undefined) throw new Error(`there is no block ${height}`)
      hashes.push(hash)
    }
    return {
      chain: config.name,
      chainId: config.chainId,
      network: definitionOf(config.network),
      rules: changesIn(config),
      genesis: genesis.hash,
      head: { number, hash: head.hash, stateRoot: head.postState },
      header: head.block.header,
      accounts: accountsAt(trie, head.postState),
      history: history ? records(hashes, pristineGenesis.postState) : undefined,
      pool: history ? pool.inOrder() : [],
      parent: history ? parentChain?.save().encode() : undefined,
    }
  }
}

/**
 * The state that a block itself made, before edits; `pristine` is that of the genesis. A header from before the unified
 * trie has a root of another format: then edits count as changes of the block.
 */
function ownStateOf(
  { block: { header }, postState }: ExecutedBlock,
  pristine: Hex,
  config: ChainConfig,
): Hex {
  if (header.number === 0) return pristine
  return config.rulesAt(header.number).unifiedTrie ? header.stateRoot : postState
}

/** The parent chain that a database has; `undefined` without one. */
async function storedParent(store: Store): Promise<Parts['parentChain']> {
  const entries: ParentEntry[] = []
  for await (const entry of parentChainTable(store).range()) entries.push(entry)
  return entries.length === 0 ? undefined : { save: () => ({ encode: () => encodeEntries(entries) }) }
}

/** The dump of a database that no node has open; `undefined` when it holds no chain. */
export async function dumpStored(
  store: Store,
  config: ChainConfig,
  history: boolean,
): Promise<StateDump | undefined> {
  const blocks = await BlockStore.open(store, config)
  const source = nodeSource(store)
  const blockAt = (hash: Hex | undefined) => (hash === undefined ? undefined : blocks.get(hash))
  const [head, genesis] = [blockAt(blocks.head()), blockAt(blocks.canonicalHash(blocks.lowest))]
  if (head === undefined || genesis === undefined) return undefined
  const { stateRoot } = genesis.block.header
  // A public network's genesis may have the root of an older format, which no state here has.
  const pristineGenesis =
    source.node(stateRoot) === undefined ? genesis : { ...genesis, postState: stateRoot }
  const dump = createDump({
    config,
    blockchain: { head, genesis, pristineGenesis, hashAt: (height) => blocks.canonicalHash(height) },
    blocks,
    trie: new StateTrie(source),
    pool: { inOrder: () => blocks.pool.entries },
    parentChain: await storedParent(store),
  })
  return dump(history)
}
