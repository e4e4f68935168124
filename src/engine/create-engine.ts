/** Creates the parts of the engine and wires them. */
import type { AbiRegistry } from '../abi/registry.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Genesis } from '../chain/genesis.ts'
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { EvmChoice, TransactionOrder } from '../options/engine-settings.ts'
import type { Store } from '../store/level.ts'
import { type ForkStart, openChain } from './blockchain/chain.ts'
import { createChainWriter } from './blockchain/chain-writer.ts'
import { type Call, cancelled } from './call.ts'
import { Clock } from './clock.ts'
import { createCommands } from './commands.ts'
import { BlockOverrides } from './dev/block-overrides.ts'
import { createDev, type NodeModes } from './dev/dev-tools.ts'
import { Impersonation } from './dev/impersonation.ts'
import type { Commands, Engine } from './engine.ts'
import { createEmitter } from './events.ts'
import { enqueueOnFork } from './fork/queue.ts'
import { createChainIndexes } from './index/chain-indexes.ts'
import { createMining } from './mining/mining.ts'
import type { EngineEvents, MiningMode } from './model.ts'
import type { EngineParts } from './parts.ts'
import { openPeers, type Peers } from './peers/peer-scoring.ts'
import { PersistedPool } from './pool/persisted-pool.ts'
import { Pool } from './pool/pool.ts'
import { refusedOnDisk } from './pool/restore-pool.ts'
import { withHeldStates } from './queries/held-states.ts'
import { createQueries, type QueryOptions } from './queries/queries.ts'
import type { RandomBytes } from './randomness.ts'
import { createReplica } from './replica.ts'
import { createSerialQueue, type Enqueue } from './serial-queue.ts'
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
  /** What executes messages. */
  readonly evm: EvmChoice
  readonly mining: MiningMode
  /** Beneficiary of blocks mined here. */
  readonly coinbase: Hex
  /** Client name in the extra data of blocks mined here, for example `TANDEM-0.1.0`. */
  readonly signature: string
  /** Keep clock offsets for all later blocks instead of the next block only. */
  readonly lastingClock: boolean
  /** Order of the senders' transactions in a block. */
  readonly order: TransactionOrder
  /** Apply the reference node's rate limit per sender. */
  readonly accountQuota: boolean
  /** Number of nonces, from the account's on, that a sender may use in the pool. */
  readonly accountSlots: number
  /** What the node that this one is a copy of had in memory; its mining mode is in `mining`. */
  readonly modes?: NodeModes | undefined
  /** The callers of another engine, which closes them; this engine's own unless given. */
  readonly peers?: Peers | undefined
  /** Minimum time between two submissions of work, milliseconds; 0 is no limit. */
  readonly workRateLimitMs: number
  /**
   * Runs before each command and throws where it must not run: on the nodes of a cluster that do not lead. With it, the
   * node mines and writes nothing until `replica.lead`.
   */
  readonly admitCommand?: (() => void) | undefined
}

/** Opens the chain of a store and creates the engine on it. The engine owns the store from then on. */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { accounts, logger, now, modes } = options
  const impersonation = new Impersonation()
  const chain = await openChain({ ...options, signatures: impersonation.signatures })
  const events = createEmitter<EngineEvents>((error) => logger.error('a listener failed', { error }))
  const indexes = createChainIndexes({ ...chain, logger })
  events.on('chain', indexes.follow)
  const clock = new Clock(now, { lasting: options.lastingClock })
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
  const persistedPool = new PersistedPool(chain.blocks)
  const nameFailure = createFailureNaming(options.names)
  let closing: Promise<void> | undefined
  let isRetired = false
  const mining = createMining({
    ...chain,
    pool,
    clock,
    blockOverrides,
    logger,
    now,
    mode: options.mining,
    signature: options.signature,
    workRateLimitMs: options.workRateLimitMs,
    async onTick() {
      await commands.mine().catch((error) => logger.error('mining failed', { error }))
    },
    isClosing: () => closing !== undefined,
  })
  const { discardPending } = mining
  const queue = createSerialQueue()
  const { admitCommand } = options
  const { fork, collector } = chain
  const enqueueFor =
    (call?: Call): Enqueue =>
    (job) => {
      const run = async (its: Call) => {
        if (isRetired) throw cancelled('a reset has put another chain in place, and it was not carried out')
        admitCommand?.()
        try {
          return await job(its)
        } finally {
          collector?.step()
        }
      }
      return fork === undefined ? queue.enqueue(run, call) : enqueueOnFork(queue, fork.demand, run, call)
    }
  const enqueue = enqueueFor()
  /** Jobs that wait for the upstream of a fork are not enqueued again. */
  const endQueue = () => {
    if (fork !== undefined) queue.end(() => new NodeError('upstream', 'The fork was closed.'))
  }
  const parts: EngineParts = {
    ...chain,
    genesis: options.genesis,
    logger,
    now,
    random: options.random,
    enqueue,
    events,
    accounts,
    nameFailure,
    clock,
    blockOverrides,
    impersonation,
    indexes,
    pool,
    persistedPool,
    mining,
    chainWriter: createChainWriter({ ...chain, pool, persistedPool, discardPending, events, nameFailure }),
  }
  const dev = await createDev(parts)
  const chainCommands = createCommands(parts)
  /** Made anew for each call that wants them. */
  const commandsOf = (run: Enqueue): Commands => ({ ...chainCommands(run), ...dev.snapshotCommands(run) })
  const commands = commandsOf(enqueue)

  const restorePool = async () => {
    await parts.onDemand(() => {
      for (const { from } of chain.blocks.poolEntries()) chain.headState().account(from)
    })
    const refused = refusedOnDisk(parts)
    if (refused.length > 0) await chain.store.batch(persistedPool.drop(refused))
  }
  if (admitCommand === undefined) await restorePool()
  await replayBefore(parts)
  const peers = options.peers ?? (await openPeers(chain.store))
  if (admitCommand === undefined) await commands.startMining()

  const queries = createQueries(parts, options)
  const engine: Engine = {
    config: chain.config,
    commands,
    accounts,
    names: options.names,
    dev: dev.tools(enqueue),
    forCall(call) {
      const run = enqueueFor(call)
      return {
        ...engine,
        get commands() {
          return commandsOf(run)
        },
        get dev() {
          return dev.tools(run)
        },
      }
    },
    peers,
    events,
    fork,
    queries: collector === undefined ? queries : withHeldStates(queries, () => collector.hold()),
    replica: createReplica(parts, {
      enqueue: (job) => queue.enqueue(job),
      restorePool,
      reloadSnapshots: dev.reloadSnapshots,
      startMining: () => commands.startMining(),
    }),
    holdStates: () => collector?.hold(),
    retire: (replace) =>
      queue.enqueue(async () => {
        replace()
        isRetired = true
        mining.schedule.stop()
      }),
    close() {
      closing ??= (async () => {
        mining.schedule.stop()
        endQueue()
        await queue.idle()
        if (options.peers === undefined) await peers.close()
        await chain.store.close()
        await fork?.remote.close()
      })()
      return closing
    },
  }
  return engine
}

/** Mines the transactions before the one by which a fork was chosen, in a block of their own; once only. */
async function replayBefore({ fork, blockchain, mining, chainWriter, enqueue }: EngineParts): Promise<void> {
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
