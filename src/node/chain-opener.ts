/** Opens the chains of a node: the one that it starts with, and those that a reset puts in its place. */
import type { AbiRegistry } from '../abi/registry.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Genesis, GenesisAlloc } from '../chain/genesis.ts'
import type { Network } from '../chain/network.ts'
import type { ForkStart } from '../engine/blockchain/chain.ts'
import { createEngine } from '../engine/create-engine.ts'
import type { Engine } from '../engine/engine.ts'
import type { Peers } from '../engine/peers/peer-scoring.ts'
import type { RandomBytes } from '../engine/randomness.ts'
import type { Recordings } from '../engine/recording/recordings.ts'
import { copySources } from '../engine/sources/copy-sources.ts'
import { type LocalAccounts, MINER_ADDRESS } from '../engine/wallet/accounts.ts'
import type { Wallet } from '../engine/wallet/wallet.ts'
import type { Logger } from '../logger.ts'
import type { NodeOptions, ResolvedNodeOptions } from '../options/options.ts'
import type { Peg } from '../peg/peg.ts'
import type { Joining } from '../replication/cluster.ts'
import type { RemoteChain } from '../state/remote/model.ts'
import { identityOf } from '../store/identity.ts'
import type { Store, StoreOptions } from '../store/level.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Start } from './origin.ts'
import {
  configOf,
  forkStart,
  gasCap,
  genesisOf,
  joiningOf,
  miningOf,
  newContracts,
  openPeg,
  predeployed,
  refuseTakenFork,
  VERSION,
  withKeptRules,
} from './parts.ts'

/** What the engines of a node have in common, whichever chain they run. */
export interface NodeParts {
  readonly given: NodeOptions
  readonly options: ResolvedNodeOptions
  /** The one that the options name. */
  readonly network: Network
  readonly logger: Logger
  /** Unix time, seconds. */
  readonly now: () => number
  readonly random: RandomBytes
  readonly accounts: LocalAccounts
  readonly wallet: Wallet
  readonly names: AbiRegistry
  /** Kept when the engine is replaced, and shared with the chains of a pool. */
  readonly recordings: Recordings
  /** What observes calls, runs and the upstream; absent unless it is asked for. */
  readonly telemetry: Telemetry | undefined
  /** The callers of a node, kept when its engine is replaced. */
  readonly ownPeers: Peers | undefined
  /** The callers of another node, shared with it. */
  readonly sharedPeers: Peers | undefined
  /** What a copy of a node begins with. */
  readonly from: Start | undefined
}

/** A chain that was opened. */
interface Opened {
  readonly engine: Engine
  /** Of a node of a cluster that has not joined yet. */
  readonly joining: Joining | undefined
}

type Forked = Pick<ForkStart, 'remote' | 'unpaid'>

/** The store of a data directory, or one in memory, for which the code of LevelDB and of its log is not loaded. */
async function storeOf(options: StoreOptions): Promise<Store> {
  if (options.dataDir === undefined) return createMemoryStore()
  const { openStore } = await import('../store/level.ts')
  return openStore(options)
}

/** Opens chains, one after another; all begin with the genesis of the first. */
export class ChainOpener {
  readonly #parts: NodeParts
  #genesis: Genesis | undefined
  #store: Store | undefined
  #peg: Peg | undefined
  /** Of the chain that was opened last, which does not run before `runLast`. */
  #last: Store | undefined

  constructor(parts: NodeParts) {
    this.#parts = parts
    this.#genesis = parts.from?.genesis
  }

  /** The genesis of the first chain. Throws where none was opened. */
  get genesis(): Genesis {
    if (this.#genesis === undefined) throw new Error('no chain was opened')
    return this.#genesis
  }

  /** The store of the chain that the node runs. Throws where there is none yet. */
  get store(): Store {
    if (this.#store === undefined) throw new Error('no chain runs')
    return this.#store
  }

  /** The Bitcoin chain beside the chain, where the node runs one. */
  get peg(): Peg | undefined {
    return this.#peg
  }

  /** Notes that the node runs the chain that was opened last: a reset may be cancelled after it has opened one. */
  runLast(): void {
    this.#store = this.#last
  }

  /** Opens the chain of a store of its own or of a cluster, or continues the upstream's. Takes ownership of `given`. */
  async open(remote: RemoteChain | undefined, given?: Store): Promise<Opened> {
    const { options, logger, network } = this.#parts
    const forked = remote && { remote, unpaid: new Set<number>() }
    const settings = given === undefined ? await withKeptRules(options) : options
    const config = configOf(network, settings, forked)
    const { dataDir, fsync } = options
    const identity = identityOf(config, remote?.point)
    const onNotice = (sentence: string) => logger.warn(sentence)
    const local = given ?? (await storeOf({ ...identity, dataDir, fsync, onNotice }))
    const joining = await joiningOf(options, config, local, logger)
    const store = joining?.store ?? local
    const engine = await this.#engineOn(store, config, joining, forked).catch(async (error) => {
      await joining?.cancel()
      await store.close()
      if (dataDir === undefined) throw error
      const { refusalOfStart } = await import('../store/level.ts')
      throw await refusalOfStart(dataDir, identity, error)
    })
    this.#last = store
    return { engine, joining }
  }

  async #engineOn(
    store: Store,
    config: ChainConfig,
    joining: Joining | undefined,
    forked: Forked | undefined,
  ): Promise<Engine> {
    const { options, accounts, wallet, names, recordings, logger, now, random, from } = this.#parts
    const { ownPeers, sharedPeers } = this.#parts
    // Sources explain code, whichever chain it is on: a reset keeps them.
    if (this.#store !== undefined) await copySources(this.#store, store)
    const blockZeroNow = () => joining?.genesisTime ?? now()
    this.#genesis ??= await genesisOf(options, config, accounts.toFund, store, blockZeroNow)
    const remote = forked?.remote
    const own = { joining, genesis: this.#genesis, state: from?.bitcoin }
    const place = { store, now, random, logger, config, remote, ...own }
    const peg = await openPeg(options, place)
    if (forked !== undefined && peg === undefined) await refuseTakenFork(store)
    const contracts = forked && (await this.#contractsOn(forked.remote, config))
    const engine = await createEngine({
      ...this.#settings(),
      parentChain: peg?.parentChain,
      config,
      genesis: this.#genesis,
      ...(forked && contracts && { fork: forkStart(forked, accounts, options, contracts, peg) }),
      store,
      accounts: wallet,
      names,
      recordings,
      logger,
      now,
      random,
      modes: from?.modes,
      peers: ownPeers ?? sharedPeers,
      admitCommand: joining?.admitCommand,
    }).catch(async (error) => {
      await peg?.close()
      throw error
    })
    peg?.attach(engine)
    this.#peg = peg
    return engine
  }

  /** The well-known contracts of a fork. Those that were asked for by name are looked up on its upstream. */
  async #contractsOn(remote: RemoteChain, config: ChainConfig): Promise<GenesisAlloc> {
    const { options } = this.#parts
    const contracts = await predeployed(options, config)
    return options.predeploy.length === 0 ? contracts : newContracts(remote, contracts)
  }

  /** The options of the node that are those of its engine. */
  #settings() {
    const { given, options, from } = this.#parts
    const { callGasCap, gasEstimationCap, blockGasLimit } = options
    return {
      place: options.dataDir ?? 'memory',
      mining: from?.modes.mining ?? miningOf(options),
      coinbase: options.coinbase ?? MINER_ADDRESS,
      signature: `TANDEM-${VERSION}`,
      lastingClock: options.lastingClock,
      clockDialect: options.dialect,
      evm: options.evm,
      strictCalls: options.strictCalls,
      leastGasPrice: options.gasPrice,
      accountQuota: options.accountQuota,
      order: options.order,
      accountSlots: options.accountSlots,
      workRateLimitMs: options.workRateLimitMs,
      intervalTimer: options.intervalTimer,
      callGasCap: gasCap(given.callGasCap, callGasCap, blockGasLimit),
      gasEstimationCap: gasCap(given.gasEstimationCap, gasEstimationCap, blockGasLimit),
      timeoutMs: options.rpcTimeoutMs,
      maxTraceBytes: options.maxTraceBytes,
    }
  }
}
