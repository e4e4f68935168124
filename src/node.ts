/** Options → store → engine → dispatcher: builds, starts and closes one node. */
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { readArtifacts } from './abi/artifact-files.ts'
import { type AbiRegistry, createAbiRegistry } from './abi/registry.ts'
import {
  CHAINS,
  type ChainConfig,
  withBlockGasLimit,
  withDifficulty,
  withMinimumGasPrice,
} from './chain/config.ts'
import { type Genesis, parseGenesis } from './chain/genesis.ts'
import { fromHex, type Hex } from './encoding/hex.ts'
import { createEngine } from './engine/create-engine.ts'
import type { Engine } from './engine/engine.ts'
import type { Peers } from './engine/peers/peer-scoring.ts'
import { createRandomness } from './engine/randomness.ts'
import { createAccounts, type LocalAccounts, MINER_ADDRESS } from './engine/wallet/accounts.ts'
import { openKeyStore } from './engine/wallet/key-store.ts'
import { createWallet } from './engine/wallet/wallet.ts'
import { NodeError } from './errors.ts'
import { type Logger, silentLogger } from './logger.ts'
import { type NodeOptions, type ResolvedNodeOptions, resolveNodeOptions } from './options/options.ts'
import type { Preset } from './options/presets.ts'
import type { Joining } from './replication/cluster.ts'
import { createAnswer, createRoute, withNodeId } from './rpc/cluster-routes.ts'
import { checkMethodTimeouts } from './rpc/deadlines.ts'
import { errorObjectIn } from './rpc/dialects.ts'
import { createDispatcher, type Dispatcher } from './rpc/dispatcher.ts'
import { RpcError } from './rpc/error-codes.ts'
import { type Health, readHealth } from './rpc/health.ts'
import { METHODS } from './rpc/methods/index.ts'
import { createPermissions } from './rpc/permissions.ts'
import { checkMethodEntries, methodsOpenIn } from './rpc/profiles.ts'
import { openSession, type Session } from './rpc/session.ts'
import { BlockStore } from './store/block-store.ts'
import { keyFilesIn } from './store/key-files.ts'
import { openStore, type Store } from './store/level.ts'
import { packageVersion, readGenesisFile } from './store/package-files.ts'

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

function configOf(options: ResolvedNodeOptions): ChainConfig {
  let config = CHAINS[options.chain]
  if (options.blockGasLimit !== undefined) config = withBlockGasLimit(config, options.blockGasLimit)
  if (options.minGasPrice !== undefined) config = withMinimumGasPrice(config, options.minGasPrice)
  if (options.chainId !== undefined) config = { ...config, chainId: options.chainId }
  if (options.difficulty !== undefined) config = withDifficulty(config, options.difficulty)
  return config
}

/** The registry of the ABIs that the options name; reads no file when there are none. */
async function namesOf({ abi }: ResolvedNodeOptions): Promise<AbiRegistry> {
  const names = createAbiRegistry()
  if (abi.length > 0) for (const artifact of await readArtifacts(abi)) await names.add(artifact)
  return names
}

/** Arachnid's deterministic deployment proxy, through which Foundry's scripts create contracts with CREATE2. */
const CREATE2_DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const CREATE2_DEPLOYER_CODE = fromHex(
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3',
)

/** The genesis of the chain. A timestamp of `now` is that of the first start: later ones take it from the store. */
async function genesisOf(
  { chain, genesis, genesisTime, accountBalance, create2Deployer, alloc = new Map() }: ResolvedNodeOptions,
  config: ChainConfig,
  toFund: readonly Hex[],
  store: Store,
  now: () => number,
): Promise<Genesis> {
  let timestamp = genesisTime
  if (timestamp === 'now') {
    const blocks = await BlockStore.open(store, config)
    const hash = blocks.canonicalHash(0)
    timestamp = (hash === undefined ? undefined : blocks.header(hash)?.timestamp) ?? now()
  }
  return parseGenesis(genesis ?? readGenesisFile(chain), config, {
    addresses: toFund,
    balance: accountBalance,
    timestamp,
    alloc: create2Deployer ? new Map([[CREATE2_DEPLOYER, { code: CREATE2_DEPLOYER_CODE }], ...alloc]) : alloc,
  })
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

/** The cluster that the options name, if any; its code is not loaded otherwise. Closes the store where that fails. */
async function joiningOf(
  options: ResolvedNodeOptions,
  { name: chain, chainId }: ChainConfig,
  store: Store,
  logger: Logger,
): Promise<Joining | undefined> {
  const { cluster, clusterName, role, maxLag } = options
  if (cluster === undefined) return undefined
  const { openCluster } = await import('./replication/cluster.ts')
  const { clusterCreds, clusterCa, clusterReplicas, clusterLogBytes } = options
  const where = { url: cluster, creds: clusterCreds, ca: clusterCa, name: clusterName }
  const size = { replicas: clusterReplicas, logBytes: clusterLogBytes }
  return openCluster({ ...where, ...size, role, maxLag }, { chain, chainId }, store, logger).catch(
    async (error) => {
      await store.close()
      throw error
    },
  )
}

/** What a chain of a pool is made from. */
interface Origin {
  readonly given: NodeOptions
  readonly store: Store
  readonly names: AbiRegistry
  readonly accounts: LocalAccounts
  readonly genesis: Genesis
}

/** The same accounts with keys of their own: a wallet wipes the keys that it locks. */
function copyOf(accounts: LocalAccounts): LocalAccounts {
  const keys = new Map(accounts.list().map((address) => [address, accounts.key(address)?.slice()]))
  return { ...accounts, key: (address) => keys.get(address) }
}

/** The origins of open nodes: what another node needs to continue from one, and no user of a node. */
const origins = new WeakMap<Node, Origin>()

/** Where a node came from; its store is closed with it. Throws `invalid-options` for an object of another package. */
export function originOf(node: Node): Origin {
  const origin = origins.get(node)
  if (origin === undefined) throw new NodeError('invalid-options', 'This is no node of createNode.')
  return origin
}

/**
 * Starts a node, by default in memory on the local network with automining.
 * Throws `NodeError`: `invalid-options` names the option, `database` the directory and what is wrong with it.
 */
export function createNode(given: NodeOptions = {}): Promise<Node> {
  return createNodeFrom(given)
}

/** The same, on a store that is open already and that the node then owns, with the ABIs, accounts and genesis of another node. */
export async function createNodeFrom(given: NodeOptions, from?: Omit<Origin, 'given'>): Promise<Node> {
  const options = resolveNodeOptions(given)
  checkMethodEntries(options.methods, options, METHODS)
  checkMethodTimeouts(options.methodTimeouts, METHODS)
  const logger = options.logger ?? silentLogger
  const now = clockOf(options)
  const random = createRandomness(options.seed)
  const config = configOf(options)
  const accounts =
    from === undefined
      ? await createAccounts({
          enabled: options.wallet,
          chain: options.chain,
          count: options.accounts,
          mnemonic: options.mnemonic,
          derivationPath: options.derivationPath,
        })
      : copyOf(from.accounts)
  const kept = copyOf(accounts)
  const names = from?.names ?? (await namesOf(options))
  const files =
    accounts.enabled && options.dataDir !== undefined
      ? keyFilesIn(join(options.dataDir, KEY_FOLDER))
      : undefined
  const keyStore = await openKeyStore({ files, milliseconds: Date.now }, logger)
  const { dataDir, chain, fsync } = options
  const local = from?.store ?? (await openStore({ dataDir, chain, chainId: config.chainId, fsync }))
  const joining = await joiningOf(options, config, local, logger)
  const store = joining?.store ?? local
  let genesis = from?.genesis
  const start = async () => {
    const blockZeroNow = () => joining?.genesisTime ?? now()
    genesis ??= await genesisOf(options, config, accounts.toFund, store, blockZeroNow)
    return createEngine({
      config,
      genesis,
      store,
      place: options.dataDir ?? 'memory',
      accounts: createWallet({ local: accounts, keyStore, milliseconds: Date.now, random }),
      names,
      logger,
      now,
      random,
      mining: typeof options.mining === 'number' ? Math.round(options.mining * 1000) : options.mining,
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
      admitCommand: joining?.admitCommand,
    })
  }
  const engine = await start().catch(async (error) => {
    await joining?.cancel()
    await store.close()
    throw error
  })

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
    random: joining === undefined ? random : withNodeId(random, joining.id),
    route: joining && createRoute(() => cluster),
    position: joining && (() => cluster),
    elapsed: options.now || options.frozenClock !== false ? () => now() * 1000 : undefined,
    onCall: options.onCall,
  })
  const cluster = await joining?.join(engine, createAnswer(dispatcher)).catch(async (error) => {
    await joining.cancel()
    await engine.close()
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
    async health() {
      if (closing !== undefined) return undefined
      const health = await readHealth(engine, options.dataDir)
      return cluster === undefined ? health : { ...health, cluster: cluster.health() }
    },
    close() {
      closing ??= (async () => {
        for (const listener of closeListeners) listener()
        await cluster?.leave()
        await engine.close()
      })()
      return closing
    },
  }
  if (genesis !== undefined) origins.set(node, { given, store, names, accounts: kept, genesis })
  return node
}
