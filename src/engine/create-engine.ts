/** Makes the parts of the engine, wires them, opens and closes. */
import type { AbiRegistry } from '../abi/registry.ts'
import { EMPTY_TRIE_ROOT } from '../chain/account.ts'
import type { ExecutedBlock } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Genesis } from '../chain/genesis.ts'
import { headerHash } from '../chain/header.ts'
import type { Hex } from '../encoding/hex.ts'
import { encodeRlp } from '../encoding/rlp.ts'
import { createVm } from '../evm/vm.ts'
import type { Logger } from '../logger.ts'
import type { CommittedState } from '../state/model.ts'
import { Overlay } from '../state/overlay.ts'
import { StateTrie } from '../state/state-trie.ts'
import { BlockStore } from '../store/block-store.ts'
import type { Store } from '../store/level.ts'
import { nodeSource } from '../store/state-nodes.ts'
import { indexTables } from '../store/tables.ts'
import { Blockchain } from './blockchain/blockchain.ts'
import { createChainWriter } from './blockchain/chain-writer.ts'
import { createBlockValidation } from './blockchain/validate-block.ts'
import { Clock } from './clock.ts'
import { createCommands } from './commands.ts'
import { BlockOverrides } from './dev/block-overrides.ts'
import { createDevTools } from './dev/dev-tools.ts'
import { Impersonation } from './dev/impersonation.ts'
import { Instance } from './dev/instance.ts'
import { Snapshots } from './dev/snapshots.ts'
import type { Engine } from './engine.ts'
import { createErrorNames } from './error-names.ts'
import { createEmitter, type EngineEvents } from './events.ts'
import { markLogs } from './index/log-terms.ts'
import { participantsIn } from './index/participants.ts'
import { createSectionIndex } from './index/section-index.ts'
import { createBranchBuilder } from './mining/branch-builder.ts'
import { type BuildRequest, createBuilder } from './mining/builder.ts'
import { createHashrates } from './mining/hashrates.ts'
import { createMiner } from './mining/miner.ts'
import { createSchedule, type MiningMode } from './mining/schedule.ts'
import { createSolutions } from './mining/solution.ts'
import { createWorks } from './mining/work.ts'
import { openPeers } from './peers/ledger.ts'
import { KeptPool } from './pool/kept-pool.ts'
import { Pool } from './pool/pool.ts'
import { createLookup } from './queries/lookup.ts'
import { createPending, type Pending } from './queries/pending.ts'
import { createQueries } from './queries/queries.ts'
import { createSerialQueue } from './serial-queue.ts'
import type { Wallet } from './wallet/wallet.ts'

/** All that the engine takes from outside. Gas in gas, times in Unix seconds. */
export interface EngineParts {
  readonly config: ChainConfig
  readonly genesis: Genesis
  readonly store: Store
  /** Where the database is, for the words of a refusal. */
  readonly place: string
  readonly accounts: Wallet
  /** Names of contracts, for words about failures. */
  readonly names: AbiRegistry
  readonly logger: Logger
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  readonly mining: MiningMode
  /** Who is rewarded for blocks mined here. */
  readonly coinbase: Hex
  /** What blocks mined here say of their maker, for example `TANDEM-0.1.0`. */
  readonly signature: string
  readonly lastingClock: boolean
  readonly strictCalls: boolean
  readonly accountQuota: boolean
  readonly accountSlots: number
  /** Least time between two submissions of work, milliseconds; 0 is no limit. */
  readonly workRateLimitMs: number
  readonly callGasCap: bigint
  readonly gasEstimationCap: bigint
  readonly timeoutMs: number
  /** Bytes that one trace may take. */
  readonly maxTraceBytes: number
}

/** State and block of a genesis; deterministic. */
function buildGenesis(
  genesis: Genesis,
  trie: StateTrie,
  config: ChainConfig,
): { block: ExecutedBlock; state: CommittedState } {
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

/** Opens the chain of a store and gives the engine over it. The engine owns the store from then on. */
export async function createEngine(parts: EngineParts): Promise<Engine> {
  const { config, genesis, store, accounts, logger } = parts
  const blocks = await BlockStore.open(store, config)
  const trie = new StateTrie(nodeSource(store))
  const vm = createVm({ chainId: config.chainId, onNotice: (notice) => logger.warn(notice) })
  const blockchain = await Blockchain.open({ store, blocks, trie, place: parts.place }, () =>
    buildGenesis(genesis, trie, config),
  )

  const chain = { config, blockchain, blocks }
  const events = createEmitter<EngineEvents>((error) => logger.error('a listener failed', { error }))
  const { logSections, participantSections } = indexTables(store)
  const logIndex = createSectionIndex({ blockchain, store, logger, table: logSections, contents: markLogs })
  const participantIndex = createSectionIndex({
    blockchain,
    store,
    logger,
    table: participantSections,
    contents: participantsIn(blocks),
  })
  events.on('chain', logIndex.follow)
  events.on('chain', participantIndex.follow)
  const clock = new Clock(parts.now, { lasting: parts.lastingClock })
  const blockOverrides = new BlockOverrides(parts.coinbase)
  const asked = () => blockOverrides.asked
  const impersonation = new Impersonation()
  const instance = new Instance()
  const snapshots = new Snapshots()
  const named = createErrorNames(parts.names)
  const pool = new Pool({
    config,
    now: parts.now,
    accountSlots: parts.accountSlots,
    accountQuota: parts.accountQuota,
    asked,
  })
  const builder = createBuilder({ ...chain, vm, trie, logger })
  const build = (request: BuildRequest) => builder({ ...request, asked: blockOverrides.asked })
  const buildOn = (parent: ExecutedBlock, timestamp: number, extraData: Uint8Array) =>
    build({
      parent,
      timestamp,
      coinbase: blockOverrides.coinbase,
      extraData,
      candidates: pool.candidates(),
    })
  const pending = createPending(config, (extraData) =>
    buildOn(blockchain.head, clock.nextTimestamp(blockchain.head.block.header.timestamp), extraData),
  )
  const lookup = createLookup({ ...chain, trie, pool, pending })
  const headState = () => lookup.stateAfter(blockchain.head)
  const { inTurn, idle } = createSerialQueue()
  let closing: Promise<void> | undefined
  const schedule = createSchedule(parts.mining, async () => {
    await commands.mine().catch((error) => logger.error('mining failed', { error }))
  })
  const extraData = encodeRlp([Uint8Array.of(1), new TextEncoder().encode(parts.signature)])
  const mine = createMiner(chain, () => closing !== undefined)
  const works = createWorks({
    ...chain,
    build: () =>
      buildOn(blockchain.head, clock.nextTimestamp(blockchain.head.block.header.timestamp), extraData),
    clock,
    now: parts.now,
  })
  const hashrates = createHashrates(parts.now)
  /** What is made ahead for the next block goes whenever head, pool or clock move. */
  const ahead: Pending = {
    ...pending,
    forget() {
      pending.forget()
      works.forget()
    },
  }
  const kept = new KeptPool(blocks)
  const chainWriter = createChainWriter({
    store,
    blockchain,
    pool,
    kept,
    pending: ahead,
    events,
    headState,
    named,
  })
  const dev = createDevTools({
    inTurn,
    store,
    blockchain,
    chainWriter,
    trie,
    pool,
    kept,
    pending: ahead,
    clock,
    blockOverrides,
    impersonation,
    snapshots,
    miningMode: () => schedule.mode,
    instanceId: () => instance.id,
  })
  const commands = createCommands({
    config,
    inTurn,
    store,
    blocks,
    blockchain,
    chainWriter,
    pool,
    kept,
    pending: ahead,
    works,
    solutions: createSolutions({
      ...chain,
      works,
      logger,
      now: parts.now,
      elapsed: () => performance.now(),
      rateLimitMs: parts.workRateLimitMs,
    }),
    hashrates,
    clock,
    blockOverrides,
    impersonation,
    instance,
    snapshots,
    schedule,
    accounts,
    events,
    named,
    headState,
    build: (parent, timestamp) => buildOn(parent, timestamp, extraData),
    mine,
    check: createBlockValidation({ ...chain, vm, trie, now: parts.now }),
    buildBranch: createBranchBuilder({
      config,
      blocks,
      trie,
      clock,
      coinbase: () => blockOverrides.coinbase,
      extraData,
      build,
      mine,
    }),
  })

  for (const transaction of blocks.poolEntries()) {
    try {
      pool.add(transaction, blockchain.head, headState())
    } catch (error) {
      logger.warn('a pooled transaction no longer stands and is dropped', { hash: transaction.hash, error })
      await store.batch([blocks.dropPool(transaction.hash)])
    }
  }
  const peers = await openPeers(store)
  await commands.startMining()

  return {
    config,
    commands,
    accounts,
    names: parts.names,
    dev,
    peers,
    events,
    queries: createQueries({
      ...chain,
      ...parts,
      trie,
      vm,
      lookup,
      pool,
      blockOverrides,
      works,
      hashrates,
      schedule,
      logIndex,
      participantIndex,
      named,
      events,
    }),
    close() {
      closing ??= (async () => {
        schedule.stop()
        await idle()
        await peers.close()
        await store.close()
      })()
      return closing
    },
  }
}
