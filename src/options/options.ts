/** The options of node, server and terminal: what may be given, and how defaults are filled in. */
import { CHAIN_NAMES } from '../chain/consensus-rules.ts'
import type { GenesisAlloc } from '../chain/genesis.ts'
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { isLoopback } from './addresses.ts'
import { BITCOIN_SETTINGS } from './bitcoin-settings.ts'
import { CHAOS_SETTINGS } from './chaos-settings.ts'
import { CLUSTER_SETTINGS } from './cluster-settings.ts'
import { ENGINE_SETTINGS } from './engine-settings.ts'
import { FORK_SETTINGS, forkSource } from './fork-settings.ts'
import { LIMIT_SETTINGS } from './limit-settings.ts'
import { RPC_SETTINGS } from './rpc-settings.ts'
import { RPC_HANDLER_SETTINGS, SERVE_SETTINGS } from './serve-settings.ts'
import { type DefaultsOf, type Inputs, resolve, type Values } from './setting.ts'
import { TELEMETRY_SETTINGS } from './telemetry-settings.ts'
import { TERMINAL_SETTINGS } from './terminal-settings.ts'

/** The settings of the node itself, served or in process. */
export const NODE_SETTINGS = {
  ...ENGINE_SETTINGS,
  ...RPC_SETTINGS,
  ...LIMIT_SETTINGS,
  ...CLUSTER_SETTINGS,
  ...FORK_SETTINGS,
  ...BITCOIN_SETTINGS,
  ...CHAOS_SETTINGS,
  ...TELEMETRY_SETTINGS,
}

/** The caller of a method, for logs. */
export interface CallOrigin {
  /** The transport: in process, http, or a WebSocket's number. */
  readonly label: string
  /** The name of a key; empty where no keys are in use. */
  readonly owner: string
  /** The caller's address; absent in process. */
  readonly remote?: string | undefined
  readonly requestId?: string | undefined
}

/** Called with each answered call: the method as requested, milliseconds, the error it was answered with if any. */
export type OnCall = (method: string, milliseconds: number, error: unknown, origin: CallOrigin) => void

/** Options that only code can set. */
interface NodeParts {
  /** Receives the node's log lines; silent when absent. */
  readonly logger?: Logger | undefined
  /** Seconds since 1970; the wall clock when absent. */
  readonly now?: (() => number) | undefined
  /**
   * Ends the intervals of interval mining, and the waits of chaos for further calls: calls back once after a delay in milliseconds; the function that it returns
   * prevents that. A timer of Node.js when absent.
   */
  readonly intervalTimer?: ((milliseconds: number, onEnd: () => Promise<void>) => () => void) | undefined
  readonly onCall?: OnCall | undefined
  /** Accounts of the genesis of a new local chain, beside the local accounts. */
  readonly alloc?: GenesisAlloc | undefined
  /** A genesis file of the reference node, parsed, in place of the one of the local network. */
  readonly genesis?: unknown
  /** Called with the texts of console calls, one per call, and the transaction unless it is a simulated call. */
  readonly onConsole?: ((texts: readonly string[], transaction?: Hex) => void) | undefined
}

/** The options of `createNode`, all optional. Without `dataDir` the database is in memory. */
export type NodeOptions = Inputs<typeof NODE_SETTINGS> & NodeParts
/** The options of `serve`, all optional. */
export type ServeOptions = Inputs<typeof SERVE_SETTINGS>
/** The options of `rpcHandler`, all optional. */
export type RpcHandlerOptions = Inputs<typeof RPC_HANDLER_SETTINGS>
/** Checked node options with their defaults; `undefined` where the chain decides. `dataDir` is absent for memory. */
export type ResolvedNodeOptions = Values<typeof NODE_SETTINGS> & NodeParts
/** Checked server options with their defaults. */
export type ResolvedServeOptions = Values<typeof SERVE_SETTINGS>
/** Checked handler options with their defaults. */
export type ResolvedRpcHandlerOptions = Values<typeof RPC_HANDLER_SETTINGS>
/** Checked settings of the command's output, with their defaults. */
export type TerminalOptions = Values<typeof TERMINAL_SETTINGS>

/**
 * Whether this is the hosted profile, which has no wallet. Throws `invalid-options` for options that need one
 * (docs/internals/rpc-reference.md#10-hosted-profile).
 */
function hasNoWallet({ profile, preset }: Values<typeof NODE_SETTINGS>, given: NodeOptions): boolean {
  if (profile !== 'hosted') return false
  if (preset !== 'rsk') {
    const message = `Options "profile" and "preset" contradict each other: the hosted profile has none of the accounts of ${preset}.`
    throw new NodeError('invalid-options', message)
  }
  for (const key of ['wallet', 'accounts', 'mnemonic'] as const) {
    if (!given[key]) continue
    const message = `Options "profile" and "${key}" contradict each other: the hosted profile holds no keys.`
    throw new NodeError('invalid-options', message)
  }
  return true
}

/** Options that only a chain of this node's own can have: the public networks fix their id, genesis and balances. */
const LOCAL_OPTIONS = [
  'preset',
  'chainId',
  'genesisTime',
  'frozenClock',
  'accountBalance',
  'alloc',
  'genesis',
  'create2Deployer',
  'predeploy',
] as const

/** Networks whose first block and chain id are fixed. */
const PUBLIC_CHAINS: readonly string[] = CHAIN_NAMES.filter((name) => name !== 'regtest')

/** Throws `invalid-options` for an option of a local chain on another network. */
function checkLocalOptions({ chain, preset }: Values<typeof NODE_SETTINGS>, given: NodeOptions): void {
  if (!PUBLIC_CHAINS.includes(chain)) return
  const key = LOCAL_OPTIONS.find((name) => given[name] !== undefined)
  if (key === undefined || (key === 'preset' && preset === 'rsk')) return
  const message = `Options "chain" and "${key}" contradict each other: ${key} is for a local chain (regtest), not ${chain}.`
  throw new NodeError('invalid-options', message)
}

/**
 * Calls of a batch where REMASC transactions are hidden, unless `maxBatch` is given: as many as ethers puts into one,
 * with which the explorer Otterscan asks for the 75 answers of an account's page.
 */
const BATCH_OF_ETHERS = 100

/** Options of a chain that begins with a genesis of its own, which a fork does not. */
const GENESIS_OPTIONS = ['genesisTime', 'genesis'] as const

/** Throws `invalid-options` for options of a fork that contradict each other, or others. */
function checkForkOptions(values: Values<typeof NODE_SETTINGS>, given: NodeOptions): void {
  if (forkSource(values) === undefined) return
  const isChainNamed = given.chain !== undefined && given.chain !== 'regtest'
  const key = isChainNamed ? 'chain' : GENESIS_OPTIONS.find((name) => given[name] !== undefined)
  if (key === undefined) return
  const message = `Options "fork" and "${key}" contradict each other: a fork continues the upstream's chain.`
  throw new NodeError('invalid-options', message)
}

/** Throws `invalid-options` for options of a Bitcoin chain without one, and for those that contradict each other. */
function checkBitcoinOptions(values: Values<typeof NODE_SETTINGS>, given: NodeOptions): void {
  if (!values.bitcoin) {
    const key = (['bitcoinRpc', 'bitcoinBlocksPer', 'federation', 'federationTakeover'] as const).find(
      (name) => given[name] !== undefined,
    )
    if (key === undefined) return
    const message = `Option "${key}" has no effect without the option "bitcoin".`
    throw new NodeError('invalid-options', message)
  }
  checkTakeover(values)
  if (values.cluster === undefined || values.bitcoinRpc === undefined) return
  const message =
    'Options "bitcoinRpc" and "cluster" contradict each other: the nodes of a cluster share a simulated Bitcoin chain only.'
  throw new NodeError('invalid-options', message)
}

/** Throws `invalid-options` where a fork has a Bitcoin chain and keeps its upstream's federation, and the reverse. */
function checkTakeover(values: Values<typeof NODE_SETTINGS>): void {
  const isFork = forkSource(values) !== undefined
  const { federationTakeover: takesOver, bitcoinRpc } = values
  if (takesOver && !isFork) {
    const message = 'Option "federationTakeover" has no effect without the option "fork".'
    throw new NodeError('invalid-options', message)
  }
  if (takesOver && bitcoinRpc !== undefined) {
    const message =
      'Options "federationTakeover" and "bitcoinRpc" contradict each other: the coins of the upstream are simulated.'
    throw new NodeError('invalid-options', message)
  }
  if (!isFork || takesOver) return
  const message =
    'Options "bitcoin" and "fork" contradict each other, since the node has not the keys of the upstream\'s federation: set "federationTakeover" to replace them.'
  throw new NodeError('invalid-options', message)
}

/** Checks node options and fills in defaults. Throws `invalid-options` for an unknown, malformed or contradicting option. */
export function resolveNodeOptions(given: NodeOptions): ResolvedNodeOptions {
  const parts = ['logger', 'now', 'intervalTimer', 'onCall', 'onConsole', 'alloc', 'genesis']
  const values = resolve(NODE_SETTINGS, given, given, parts) as Values<typeof NODE_SETTINGS>
  if (values.memory === true && values.dataDir !== undefined) {
    throw new NodeError('invalid-options', 'Options "memory" and "dataDir" contradict each other.')
  }
  if (values.mixedMining && typeof values.mining !== 'number') {
    const message = 'Option "mixedMining" needs seconds between blocks in the option "mining".'
    throw new NodeError('invalid-options', message)
  }
  if (given.now !== undefined && values.frozenClock !== false) {
    throw new NodeError('invalid-options', 'Options "now" and "frozenClock" contradict each other.')
  }
  if (given.wallet === false && (given.accounts || given.mnemonic !== undefined)) {
    const other = given.accounts ? 'accounts' : 'mnemonic'
    const message = `Options "wallet" and "${other}" contradict each other: without a wallet there are no keys.`
    throw new NodeError('invalid-options', message)
  }
  checkLocalOptions(values, given)
  checkForkOptions(values, given)
  checkBitcoinOptions(values, given)
  const wallet = values.wallet && !hasNoWallet(values, given)
  const isRaised = values.hideRemasc && given.maxBatch === undefined
  const maxBatch = isRaised ? Math.max(values.maxBatch, BATCH_OF_ETHERS) : values.maxBatch
  const { logger, now, intervalTimer, onCall, onConsole, alloc, genesis } = given
  return { ...values, maxBatch, wallet, logger, now, intervalTimer, onCall, onConsole, alloc, genesis }
}

/**
 * Checks server options and fills in defaults, those of the profile and preset of the node to be served. Throws
 * `invalid-options` as for a node, and for a port that others can reach without keys.
 */
export function resolveServeOptions(
  given: ServeOptions,
  { profile = 'node', preset = 'rsk' }: DefaultsOf = {},
): ResolvedServeOptions {
  const values = resolve(SERVE_SETTINGS, given, { profile, preset }) as ResolvedServeOptions
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined)) {
    const message = 'Options "tlsCert" and "tlsKey" go together: a certificate is of no use without its key.'
    throw new NodeError('invalid-options', message)
  }
  if (values.metricsHost !== undefined && values.metricsPort === undefined) {
    throw new NodeError(
      'invalid-options',
      'Option "metricsHost" has no effect without the option "metricsPort".',
    )
  }
  if (values.redis !== undefined && values.apiKeys === undefined) {
    const message =
      'Option "redis" counts the limits of keys, and there are none without the option "apiKeys".'
    throw new NodeError('invalid-options', message)
  }
  if (!isLoopback(values.host) && !values.unsafeOpen && values.apiKeys === undefined) {
    const why = 'anyone who reaches the port could use the accounts, move the chain and read everything'
    const message = `Listening on ${values.host}, beyond this machine, without keys needs the option "unsafeOpen"`
    throw new NodeError('invalid-options', `${message} (--unsafe-open): ${why}.`)
  }
  if (profile === 'hosted' && values.pool !== undefined) {
    const message = 'Options "profile" and "pool" contradict each other: the hosted profile serves one chain.'
    throw new NodeError('invalid-options', message)
  }
  if (profile === 'hosted' && values.apiKeys === undefined && !values.unsafeOpen) {
    const message = 'The hosted profile asks every caller for a key'
    throw new NodeError('invalid-options', `${message}: name a key file (--api-keys), or set --unsafe-open.`)
  }
  return values
}

/** Checks handler options and fills in defaults, those of the node's preset. Throws `invalid-options`. */
export function resolveRpcHandlerOptions(
  given: RpcHandlerOptions,
  { preset }: DefaultsOf = {},
): ResolvedRpcHandlerOptions {
  return resolve(RPC_HANDLER_SETTINGS, given, { preset }) as ResolvedRpcHandlerOptions
}

/** Checks the settings of the output and fills in defaults. Throws `invalid-options`. */
export function resolveTerminalOptions(given: Inputs<typeof TERMINAL_SETTINGS>): TerminalOptions {
  return resolve(TERMINAL_SETTINGS, given) as TerminalOptions
}
