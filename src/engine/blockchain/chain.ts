/** Opens the chain of a store, with the parts that read, execute and validate its blocks. */
import { EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import type { Block, ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Genesis } from '../../chain/genesis.ts'
import { headerHash } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import {
  type ImpersonatedSignatures,
  precompilesWith,
} from '../../evm/precompiles/impersonated-signatures.ts'
import { type Vm, type VmRules, vmRulesOf } from '../../evm/rules.ts'
import { createVm, type VmParts } from '../../evm/vm.ts'
import type { Logger } from '../../logger.ts'
import type { EvmChoice } from '../../options/engine-settings.ts'
import { type OnDemand, runOnce } from '../../state/fork/demand.ts'
import type { CommittedState, StateReader } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import type { RemoteChain } from '../../state/remote/model.ts'
import { StateTrie } from '../../state/state-trie.ts'
import { BlockStore } from '../../store/block-store.ts'
import type { Store } from '../../store/level.ts'
import { nodeSource } from '../../store/state-nodes.ts'
import type { AccountEdit } from '../dev/state-edits.ts'
import { withUpstreamBridge } from '../fork/bridge-views.ts'
import { createFork, type Fork } from '../fork/fork.ts'
import type { Recordings } from '../recording/recordings.ts'
import type { ChainAccess } from './ancestry.ts'
import { Blockchain, type BlockWithState } from './blockchain.ts'
import { withChainStart } from './chain-start.ts'
import { StateCollector } from './state-collector.ts'
import { checkStoredEnd } from './stored-end.ts'
import { BlockValidation } from './validate-block.ts'

/** Roots at which calls, the pool and the building of blocks share a reader, which keeps what it has read. */
const SHARED_ROOTS = 4

/** An open chain. */
export interface Chain extends ChainAccess {
  readonly store: Store
  readonly trie: StateTrie
  readonly vm: Vm
  /** The upstream below the chain, where it is a fork. */
  readonly fork: Fork | undefined
  /** Runs a read of the chain or its states; on a fork again after missing data was fetched. */
  readonly onDemand: OnDemand
  /** Drops unreachable states, where the store is in memory. */
  readonly collector: StateCollector | undefined
  /** Another trie over the same store, whose states no other reader sees. */
  openTrie(options: { readonly cacheNodes: number }): StateTrie
  /** The state after a stored block; readers of recently used states are shared. */
  stateAfter(block: Pick<ExecutedBlock, 'postState'>): StateReader
  /** The state after the head. */
  headState(): StateReader
  /** Checks and executes a block mined elsewhere. Throws `invalid-block` with the first rule violated. */
  validateBlock(block: Block): Promise<BlockWithState>
}

/** Where a fork begins. */
export interface ForkStart {
  readonly remote: RemoteChain
  /** Accounts that have at least this balance, wei, from the start. */
  readonly toFund: readonly Hex[]
  readonly balance: bigint
  /** Other accounts that are changed. */
  readonly edits: readonly AccountEdit[]
  /** Heights of blocks that pay out no collected fees; the fork adds to them. */
  readonly unpaid: Set<number>
}

/** What a chain is opened from. */
export interface ChainOptions {
  readonly config: ChainConfig
  /** The genesis of a chain that is not a fork. */
  readonly genesis: Genesis
  /** Where the chain forks another one, which has the blocks below and the first state. */
  readonly fork?: ForkStart | undefined
  readonly store: Store
  /** Where the database is, for error messages. */
  readonly place: string
  readonly logger: Logger
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** What executes messages. */
  readonly evm: EvmChoice
  /** What is recorded of the code that runs. */
  readonly recordings: Recordings
  /** Signatures that ECRECOVER answers from a list, which may change. */
  readonly signatures: ImpersonatedSignatures
}

/** The constants of a fork whose roots are those of whole states. */
function withTrueRoots({ forkedAt: _forkedAt, ...config }: ChainConfig): ChainConfig {
  return config
}

/** Opens the chain of the store, or starts it with the genesis. Throws `database`. */
export async function openChain(options: ChainOptions): Promise<Chain> {
  const { store, place, now } = options
  const { fork, blocks, config, trie } = await openBlocks(options)
  checkStoredEnd({ store, blocks, config, place, isFork: fork !== undefined })
  const forked = options.fork && (await fork?.start(options.fork))
  const { vm, importVm, notices } = await openVms(options, fork, config)
  const collector =
    store.states && new StateCollector({ states: store.states, blocks, onDropped: () => trie.forgetRead() })
  const blockchain = await Blockchain.open(
    { store, blocks, trie, place, collector },
    () => forked ?? builtGenesis(options.genesis, trie, config),
  )
  collector?.addRoots(() => [blockchain.pristineGenesis.postState])
  const stateAfter = ({ postState }: Pick<ExecutedBlock, 'postState'>) => trie.reader(postState)
  const access = { config, blockchain, blocks }
  const validation = new BlockValidation({ ...access, vm: importVm, trie, now, notices })
  return {
    ...access,
    store,
    trie,
    vm,
    fork,
    onDemand: fork?.demand.run ?? runOnce,
    collector,
    openTrie: (limits) => fork?.openTrie(limits) ?? new StateTrie(nodeSource(store), limits),
    stateAfter,
    headState: () => stateAfter(blockchain.head),
    validateBlock: (block) => validation.validate(block),
  }
}

/** What the chain is read from. */
interface OpenBlocks {
  readonly fork: Fork | undefined
  readonly blocks: BlockStore
  readonly config: ChainConfig
  readonly trie: StateTrie
}

async function openBlocks({ fork: start, store, config, logger }: ChainOptions): Promise<OpenBlocks> {
  const source = nodeSource(store)
  const fork = start && createFork({ ...start, source, sharedRoots: SHARED_ROOTS, config, logger })
  const network = fork?.isExact === true ? withTrueRoots(config) : config
  const blocks = await BlockStore.open(store, network, fork?.history)
  return {
    fork,
    blocks,
    config: fork === undefined ? withChainStart(network, blocks) : network,
    trie: fork?.trie ?? new StateTrie(source, { sharedRoots: SHARED_ROOTS }),
  }
}

/** The VM of a chain, and the one that validates imported blocks, with what that has left out. */
interface ChainVms {
  readonly vm: Vm
  readonly importVm: Vm
  readonly notices: string[]
}

async function openVms(
  { evm, signatures, logger, recordings }: ChainOptions,
  fork: Fork | undefined,
  config: ChainConfig,
): Promise<ChainVms> {
  const { chainId } = config
  const networkRules = vmRulesOf(config)
  const isStored = fork?.isExact === true || config.bridgeRelease === 'takeover'
  const rulesAt = fork === undefined ? networkRules : withUpstreamBridge(networkRules, { ...fork, isStored })
  const makeVm = await vmMaker(evm)
  const notices: string[] = []
  const vm = makeVm({
    chainId,
    rulesAt: withSignatures(rulesAt, signatures),
    onNotice: (notice) => logger.warn(notice),
  })
  const importVm = makeVm({
    chainId,
    rulesAt,
    onNotice(notice) {
      notices.push(notice)
      logger.warn(notice)
    },
  })
  return { vm, importVm: recordings.on(importVm, 'transactions'), notices }
}

/** Makes VMs with the chosen EVM; that of the library is loaded where it is chosen. */
async function vmMaker(evm: EvmChoice): Promise<(parts: VmParts) => Vm> {
  if (evm === 'tandem') return createVm
  const { createChosenVm } = await import('../../ethereumjs/create-vm.ts')
  return (parts) => createChosenVm(evm, parts)
}

/** The rules of a network with these signatures in ECRECOVER; one record for each of the network's. */
function withSignatures(
  rulesAt: (height: number) => VmRules,
  signatures: ImpersonatedSignatures,
): (height: number) => VmRules {
  const made = new Map<VmRules, VmRules>()
  return (height) => {
    const rules = rulesAt(height)
    let own = made.get(rules)
    if (own === undefined) {
      own = { ...rules, precompiles: precompilesWith(rules.precompiles, signatures) }
      made.set(rules, own)
    }
    return own
  }
}

/** A first block, and the nodes of the state after it. */
interface FirstBlock {
  readonly block: ExecutedBlock
  readonly state: CommittedState
}

/** Built genesis blocks: the chains of a pool share theirs. */
const built = new WeakMap<Genesis, FirstBlock>()

function builtGenesis(genesis: Genesis, trie: StateTrie, config: ChainConfig): FirstBlock {
  const known = built.get(genesis) ?? buildGenesis(genesis, trie, config)
  built.set(genesis, known)
  return known
}

/** State and block of a genesis; deterministic. */
function buildGenesis(genesis: Genesis, trie: StateTrie, config: ChainConfig): FirstBlock {
  const overlay = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
  genesis.apply(overlay)
  const state = trie.commit(EMPTY_TRIE_ROOT, overlay.changes())
  const header = genesis.header(state.root)
  return {
    block: {
      hash: headerHash(header, config),
      block: { header, transactions: [], uncles: [] },
      receipts: [],
      totalDifficulty: header.difficulty,
      postState: state.root,
    },
    state,
  }
}
