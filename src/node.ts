/** Options → store → engine → dispatcher: builds, starts and closes one node. */
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { readArtifacts } from './abi/artifact-files.ts'
import { type AbiRegistry, copyOnWrite, createAbiRegistry } from './abi/registry.ts'
import type { ChainConfig } from './chain/config.ts'
import type { Genesis } from './chain/genesis.ts'
import type { Hex } from './encoding/hex.ts'
import type { ForkStart } from './engine/blockchain/chain.ts'
import { createEngine } from './engine/create-engine.ts'
import type { NodeModes } from './engine/dev/dev-tools.ts'
import type { Engine } from './engine/engine.ts'
import { createForkAnew, forkStartOf, openUpstream } from './engine/fork/open-upstream.ts'
import type { MiningMode } from './engine/model.ts'
import { configOf, genesisEdits, genesisOf } from './engine/network.ts'
import type { Peers } from './engine/peers/peer-scoring.ts'
import { createRandomness } from './engine/randomness.ts'
import {
  type Accounts,
  accountsOf,
  createAccounts,
  type LocalAccounts,
  MINER_ADDRESS,
} from './engine/wallet/accounts.ts'
import { createKeyStore, openKeyStore } from './engine/wallet/key-store.ts'
import { createWallet, type WalletCopy } from './engine/wallet/wallet.ts'
import { NodeError } from './errors.ts'
import { silentLogger } from './logger.ts'
import { type NodeOptions, type ResolvedNodeOptions, resolveNodeOptions } from './options/options.ts'
import type { Preset } from './options/presets.ts'
import { checkMethodTimeouts } from './rpc/deadlines.ts'
import { errorObjectIn } from './rpc/dialects.ts'
import { createDispatcher, type Dispatcher } from './rpc/dispatcher.ts'
import { RpcError } from './rpc/error-codes.ts'
import { type Health, readHealth } from './rpc/health.ts'
import type { Load } from './rpc/load.ts'
import { METHODS } from './rpc/methods/index.ts'
import { createPermissions } from './rpc/permissions.ts'
import { checkMethodEntries, methodsOpenIn } from './rpc/profiles.ts'
import { openSession, type Session } from './rpc/session.ts'
import type { RemoteChain } from './state/remote/model.ts'
import { keyFilesIn } from './store/key-files.ts'
import { openStore, type Store } from './store/level.ts'
import { packageVersion } from './store/package-files.ts'

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
 * and Anvil look for the name of their node at the start, so a preset puts it there.
 */
function clientVersion(preset: Preset): string {
  const node = process.versions.node.split('.')[0]
  const own = `Tandem/${VERSION}/${platform()}-${arch()}/Node${node}/EMULATOR`
  return { rsk: own, hardhat: `HardhatNetwork/${own}`, anvil: `anvil/${own}` }[preset]
}

/** The registry of the ABIs that the options name; reads no file when there are none. */
async function namesOf({ abi }: ResolvedNodeOptions): Promise<AbiRegistry> {
  const names = createAbiRegistry()
  if (abi.length > 0) for (const artifact of await readArtifacts(abi)) await names.add(artifact)
  return names
}

/** Unix time of a frozen clock that names none: 14 November 2023, 22:13:20 UTC. */
const FROZEN_TIME = 1_700_000_000

/** The node's source of time, Unix seconds. */
function clockOf({ now, frozenClock }: ResolvedNodeOptions): () => number {
  if (now !== undefined) return now
  if (frozenClock === false) return () => Math.floor(Date.now() / 1000)
  const time = frozenClock === true ? FROZEN_TIME : frozenClock
  return () => time
}

/** The folder of a data directory that holds key files. */
const KEY_FOLDER = 'keystore'

/** The gas of a simulation without a cap (docs/rpc-reference.md#74-calls-and-estimates). */
const UNLIMITED_GAS = 10n ** 14n

/**
 * The cap on a simulation's gas: the option (0 is none), else the default, which a larger block gas limit raises so that
 * every transaction that fits a block can be simulated.
 */
function gasCap(given: unknown, resolved: bigint, blockGasLimit: bigint | undefined): bigint {
  if (resolved === 0n) return UNLIMITED_GAS
  return given === undefined && blockGasLimit !== undefined && blockGasLimit > resolved
    ? blockGasLimit
    : resolved
}

/** What a copy of a node begins with, beside the entries of its database. */
interface Start {
  readonly genesis: Genesis
  /** Never changes. */
  readonly names: AbiRegistry
  readonly accounts: WalletCopy
  readonly modes: NodeModes
  /** Of a fork; the copy does not close it. */
  readonly upstream: RemoteChain | undefined
}

/** What a copy has in common with its node, which then has to stay open longer: callers, and the limits of concurrent work. */
interface Shared {
  readonly peers: Peers
  readonly load: Load
}

/** What a chain of a pool is made from. */
interface Origin {
  readonly given: NodeOptions
  /** Closed with the node. */
  readonly store: Store
  readonly shared: Shared
  /** Copies what the node has now. */
  start(): Start
  /** Changes with the chain, the state after the head, and the pool. */
  version(): string
}

/** A chain that was opened. */
interface Opened {
  readonly engine: Engine
  readonly store: Store
}

/** The same accounts with keys of their own: a wallet wipes the keys that it locks. */
function copyOf(local: Accounts): LocalAccounts {
  const keys = new Map<Hex, Uint8Array>()
  for (const address of local.list()) keys.set(address, (local.key(address) as Uint8Array).slice())
  return { ...accountsOf(local.enabled, keys), toFund: [] }
}

/** The origins of open nodes: what another node needs to continue from one, and no user of a node. */
const origins = new WeakMap<object, Origin>()

/** Where a node came from. Throws `invalid-options` for an object of another package. */
export function originOf(node: object): Origin {
  const origin = origins.get(node)
  if (origin === undefined) throw new NodeError('invalid-options', 'This is no node of createNode.')
  return origin
}

/** The mining mode of the options: milliseconds for an interval. */
function miningOf({ mining }: ResolvedNodeOptions): MiningMode {
  return typeof mining === 'number' ? Math.round(mining * 1000) : mining
}

/**
 * Starts a node, by default in memory on the local network with automining.
 * Throws `NodeError`: `invalid-options` names the option, `database` the directory and what is wrong with it.
 */
export function createNode(given: NodeOptions = {}): Promise<Node> {
  return createNodeFrom(given)
}

/**
 * The same, on a store that is open already and that the node then owns, beginning where another node is, or on an
 * upstream that is open already.
 */
export async function createNodeFrom(
  given: NodeOptions,
  from?: Start & { readonly store: Store; readonly shared?: Shared | undefined },
  remote: RemoteChain | undefined = from?.upstream,
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

  /** Opens the chain of a store of its own, or goes on from the upstream's. */
  async function start(remote: RemoteChain | undefined, given?: Store, peers?: Peers): Promise<Opened> {
    const forked = remote && { remote, unpaid: new Set<number>() }
    const config = configOf(options, forked)
    const { dataDir, fsync } = options
    const { name: chain, chainId } = config
    const store = given ?? (await openStore({ dataDir, chain, chainId, fork: remote?.point, fsync }))
    const engine = await engineOn(store, config, forked, peers).catch(async (error) => {
      await store.close()
      throw error
    })
    return { engine, store }
  }

  async function engineOn(
    store: Store,
    config: ChainConfig,
    forked: Pick<ForkStart, 'remote' | 'unpaid'> | undefined,
    peers: Peers | undefined,
  ): Promise<Engine> {
    genesis ??= await genesisOf(options, config, accounts.toFund, store, now)
    return createEngine({
      config,
      genesis,
      ...(forked && { fork: forkStartOf(forked, accounts.toFund, options, genesisEdits(options)) }),
      store,
      place: options.dataDir ?? 'memory',
      accounts: wallet,
      names,
      logger,
      now,
      random,
      mining: from?.modes.mining ?? miningOf(options),
      modes: from?.modes,
      peers: peers ?? from?.shared?.peers,
      coinbase: options.coinbase ?? MINER_ADDRESS,
      signature: `TANDEM-${VERSION}`,
      lastingClock: options.lastingClock,
      strictCalls: options.strictCalls,
      leastGasPrice: options.gasPrice,
      accountQuota: options.accountQuota,
      accountSlots: options.accountSlots,
      workRateLimitMs: options.workRateLimitMs,
      callGasCap: gasCap(given.callGasCap, options.callGasCap, options.blockGasLimit),
      gasEstimationCap: gasCap(given.gasEstimationCap, options.gasEstimationCap, options.blockGasLimit),
      timeoutMs: options.rpcTimeoutMs,
      maxTraceBytes: options.maxTraceBytes,
    })
  }
  const first = await start(upstream, from?.store).catch(async (error) => {
    await upstream?.close()
    throw error
  })
  const { engine } = first
  let { store } = first
  if (from === undefined) {
    engine.forkAnew = createForkAnew({
      engine,
      options,
      logger,
      async start(next) {
        const opened = await start(next, undefined, engine.peers)
        store = opened.store
        return opened.engine
      },
    })
  }

  const { onConsole } = options
  if (onConsole !== undefined) {
    engine.events.on('console', ({ texts, transaction }) => onConsole(texts, transaction))
  }
  const dispatcher = createDispatcher({
    methods: METHODS,
    engine,
    options: {
      ...options,
      release: VERSION,
      clientVersion: options.clientVersion ?? clientVersion(options.preset),
    },
    permits: createPermissions(options.methods, methodsOpenIn(options, METHODS)),
    logger,
    random,
    elapsed: options.now || options.frozenClock !== false ? () => now() * 1000 : undefined,
    onCall: options.onCall,
    load: from?.shared?.load,
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
    engine,
    dispatcher,
    peers: engine.peers,
    options,
    async request({ method, params }) {
      try {
        return await dispatcher.request(method, params ?? [], session)
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
    health: async () => (closing === undefined ? readHealth(engine, options.dataDir) : undefined),
    close() {
      closing ??= (async () => {
        for (const listener of closeListeners) listener()
        await engine.close()
      })()
      return closing
    },
  }
  const origin = genesis
  if (origin === undefined) throw new Error('the engine was created without a genesis')
  origins.set(node, {
    given,
    get store() {
      return store
    },
    shared: { peers: engine.peers, load: dispatcher.load },
    version() {
      const { hash, postState } = engine.queries.head()
      const pool = [...engine.queries.pendingTransactions(), ...engine.queries.queuedTransactions()]
      return [hash, postState, ...pool.map((transaction) => transaction.hash)].join()
    },
    start: () => ({
      genesis: origin,
      names: names.copy(),
      accounts: engine.accounts.copy(),
      modes: engine.dev.modes(),
      upstream: engine.fork && { ...engine.fork.remote, close: async () => {} },
    }),
  })
  return node
}
