/** Options → store → engine → dispatcher: builds, starts and closes one node. */
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { copyOnWrite } from '../abi/registry.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { ForkStart } from '../engine/blockchain/chain.ts'
import { createEngine } from '../engine/create-engine.ts'
import type { Engine } from '../engine/engine.ts'
import { EngineHolder } from '../engine/engine-holder.ts'
import { createForkAnew, openUpstream } from '../engine/fork/open-upstream.ts'
import { openPeers, type Peers } from '../engine/peers/peer-scoring.ts'
import { createRandomness } from '../engine/randomness.ts'
import { createAccounts, MINER_ADDRESS } from '../engine/wallet/accounts.ts'
import { createKeyStore, openKeyStore } from '../engine/wallet/key-store.ts'
import { createWallet } from '../engine/wallet/wallet.ts'
import { silentLogger } from '../logger.ts'
import { type NodeOptions, type ResolvedNodeOptions, resolveNodeOptions } from '../options/options.ts'
import type { Joining } from '../replication/cluster.ts'
import { createAnswer } from '../rpc/cluster-answer.ts'
import { createRoute, withNodeId } from '../rpc/cluster-routes.ts'
import { checkMethodTimeouts } from '../rpc/deadlines.ts'
import { errorObjectIn } from '../rpc/dialects.ts'
import { createDispatcher, type Dispatcher } from '../rpc/dispatcher.ts'
import { RpcError } from '../rpc/error-codes.ts'
import { type Health, readHealth } from '../rpc/health.ts'
import { METHODS } from '../rpc/methods/index.ts'
import { createPermissions } from '../rpc/permissions.ts'
import { checkMethodEntries, methodsOpenIn } from '../rpc/profiles.ts'
import { openSession, type Session } from '../rpc/session.ts'
import type { RemoteChain } from '../state/remote/model.ts'
import { keyFilesIn } from '../store/key-files.ts'
import { openStore, refusalOfStart, type Store } from '../store/level.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import { packageVersion } from '../store/package-files.ts'
import { copyOf, type Shared, type Start, setOrigin } from './origin.ts'
import { clockOf, configOf, forkStart, gasCap, genesisOf, joiningOf, miningOf, namesOf } from './parts.ts'

/** A notification: EIP-1193's `message` event. */
export interface ProviderMessage {
  readonly type: string
  readonly data: unknown
}

/** A running node. `request` and `on` are those of an EIP-1193 provider. */
export interface Node {
  /**
   * Calls a method as a JSON-RPC client would; rejects with an `RpcError` that carries code, message and data. EIP-1193
   * allows an object as `params`; no method takes parameters by name.
   */
  request(call: {
    readonly method: string
    readonly params?: readonly unknown[] | object | undefined
    /**
     * Ends a call that changes something: one that waits for others is not carried out, and mining stops between two
     * blocks. A command of another kind that has begun is finished.
     */
    readonly signal?: AbortSignal | undefined
  }): Promise<unknown>
  /** Listens to subscription notifications; the returned function stops it. Other events of EIP-1193 are never emitted. */
  on(event: 'message', listener: (message: ProviderMessage) => void): () => void
  /** Removes a listener, as the providers of wallets do. */
  removeListener(event: 'message', listener: (message: ProviderMessage) => void): void
  /** The chain without JSON: domain values in and out. */
  readonly engine: Engine
  /** Answers JSON-RPC text; `serve` and `rpcHandler` use it. */
  readonly dispatcher: Dispatcher
  /** The addresses of callers, with their scores and bans; `serve` and `rpcHandler` use it. */
  readonly peers: Peers
  readonly options: ResolvedNodeOptions
  /** The node's metrics; `undefined` once it is closed. */
  health(): Promise<Health | undefined>
  /** Lets the running command end, then closes the database. Idempotent. */
  close(): Promise<void>
}

const VERSION = packageVersion()

/**
 * `Tandem/<version>/<os>/<runtime>/<modifier>`: the form of the chain's own clients, under our name. Clients of Hardhat
 * and Anvil look for the name of their node at the start, so a preset puts it there. The modifier names an EVM other than
 * our own.
 */
function clientVersion({ preset, evm }: ResolvedNodeOptions): string {
  const node = process.versions.node.split('.')[0]
  const executor = evm === 'tandem' ? '' : `+${evm}`
  const own = `Tandem/${VERSION}/${platform()}-${arch()}/Node${node}/EMULATOR${executor}`
  return { rsk: own, hardhat: `HardhatNetwork/${own}`, anvil: `anvil/${own}` }[preset]
}

/** The folder of a data directory that holds key files. */
const KEY_FOLDER = 'keystore'

/** A chain that was opened. */
interface Opened {
  readonly engine: Engine
  readonly store: Store
  readonly joining: Joining | undefined
}

/**
 * Starts a node, by default in memory on the local network with automining.
 * Throws `NodeError`: `invalid-options` names the option, `database` the directory and what is wrong with it.
 */
export function createNode(given: NodeOptions = {}): Promise<Node> {
  return createNodeFrom(given)
}

/**
 * The same, on a store that is open already and that the node then owns, beginning where another node is; or on an
 * upstream that is open already.
 */
export async function createNodeFrom(
  given: NodeOptions,
  from?: Start & { readonly store: Store; readonly shared?: Shared | undefined },
  remote?: RemoteChain,
): Promise<Node> {
  const options = resolveNodeOptions(given)
  checkMethodEntries(options.methods, options, METHODS)
  checkMethodTimeouts(options.methodTimeouts, METHODS)
  const logger = options.logger ?? silentLogger
  const now = clockOf(options)
  const random = createRandomness(options.seed)
  const upstream = remote ?? (from === undefined ? await openUpstream(options, logger) : undefined)
  const accounts =
    from === undefined
      ? await createAccounts({
          enabled: options.wallet,
          chain: options.chain,
          count: options.accounts,
          mnemonic: options.mnemonic,
          derivationPath: options.derivationPath,
        })
      : copyOf(from.accounts.local)
  const names = from === undefined ? await namesOf(options) : copyOnWrite(from.names)
  const files =
    accounts.enabled && options.dataDir !== undefined
      ? keyFilesIn(join(options.dataDir, KEY_FOLDER))
      : undefined
  const keyParts = { files, milliseconds: Date.now }
  const keyStore =
    from === undefined
      ? await openKeyStore(keyParts, logger)
      : createKeyStore(keyParts, from.accounts.encrypted)
  const wallet = createWallet({ local: accounts, keyStore, milliseconds: Date.now, random })
  let genesis = from?.genesis
  /** Does another node have a part in the chain? It is not replaced then. */
  const isShared = from !== undefined || options.cluster !== undefined
  // Callers stay when a reset puts another engine, with a store of its own, in the place of the first.
  const peersOfMemory =
    isShared || options.dataDir !== undefined ? undefined : await openPeers(createMemoryStore())

  /** Opens the chain of a store of its own or of a cluster, or goes on from the upstream's. */
  async function start(remote: RemoteChain | undefined, given?: Store): Promise<Opened> {
    const forked = remote && { remote, unpaid: new Set<number>() }
    const config = configOf(options, forked)
    const { dataDir, fsync } = options
    const { name: chain, chainId } = config
    const identity = { chain, chainId, fork: remote?.point }
    const onNotice = (sentence: string) => logger.warn(sentence)
    const local = given ?? (await openStore({ ...identity, dataDir, fsync, onNotice }))
    const joining = await joiningOf(options, config, local, logger)
    const store = joining?.store ?? local
    const engine = await engineOn(store, config, joining, forked).catch(async (error) => {
      await joining?.cancel()
      await store.close()
      throw dataDir === undefined ? error : await refusalOfStart(dataDir, identity, error)
    })
    return { engine, store, joining }
  }

  async function engineOn(
    store: Store,
    config: ChainConfig,
    joining: Joining | undefined,
    forked: Pick<ForkStart, 'remote' | 'unpaid'> | undefined,
  ): Promise<Engine> {
    const blockZeroNow = () => joining?.genesisTime ?? now()
    genesis ??= await genesisOf(options, config, accounts.toFund, store, blockZeroNow)
    return createEngine({
      config,
      genesis,
      ...(forked && { fork: forkStart(forked, accounts, options) }),
      store,
      place: options.dataDir ?? 'memory',
      accounts: wallet,
      names,
      logger,
      now,
      random,
      mining: from?.modes.mining ?? miningOf(options),
      modes: from?.modes,
      peers: peersOfMemory ?? from?.shared?.peers,
      coinbase: options.coinbase ?? MINER_ADDRESS,
      signature: `TANDEM-${VERSION}`,
      lastingClock: options.lastingClock,
      evm: options.evm,
      strictCalls: options.strictCalls,
      leastGasPrice: options.gasPrice,
      accountQuota: options.accountQuota,
      order: options.order,
      accountSlots: options.accountSlots,
      workRateLimitMs: options.workRateLimitMs,
      callGasCap: gasCap(given.callGasCap, options.callGasCap, options.blockGasLimit),
      gasEstimationCap: gasCap(given.gasEstimationCap, options.gasEstimationCap, options.blockGasLimit),
      timeoutMs: options.rpcTimeoutMs,
      maxTraceBytes: options.maxTraceBytes,
      admitCommand: joining?.admitCommand,
    })
  }
  const first = await start(upstream, from?.store).catch(async (error) => {
    await upstream?.close()
    throw error
  })
  const { joining } = first
  let { store } = first
  const holder = new EngineHolder(first.engine, (error) => logger.error('a listener failed', { error }))
  const forkAnew =
    isShared || joining !== undefined
      ? undefined
      : createForkAnew({
          holder,
          options,
          logger,
          async start(next) {
            const opened = await start(next)
            store = opened.store
            return opened.engine
          },
        })

  const { onConsole } = options
  if (onConsole !== undefined) {
    holder.events.on('console', ({ texts, transaction }) => onConsole(texts, transaction))
  }
  const dispatcher = createDispatcher({
    methods: METHODS,
    node: holder,
    forkAnew,
    options: {
      ...options,
      release: VERSION,
      clientVersion: options.clientVersion ?? clientVersion(options),
    },
    permits: createPermissions(options.methods, methodsOpenIn(options, METHODS)),
    logger,
    random: joining === undefined ? random : withNodeId(random, joining.id),
    route: joining && createRoute(() => cluster),
    position: joining && (() => cluster),
    elapsed: options.now || options.frozenClock !== false ? () => now() * 1000 : undefined,
    onCall: options.onCall,
    load: from?.shared?.load,
  })
  const cluster = await joining?.join(holder.engine, createAnswer(dispatcher)).catch(async (error) => {
    await joining.cancel()
    await holder.close()
    throw error
  })
  const listeners = new Set<(message: ProviderMessage) => void>()
  const closeListeners: (() => void)[] = []
  const session: Session = {
    ...openSession('in process'),
    notify({ method, subscription, event }) {
      for (const listener of [...listeners]) {
        try {
          listener({ type: method, data: { subscription, result: event.value() } })
        } catch (error) {
          logger.error('a listener failed', { error, subscription })
        }
      }
    },
    onClose(listener) {
      closeListeners.push(listener)
    },
  }
  let closing: Promise<void> | undefined
  const node: Node = {
    get engine() {
      return holder.engine
    },
    dispatcher,
    peers: holder.engine.peers,
    options,
    async request({ method, params, signal }) {
      try {
        return await dispatcher.request(method, params ?? [], session, { signal })
      } catch (error) {
        throw error instanceof RpcError ? error : new RpcError(errorObjectIn(options.dialect, error))
      }
    },
    on(event, listener) {
      // Libraries also listen to events that a node in process never emits, such as a change of its chain.
      if (event === 'message') listeners.add(listener)
      return () => listeners.delete(listener)
    },
    removeListener(_event, listener) {
      listeners.delete(listener)
    },
    async health() {
      if (closing !== undefined) return undefined
      const health = {
        ...(await readHealth(holder.engine, options.dataDir)),
        storageFailure: store.failure?.message,
      }
      return cluster === undefined ? health : { ...health, cluster: cluster.health() }
    },
    close() {
      closing ??= (async () => {
        for (const listener of closeListeners) listener()
        await cluster?.leave()
        await holder.close()
        await peersOfMemory?.close()
      })()
      return closing
    },
  }
  const origin = genesis
  if (origin === undefined) throw new Error('the engine was created without a genesis')
  setOrigin(node, {
    get engine() {
      return holder.engine
    },
    given,
    get store() {
      return store
    },
    shared: { peers: holder.engine.peers, load: dispatcher.load },
    version() {
      const { engine } = holder
      const { hash, postState } = engine.queries.head()
      const pool = [...engine.queries.pendingTransactions(), ...engine.queries.queuedTransactions()]
      return [hash, postState, ...pool.map((transaction) => transaction.hash)].join()
    },
    start: () => ({
      genesis: origin,
      names: names.copy(),
      accounts: holder.engine.accounts.copy(),
      modes: holder.engine.dev.modes(),
    }),
  })
  return node
}
