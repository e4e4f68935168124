/** Options → store → engine → dispatcher: builds, starts and closes one node. */
import { join } from 'node:path'
import { copyOnWrite } from '../abi/registry.ts'
import { HttpApis } from '../apis/http-apis.ts'
import type { ApiAnswers } from '../apis/request.ts'
import { isLocalNetwork, type Network } from '../chain/network.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import { EngineHolder } from '../engine/engine-holder.ts'
import { openUpstream } from '../engine/fork/open-upstream.ts'
import { openPeers, type Peers } from '../engine/peers/peer-scoring.ts'
import { createRandomness } from '../engine/randomness.ts'
import type { CoverageReport } from '../engine/recording/model.ts'
import { Recordings } from '../engine/recording/recordings.ts'
import { createAccounts, type LocalAccounts } from '../engine/wallet/accounts.ts'
import { createKeyStore, openKeyStore } from '../engine/wallet/key-store.ts'
import { createWallet } from '../engine/wallet/wallet.ts'
import { NodeError } from '../errors.ts'
import type { GasReport } from '../gas/model.ts'
import { silentLogger } from '../logger.ts'
import { type NodeOptions, type ResolvedNodeOptions, resolveNodeOptions } from '../options/options.ts'
import type { Peg } from '../peg/peg.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { Cluster } from '../replication/cluster.ts'
import { createAnswer } from '../rpc/cluster-answer.ts'
import { checkMethodTimeouts } from '../rpc/deadlines.ts'
import { errorObjectIn } from '../rpc/dialects.ts'
import type { Dispatcher } from '../rpc/dispatcher.ts'
import { RpcError } from '../rpc/error-codes.ts'
import { type Health, readHealth } from '../rpc/health.ts'
import { METHODS } from '../rpc/methods/index.ts'
import { checkMethodEntries } from '../rpc/profiles.ts'
import { layoutsOf } from '../rpc/simulation-options.ts'
import type { RemoteChain } from '../state/remote/model.ts'
import { keyFilesIn } from '../store/key-files.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { type AccountChanges, editOf } from './account-changes.ts'
import { addArtifacts, addSources } from './added-sources.ts'
import { ChainOpener, type NodeParts } from './chain-opener.ts'
import { InProcessCaller, type ProviderMessage } from './in-process-caller.ts'
import { networkOf } from './network-file.ts'
import { type CopyStart, dispatcherOf, type Opened } from './node-dispatcher.ts'
import { telemetryOf } from './observers.ts'
import { copyOf, type Origin, setOrigin } from './origin.ts'
import { clockOf, namesOf, VERSION } from './parts.ts'
import { closeRecordings, reportsOf, startRecordings } from './recording-files.ts'
import { type SimulateOptions, type SimulateResults, type SimulateStep, simulate } from './simulation.ts'

export type { ProviderMessage }

/** A running node. `request` and `on` are those of an EIP-1193 provider. */
export interface Node {
  /**
   * Calls a method as a JSON-RPC client would; rejects with an `RpcError` that carries code, message and data. EIP-1193
   * allows an object as `params`; no method takes parameters by name. Parameters at the end that are undefined are absent.
   */
  request(call: {
    readonly method: string
    readonly params?: readonly unknown[] | object | undefined
    /**
     * Aborts a state-changing call: one that is still queued does not run, and mining stops between two blocks. Any
     * other command that has begun is finished.
     */
    readonly signal?: AbortSignal | undefined
  }): Promise<unknown>
  /** Listens to subscription notifications; the returned function stops it. Other events of EIP-1193 are never emitted. */
  on(event: 'message', listener: (message: ProviderMessage) => void): () => void
  /** Removes a listener, as the providers of wallets do. */
  removeListener(event: 'message', listener: (message: ProviderMessage) => void): void
  /**
   * Changes an account in the state after the head, without a transaction or a block; a revert to an earlier snapshot
   * undoes it. Throws `NodeError` (`invalid-params`) with the path of a member that does not fit, and nothing changed.
   */
  override(address: Hex, changes: AccountChanges): Promise<void>
  /**
   * Simulates steps on the state of a block, each on the state that the one before it left, as `evm_simulate` does; nothing is
   * written. The result of a step that fails says so. Throws `NodeError`: `invalid-params` with the path of a member that does
   * not fit (`simulation.steps[0].set.0x….balance`), `block-not-found`, `limit-exceeded`.
   */
  simulate<const S extends readonly SimulateStep[]>(
    steps: S,
    options?: SimulateOptions,
  ): Promise<SimulateResults<S>>
  /** The Bitcoin chain and the peg, in a node with the option `bitcoin`. */
  readonly bitcoin: Peg | undefined
  /**
   * Adds sources, with which the node explains code: a build-info of Hardhat or Foundry (or input and output of solc's
   * standard JSON interface with `solcVersion`), or the path of a project, of its artifacts or of a build-info. Resolves to the
   * ids of the compilations. Throws `NodeError` (`invalid-params`) for what holds none.
   */
  addSources(given: object | string): Promise<readonly Hex[]>
  /**
   * What has run of the sources that the node knows, since its start with the option `coverage` or since `evm_startCoverage`:
   * files in istanbul's format. Chains of a pool share the record of the node that they are copies of.
   */
  coverage(): Promise<CoverageReport>
  /** Where the transactions of new blocks spent gas since the start with the option `gasDir` or `evm_startGasProfile`. */
  gas(): Promise<GasReport>
  /** The chain without JSON: domain values in and out. */
  readonly engine: Engine
  /** Answers JSON-RPC text; `serve` and `rpcHandler` use it. */
  readonly dispatcher: Dispatcher
  /** The APIs of explorers and verifiers; `serve` uses them. */
  readonly apis: ApiAnswers
  /** The addresses of callers, with their scores and bans; `serve` and `rpcHandler` use it. */
  readonly peers: Peers
  readonly options: ResolvedNodeOptions
  /** The node's metrics; `undefined` once it is closed. */
  health(): Promise<Health | undefined>
  /** Lets the running command end, then closes the database. Idempotent. */
  close(): Promise<void>
}

/** The folder of a data directory that holds key files. */
const KEY_FOLDER = 'keystore'

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
  from?: CopyStart,
  remote?: RemoteChain,
): Promise<Node> {
  const recording = await recordingOf(given)
  const { options, recorder } = recording ?? { options: given, recorder: undefined }
  return openNode(options, from, remote, recorder).catch(async (error) => {
    await recorder?.close()
    throw error
  })
}

async function openNode(
  given: NodeOptions,
  from: CopyStart | undefined,
  remote: RemoteChain | undefined,
  recorder: Recorder | undefined,
): Promise<Node> {
  const parts = await partsOf(given, from)
  const { options, logger } = parts
  const observe = parts.telemetry?.upstream
  const upstream =
    remote ?? (from === undefined ? await openUpstream(options, logger, { observe }) : undefined)
  const chains = new ChainOpener(parts)
  const { engine, joining } = await chains.open(upstream, from?.store).catch(async (error) => {
    await upstream?.close()
    throw error
  })
  chains.runLast()
  if (joining === undefined && from === undefined) {
    await addArtifacts(engine, parts).catch(async (error) => {
      await engine.close()
      throw error
    })
  }
  const holder = new EngineHolder(engine, (error) => logger.error('a listener failed', { error }))
  holder.events.on('replaced', () => chains.runLast())
  const { onConsole } = options
  if (onConsole !== undefined) {
    holder.events.on('console', ({ texts, transaction }) => onConsole(texts, transaction))
  }
  const opened: Opened = { parts, chains, holder, joining }
  let cluster: Cluster | undefined
  const dispatcher = dispatcherOf(opened, from, () => cluster)
  cluster = await joining
    ?.join(holder.engine, createAnswer(dispatcher, parts.telemetry?.calls))
    .catch(async (error) => {
      await joining.cancel()
      await holder.close()
      throw error
    })
  const recorded = { given, release: VERSION }
  const seen = recorder?.attach(dispatcher, { holder, methods: METHODS, options }, recorded) ?? dispatcher
  const node = nodeOf(opened, seen, cluster, recorder)
  await setChaos(node, dispatcher)
  setOrigin(node, originIn(opened, dispatcher))
  return node
}

/** Sets the chaos that the options ask for; closes the node where they are wrong. Throws `invalid-options`. */
async function setChaos({ options, close }: Node, { chaos }: Dispatcher): Promise<void> {
  if (options.chaos === undefined) return
  try {
    await chaos?.set(options.chaos)
  } catch (error) {
    await close()
    if (!(error instanceof NodeError)) throw error
    throw new NodeError('invalid-options', `Option "chaos": ${error.message}`)
  }
}

/** The recording that the options ask for; its code is not loaded otherwise. */
async function recordingOf({ record, ...given }: NodeOptions) {
  if (record === undefined) return undefined
  resolveNodeOptions(given)
  const { Recorder } = await import('../recording/recorder.ts')
  return Recorder.open({ ...given, record }, given.logger ?? silentLogger)
}

function accountsOf(options: ResolvedNodeOptions, network: Network): Promise<LocalAccounts> {
  return createAccounts({
    enabled: options.wallet,
    isLocal: isLocalNetwork(network),
    count: options.accounts,
    mnemonic: options.mnemonic,
    derivationPath: options.derivationPath,
  })
}

/** What a node is made of, by its options or as a copy of another node's. Throws `invalid-options`. */
async function partsOf(given: NodeOptions, from: CopyStart | undefined): Promise<NodeParts> {
  const resolved = resolveNodeOptions(given)
  const telemetry = await telemetryOf(resolved)
  const { logger: own = silentLogger } = resolved
  const logger = telemetry?.shipped(own) ?? own
  const options = telemetry === undefined ? resolved : { ...resolved, logger }
  checkMethodEntries(options.methods, options, METHODS)
  checkMethodTimeouts(options.methodTimeouts, METHODS)
  const { dataDir } = options
  const random = createRandomness(options.seed)
  const network = networkOf(options.chain)
  const accounts = from === undefined ? await accountsOf(options, network) : copyOf(from.accounts.local)
  const files = accounts.enabled && dataDir !== undefined ? keyFilesIn(join(dataDir, KEY_FOLDER)) : undefined
  const keyParts = { files, milliseconds: Date.now }
  const keyStore =
    from === undefined
      ? await openKeyStore(keyParts, logger)
      : createKeyStore(keyParts, from.accounts.encrypted)
  const isReplaceable = from === undefined && options.cluster === undefined && dataDir === undefined
  return {
    given,
    options,
    network,
    logger,
    now: clockOf(options),
    random,
    accounts,
    wallet: createWallet({ local: accounts, keyStore, milliseconds: Date.now, random }),
    names: copyOnWrite(from === undefined ? await namesOf(options) : from.names),
    recordings: from?.recordings ?? recordingsOf(options, telemetry),
    telemetry,
    // Callers stay when a reset puts another engine, with a store of its own, in the place of the first.
    ownPeers: isReplaceable ? await openPeers(createMemoryStore()) : undefined,
    sharedPeers: from?.shared?.peers,
    from,
  }
}

function recordingsOf(options: ResolvedNodeOptions, telemetry: Telemetry | undefined): Recordings {
  const recordings = new Recordings()
  if (telemetry !== undefined) recordings.observeRuns(telemetry.runs)
  startRecordings(recordings, options)
  return recordings
}

/** The calls of the node's users: errors have the form of the dialect, and chaos disturbs them while it is set. */
function requestOf(
  { dialect }: ResolvedNodeOptions,
  dispatcher: Dispatcher,
  { session }: InProcessCaller,
): Node['request'] {
  return async ({ method, params, signal }) => {
    const run = () => dispatcher.request(method, params ?? [], session, { signal })
    try {
      const chaos = dispatcher.chaos?.current
      return await (chaos === undefined ? run() : chaos.inProcess({ name: method, params, session }, run))
    } catch (error) {
      if (error instanceof RpcError) throw error
      const stackTrace = error instanceof NodeError ? error.stackTrace : undefined
      throw new RpcError(errorObjectIn(dialect, error), stackTrace)
    }
  }
}

/** The node as its users see it; its functions need no `this`. */
function nodeOf(
  { parts, chains, holder }: Opened,
  dispatcher: Dispatcher,
  cluster: Cluster | undefined,
  recorder: Recorder | undefined,
): Node {
  const { options, ownPeers, logger } = parts
  parts.recordings.hold()
  const caller = new InProcessCaller(logger)
  const apis = new HttpApis({
    node: holder,
    dispatch: (text, session) => dispatcher.dispatchText(text, session),
    logger,
  })
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    caller.close()
    await closeRecordings(parts.recordings, holder.engine, options, logger)
    await dispatcher.chaos?.close()
    await apis.close()
    await cluster?.leave()
    await chains.peg?.close()
    await holder.close()
    await ownPeers?.close()
    await recorder?.close()
  }

  chains.peg?.forwardBy(({ verb, path, body }) =>
    dispatcher.request('btc_request', [verb, path, body], caller.session),
  )

  return {
    get engine() {
      return holder.engine
    },
    bitcoin: chains.peg,
    dispatcher,
    apis,
    peers: holder.engine.peers,
    options,
    request: requestOf(options, dispatcher, caller),
    async override(address, changes) {
      const { engine } = holder
      const work = () => engine.dev.editState([editOf(address, changes, layoutsOf(engine))])
      await (recorder === undefined ? work() : recorder.run('override', [address, changes], work))
    },
    simulate: (steps, given) => simulate({ engine: holder.engine, options }, steps, given),
    addSources(given) {
      const work = () => addSources(holder.engine, given)
      return recorder === undefined ? work() : recorder.run('addSources', [given], work)
    },
    ...reportsOf(holder),
    on(event, listener) {
      // Libraries also listen to events that a node in process never emits, such as a change of its chain.
      if (event === 'message') caller.add(listener)
      return () => caller.remove(listener)
    },
    removeListener(_event, listener) {
      caller.remove(listener)
    },
    async health() {
      if (closing !== undefined) return undefined
      const own = await readHealth(holder.engine, options.dataDir)
      const { failure, damage } = chains.store
      const bitcoin = await chains.peg?.heights()
      const health = {
        ...own,
        storageFailure: failure?.message,
        storageDamage: damage,
        ...(bitcoin && { bitcoin }),
      }
      return cluster === undefined ? health : { ...health, cluster: cluster.health() }
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** What pools make copies of a node from. */
function originIn({ parts, chains, holder }: Opened, dispatcher: Dispatcher): Origin {
  return {
    get engine() {
      return holder.engine
    },
    given: parts.given,
    get store() {
      return chains.store
    },
    shared: { peers: holder.engine.peers, load: dispatcher.load },
    version() {
      const bitcoin = chains.peg?.simulated?.snapshot()
      const { queries } = holder.engine
      const { hash, postState } = queries.head()
      const pool = [...queries.pendingTransactions(), ...queries.queuedTransactions()]
      const parent = bitcoin && [bitcoin.chain.best, bitcoin.chain.arrivals]
      return [hash, postState, parent, ...pool.map((transaction) => transaction.hash)].join()
    },
    start: () => ({
      genesis: chains.genesis,
      names: parts.names.copy(),
      accounts: holder.engine.accounts.copy(),
      recordings: parts.recordings,
      modes: holder.engine.dev.modes(),
      bitcoin: chains.peg?.simulated?.snapshot(),
    }),
  }
}
