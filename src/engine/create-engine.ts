/** Makes the parts of the engine, wires them, opens and closes. */
import type { AbiRegistry } from '../abi/registry.ts'
import { EMPTY_TRIE_ROOT } from '../chain/account.ts'
import type { ExecutedBlock } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Genesis } from '../chain/genesis.ts'
import { headerHash } from '../chain/header.ts'
import type { Hex } from '../encoding/hex.ts'
import { encodeRlp } from '../encoding/rlp.ts'
import { createMachine } from '../execution/machine.ts'
import { Overlay } from '../execution/overlay.ts'
import type { SealedState } from '../execution/state.ts'
import { StateTrie } from '../execution/state-trie.ts'
import type { Logger } from '../logger.ts'
import { BlockStore } from '../store/block-store.ts'
import type { Store } from '../store/level.ts'
import { nodeSource } from '../store/state-nodes.ts'
import { indexTables } from '../store/tables.ts'
import { createBlockCheck } from './block-check.ts'
import { Blockchain } from './blockchain.ts'
import { createChainMoves } from './chain-moves.ts'
import { Clock } from './clock.ts'
import { createCommands } from './commands.ts'
import { createDevTools } from './dev-tools.ts'
import { Dials } from './dials.ts'
import type { Engine } from './engine.ts'
import { createEmitter, type EngineEvents } from './events.ts'
import { createFailureNames } from './failure-names.ts'
import { Impersonation } from './impersonation.ts'
import { markLogs } from './index/log-terms.ts'
import { participantsIn } from './index/participants.ts'
import { createSectionIndex } from './index/section-index.ts'
import { Instance } from './instance.ts'
import { createBranchBuilder } from './mining/branch-builder.ts'
import { type BuildRequest, createBuilder } from './mining/builder.ts'
import { createHashrates } from './mining/hashrates.ts'
import { createSchedule, type MiningMode } from './mining/schedule.ts'
import { createSealer } from './mining/sealer.ts'
import { createSolutions } from './mining/solution.ts'
import { createWorks } from './mining/work.ts'
import { openPeers } from './peers/ledger.ts'
import { KeptPool } from './pool/kept-pool.ts'
import { Pool } from './pool/pool.ts'
import { createLookup } from './queries/lookup.ts'
import { createPending, type Pending } from './queries/pending.ts'
import { createQueries } from './queries/queries.ts'
import { createSerialQueue } from './serial-queue.ts'
import { Snapshots } from './snapshots.ts'
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
function sealGenesis(
  genesis: Genesis,
  trie: StateTrie,
  config: ChainConfig,
): { block: ExecutedBlock; state: SealedState } {
  const overlay = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
  genesis.apply(overlay)
  const state = trie.seal(EMPTY_TRIE_ROOT, overlay.changes())
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
  const machine = createMachine({ chainId: config.chainId, onNotice: (notice) => logger.warn(notice) })
  const blockchain = await Blockchain.open({ store, blocks, trie, place: parts.place }, () =>
    sealGenesis(genesis, trie, config),
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
  const dials = new Dials(parts.coinbase)
  const asked = () => dials.asked
  const impersonation = new Impersonation()
  const instance = new Instance()
  const snapshots = new Snapshots()
  const named = createFailureNames(parts.names)
  const pool = new Pool({
    config,
    now: parts.now,
    accountSlots: parts.accountSlots,
    accountQuota: parts.accountQuota,
    asked,
  })
  const builder = createBuilder({ ...chain, machine, trie, logger })
  const build = (request: BuildRequest) => builder({ ...request, asked: dials.asked })
  const buildOn = (parent: ExecutedBlock, timestamp: number, extraData: Uint8Array) =>
    build({
      parent,
      timestamp,
      coinbase: dials.coinbase,
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
  const seal = createSealer(chain, () => closing !== undefined)
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
  const moves = createChainMoves({ store, blockchain, pool, kept, pending: ahead, events, headState, named })
  const dev = createDevTools({
    inTurn,
    store,
    blockchain,
    moves,
    trie,
    pool,
    kept,
    pending: ahead,
    clock,
    dials,
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
    moves,
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
    dials,
    impersonation,
    instance,
    snapshots,
    schedule,
    accounts,
    events,
    named,
    headState,
    build: (parent, timestamp) => buildOn(parent, timestamp, extraData),
    seal,
    check: createBlockCheck({ ...chain, machine, trie, now: parts.now }),
    buildBranch: createBranchBuilder({
      config,
      blocks,
      trie,
      clock,
      coinbase: () => dials.coinbase,
      extraData,
      build,
      seal,
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
      machine,
      lookup,
      pool,
      dials,
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
