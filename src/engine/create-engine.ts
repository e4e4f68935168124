/** Creates the parts of the engine and wires them. */
import type { AbiRegistry } from '../abi/registry.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Genesis } from '../chain/genesis.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Logger } from '../logger.ts'
import type { EvmChoice, TransactionOrder } from '../options/engine-settings.ts'
import type { Store } from '../store/level.ts'
import { type ForkStart, openChain } from './blockchain/chain.ts'
import { ChainWriter } from './blockchain/chain-writer.ts'
import type { Call } from './call.ts'
import { Clock, type ClockRules } from './clock.ts'
import { CommandQueue } from './command-queue.ts'
import { type CommandParts, createCommandParts, EngineCommands } from './commands.ts'
import { BlockOverrides } from './dev/block-overrides.ts'
import { createDevParts, type DevParts, EngineDevTools, type NodeModes } from './dev/dev-tools.ts'
import { Impersonation } from './dev/impersonation.ts'
import { NodeSnapshots } from './dev/node-snapshots.ts'
import type { Engine, Queries } from './engine.ts'
import { createEmitter } from './events.ts'
import { createChainIndexes } from './index/chain-indexes.ts'
import { createMining } from './mining/mining.ts'
import type { IntervalTimer } from './mining/schedule.ts'
import type { EngineEvents, MiningMode, Submitted } from './model.ts'
import type { ParentChain } from './parent-chain.ts'
import type { EngineParts } from './parts.ts'
import { openPeers, type Peers } from './peers/peer-scoring.ts'
import { PersistedPool } from './pool/persisted-pool.ts'
import { Pool } from './pool/pool.ts'
import { refusedOnDisk } from './pool/restore-pool.ts'
import { withHeldStates } from './queries/held-states.ts'
import { createQueries, type QueryOptions } from './queries/queries.ts'
import type { RandomBytes } from './randomness.ts'
import { CallTrees } from './recording/call-trees.ts'
import { EngineCoverage } from './recording/coverage.ts'
import { EngineGas } from './recording/gas.ts'
import type { Recordings } from './recording/recordings.ts'
import { EngineReplica } from './replica.ts'
import type { Enqueue } from './serial-queue.ts'
import { CodeMaps } from './sources/code-maps.ts'
import { SourceStore } from './sources/source-store.ts'
import { EngineSources } from './sources/sources.ts'
import { StackTraces } from './sources/stack-traces.ts'
import { type Prepare, SubmissionGroups } from './submission-groups.ts'
import { createFailureNaming } from './transaction-notes.ts'
import type { Wallet } from './wallet/wallet.ts'

/** What the engine is created from. */
export interface EngineOptions extends QueryOptions {
  readonly config: ChainConfig
  readonly genesis: Genesis
  readonly fork?: ForkStart | undefined
  readonly store: Store
  /** Where the database is, for error messages. */
  readonly place: string
  readonly accounts: Wallet
  /** Registered ABIs, for the texts of failures. */
  readonly names: AbiRegistry
  readonly logger: Logger
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  readonly random: RandomBytes
  /** What is recorded of the code that runs. */
  readonly recordings: Recordings
  /** What executes messages. */
  readonly evm: EvmChoice
  readonly mining: MiningMode
  /** Beneficiary of blocks mined here. */
  readonly coinbase: Hex
  /** Client name in the extra data of blocks mined here, for example `TANDEM-0.1.0`. */
  readonly signature: string
  /** Keep clock offsets for all later blocks instead of the next block only. */
  readonly lastingClock: boolean
  readonly clockDialect?: ClockRules['dialect']
  /** Order of the senders' transactions in a block. */
  readonly order: TransactionOrder
  /** Apply the reference node's rate limit per sender. */
  readonly accountQuota: boolean
  /** Number of nonces, from the account's on, that a sender may use in the pool. */
  readonly accountSlots: number
  /** In a copy of a node, the settings that the node had in memory only; the mining mode is in `mining`. */
  readonly modes?: NodeModes | undefined
  /** The callers of another engine, which closes them; this engine's own unless given. */
  readonly peers?: Peers | undefined
  /** A parent chain that the node runs as well. */
  readonly parentChain?: ParentChain | undefined
  /** Minimum time between two submissions of work, milliseconds; 0 is no limit. */
  readonly workRateLimitMs: number
  /** Ends the intervals of interval mining; a timer of Node.js unless given. */
  readonly intervalTimer?: IntervalTimer | undefined
  /**
   * Runs before each command and throws where it must not run: on the nodes of a cluster that do not lead. With it, the
   * node mines and writes nothing until `replica.lead`.
   */
  readonly admitCommand?: (() => void) | undefined
}

/** What the schedule and the miner ask of the engine that they belong to. */
interface Lifetime {
  isClosing: boolean
  /** Mines the next block when the schedule is due. */
  onTick: () => Promise<void>
}

/** The function that enqueues the submissions of a call, or of the node itself. */
type SubmitFor = (call?: Call) => (prepare: Prepare) => Promise<Submitted>

/** The parts with what belongs to the engine as a whole. */
interface OpenEngine {
  readonly options: EngineOptions
  readonly parts: EngineParts
  readonly queue: CommandQueue
  readonly submitFor: SubmitFor
  readonly commands: CommandParts
  readonly dev: DevParts
  readonly peers: Peers
  readonly sources: SourceStore
  readonly lifetime: Lifetime
}

/** Opens the chain of a store and creates the engine on it. The engine owns the store from then on. */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { admitCommand, logger } = options
  const lifetime: Lifetime = { isClosing: false, onTick: async () => {} }
  const parts = await openParts(options, lifetime)
  const queue = new CommandQueue({ ...parts, admitCommand })
  const snapshots = await NodeSnapshots.open(parts)
  const dev = createDevParts(parts, snapshots)
  const shared = createCommandParts(parts, snapshots)
  const submitFor = submissionsOf(options, queue, shared)
  const commands = new EngineCommands(shared, queue.enqueueFor(), submitFor())
  lifetime.onTick = async () => {
    const { handler } = parts.mining.schedule
    await (handler?.tick() ?? commands.mine()).catch((error) => logger.error('mining failed', { error }))
  }
  if (admitCommand === undefined) await restorePool(parts)
  await replayBefore(parts, queue.enqueueFor())
  const peers = options.peers ?? (await openPeers(parts.store))
  if (admitCommand === undefined) await commands.startMining()
  const sources = new SourceStore(parts.store)
  const open = { options, parts, queue, submitFor, commands: shared, dev, peers, sources, lifetime }
  return engineOf(open, commands)
}

/** In a cluster, where a write takes longer than a block, submissions that wait for one are written together. */
function submissionsOf(
  { admitCommand }: EngineOptions,
  queue: CommandQueue,
  shared: CommandParts,
): SubmitFor {
  const { parts, submissions, requests } = shared
  if (admitCommand === undefined || parts.fork !== undefined) {
    return (call) => {
      const enqueue = queue.enqueueFor(call)
      return (prepare) => enqueue(() => submissions.submit(prepare(requests)))
    }
  }
  const share = queue.share(new SubmissionGroups(shared).run)
  return (call) => (prepare) => share(prepare, call)
}

/** Opens the chain, and creates the other parts on it. */
async function openParts(options: EngineOptions, lifetime: Lifetime): Promise<EngineParts> {
  const { logger, now, modes } = options
  const impersonation = new Impersonation()
  const chain = await openChain({ ...options, signatures: impersonation.signatures })
  const events = createEmitter<EngineEvents>((error) => logger.error('a listener failed', { error }))
  const indexes = createChainIndexes({ ...chain, logger })
  events.on('chain', indexes.follow)
  const clock = new Clock(now, { lasting: options.lastingClock, dialect: options.clockDialect })
  const blockOverrides = new BlockOverrides(options.coinbase)
  if (modes !== undefined) {
    impersonation.restore(modes.impersonation)
    clock.restore(modes.clock)
    blockOverrides.restore(modes.blockOverrides)
  }
  const pool = new Pool({
    ...options,
    config: chain.config,
    headerOverrides: () => blockOverrides.headerOverrides,
  })
  const persistedPool = new PersistedPool(chain.blocks.pool)
  const nameFailure = createFailureNaming(options.names)
  const mining = createMining({
    ...chain,
    vm: options.recordings.on(chain.vm, 'transactions'),
    pool,
    clock,
    blockOverrides,
    logger,
    now,
    parentChain: options.parentChain,
    mode: options.mining,
    signature: options.signature,
    workRateLimitMs: options.workRateLimitMs,
    onTick: () => lifetime.onTick(),
    timer: options.intervalTimer,
    isClosing: () => lifetime.isClosing,
  })
  const { discardPending } = mining
  const callTrees = new CallTrees()
  return {
    ...chain,
    genesis: options.genesis,
    logger,
    now,
    random: options.random,
    recordings: options.recordings,
    events,
    accounts: options.accounts,
    nameFailure,
    clock,
    blockOverrides,
    impersonation,
    indexes,
    pool,
    persistedPool,
    mining,
    parentChain: options.parentChain,
    callTrees,
    chainWriter: new ChainWriter({
      ...chain,
      callTrees,
      pool,
      persistedPool,
      discardPending,
      events,
      nameFailure,
      parentChain: options.parentChain,
    }),
  }
}

/** The engine of opened parts. */
function engineOf(open: OpenEngine, commands: EngineCommands): Engine {
  const { options, parts, queue, dev, peers, sources } = open
  const { collector } = parts
  const { names, recordings } = options
  const { events } = parts
  const queries = heldQueries(parts, options)
  const maps = new CodeMaps(sources)
  const holdStates = () => collector?.hold()
  let closing: Promise<void> | undefined
  const engine: Engine = {
    config: parts.config,
    commands,
    accounts: options.accounts,
    names,
    stackTraces: new StackTraces({ store: sources, maps, names, events, queries }),
    coverage: new EngineCoverage({ recordings, store: sources, maps }),
    gas: new EngineGas({ recordings, maps, vm: parts.vm, events, queries }),
    // Loaded with the first session.
    debugger: {
      async open(...target) {
        const { SourceDebugger } = await import('./sources/debugger.ts')
        return new SourceDebugger({ maps, queries, holdStates, demand: parts.fork?.demand }).open(...target)
      },
    },
    sources: new EngineSources(sources, queue.enqueueFor()),
    dev: new EngineDevTools(dev, queue.enqueueFor()),
    forCall: (call) => withQueue(engine, open, call),
    peers,
    events,
    fork: parts.fork,
    queries,
    replica: new EngineReplica(parts, {
      enqueue: (job) => queue.enqueueInternal(job),
      restorePool: () => restorePool(parts),
      reloadRecords() {
        sources.reload()
        return dev.snapshots.reload()
      },
      startMining: () => commands.startMining(),
    }),
    holdStates,
    retire: (replace) =>
      queue.retire(() => {
        replace()
        parts.mining.schedule.stop()
      }),
    close() {
      closing ??= closeEngine(open)
      return closing
    },
  }
  return engine
}

/** The same engine with commands and tools whose jobs belong to a call. */
function withQueue(engine: Engine, open: OpenEngine, call: Call): Engine {
  const { commands, dev, sources } = open
  const enqueue = open.queue.enqueueFor(call)
  return {
    ...engine,
    get commands() {
      return new EngineCommands(commands, enqueue, open.submitFor(call))
    },
    get dev() {
      return new EngineDevTools(dev, enqueue)
    },
    get sources() {
      return new EngineSources(sources, enqueue)
    },
  }
}

/** The queries; where states are collected, a query keeps those that it may read. */
function heldQueries(parts: EngineParts, options: QueryOptions): Queries {
  const { collector } = parts
  const queries = createQueries(parts, options)
  return collector === undefined ? queries : withHeldStates(queries, () => collector.hold())
}

async function closeEngine({ options, parts, queue, peers, lifetime }: OpenEngine): Promise<void> {
  lifetime.isClosing = true
  parts.mining.schedule.stop()
  await queue.close()
  if (options.peers === undefined) await peers.close()
  await parts.store.close()
  await parts.fork?.remote.close()
}

/** Fills the empty pool from disk, and deletes there what is no longer valid. */
async function restorePool(parts: EngineParts): Promise<void> {
  const { blocks, headState, store, persistedPool } = parts
  await parts.onDemand(() => {
    for (const { from } of blocks.pool.entries) headState().account(from)
  })
  const refused = refusedOnDisk(parts)
  if (refused.length > 0) await store.batch(persistedPool.drop(refused))
}

/** Mines the transactions before the one by which a fork was chosen, in a block of their own; once only. */
async function replayBefore(
  { fork, blockchain, mining, chainWriter }: EngineParts,
  enqueue: Enqueue,
): Promise<void> {
  const chosen = fork?.remote.transaction
  if (chosen === undefined || chosen.index === 0 || blockchain.head.hash !== fork?.remote.point.hash) return
  const { header, transactions } = chosen.block.block
  const planned = {
    transactions: transactions.slice(0, chosen.index),
    timestamp: header.timestamp,
    coinbase: header.coinbase,
  }
  await enqueue(() =>
    mining.buildBranch(blockchain.head, [planned], { uncles: false }, (branch) => chainWriter.insert(branch)),
  )
}
