/** Every setting once: its flag, what it takes, its default, its help line, and where the real node keeps the same one. */
import { inspect } from 'node:util'
import type { ChainName } from './chain/config.ts'
import { NodeError } from './errors.ts'
import type { Logger } from './logger.ts'
import {
  address,
  BYTES,
  type Kind,
  LONGEST_INTERVAL,
  listOf,
  mining,
  mnemonic,
  oneOf,
  quantity,
  same,
  splitList,
  text,
  whole,
  yesOrNo,
} from './option-kinds.ts'

/** One setting. Its property name is its key in code and in the configuration file. */
export interface Setting<Value, Input = Value, Fallback extends Value | undefined = Value | undefined>
  extends Kind<Value, Input> {
  /** As typed, with its argument; a name starting with `no-` turns a setting off that is on otherwise. */
  readonly flag: `--${string}`
  readonly help: string
  readonly fallback: Fallback
  /** A refused value is not repeated. */
  readonly secret?: true
  /** The default in words, when the value does not say it. */
  readonly fallbackText?: string
  /** The real node's configuration keys that mean the same, each with the translation of its value. */
  readonly nodeKeys?: Readonly<Record<string, (value: unknown) => unknown>>
}

function setting<Value, Input, const Fallback extends Value | undefined>(
  kind: Kind<Value, Input>,
  rest: Omit<Setting<Value, Input, Fallback>, keyof Kind<Value, Input>>,
): Setting<Value, Input, Fallback> {
  return { ...kind, ...rest }
}

/** The settings of the node itself, served or in process. Gas in gas, prices in wei, sizes in bytes. */
export const NODE_SETTINGS = {
  chain: setting(oneOf('regtest', 'devnet', 'testnet', 'mainnet') satisfies Kind<ChainName, ChainName>, {
    flag: '--chain <name>',
    help: 'network to run: chain id 0x21 (regtest), 0x20 (devnet), 0x1f (testnet), 0x1e (mainnet)',
    fallback: 'regtest',
  }),
  dataDir: setting(text, {
    flag: '--data-dir <dir>',
    help: 'directory of the database, made when it is missing',
    fallback: undefined,
    fallbackText: '.tandem/<chain>; in process: memory',
  }),
  memory: setting(yesOrNo, {
    flag: '--memory',
    help: 'keep everything in memory and forget it at the end',
    fallback: undefined,
    fallbackText: 'false',
  }),
  mining: setting(mining, {
    flag: '--mining <mode>',
    help: 'auto: a block for each transaction, manual: on request, a number: a block every so many seconds',
    fallback: 'auto',
    nodeKeys: { 'miner.client.autoMine': (on) => (on === true ? 'auto' : on === false ? 'manual' : on) },
  }),
  accounts: setting(whole(0, 10_000), {
    flag: '--accounts <count>',
    help: 'how many local accounts the node holds keys of',
    fallback: undefined,
    fallbackText: '10 on regtest and devnet, else 0',
  }),
  mnemonic: setting(mnemonic, {
    flag: '--mnemonic <words>',
    help: 'BIP-39 words to derive the local accounts from, in place of the well-known keys',
    fallback: undefined,
    fallbackText: 'none',
    secret: true,
  }),
  wallet: setting(yesOrNo, {
    flag: '--no-wallet',
    help: 'hold no keys: no local accounts, no signing',
    fallback: true,
    nodeKeys: { 'wallet.enabled': same },
  }),
  coinbase: setting(address, {
    flag: '--coinbase <address>',
    help: 'who is rewarded for blocks mined here',
    fallback: undefined,
    fallbackText: "the chain's own",
  }),
  blockGasLimit: setting(quantity(1n, 63), {
    flag: '--block-gas-limit <gas>',
    help: 'gas limit of a block; switches the split into parallel lists off',
    fallback: undefined,
    fallbackText: "the chain's own",
  }),
  minGasPrice: setting(quantity(0n, 127), {
    flag: '--min-gas-price <wei>',
    help: 'minimum gas price that blocks mined here move to',
    fallback: undefined,
    fallbackText: "the chain's own",
    nodeKeys: { 'miner.minGasPrice': same },
  }),
  difficulty: setting(quantity(1n, 255), {
    flag: '--difficulty <number>',
    help: 'difficulty of every block above genesis: about how many hashes a proof of work takes',
    fallback: undefined,
    fallbackText: "the chain's own",
  }),
  workRateLimitMs: setting(whole(0, LONGEST_INTERVAL * 1000), {
    flag: '--work-rate-limit <ms>',
    help: 'least milliseconds between two submissions of mining work; 0 is no limit',
    fallback: 0,
    nodeKeys: { 'miner.server.workSubmissionRateLimitInMills': same },
  }),
  accountQuota: setting(yesOrNo, {
    flag: '--account-quota',
    help: "limit the gas that one sender may offer over time, as the chain's nodes do",
    fallback: false,
    nodeKeys: { 'transaction.accountTxRateLimit.enabled': same },
  }),
  accountSlots: setting(whole(1, 1_000_000), {
    flag: '--account-slots <count>',
    help: "how far ahead of its account a pooled transaction's nonce may be",
    fallback: 16,
    nodeKeys: { 'transaction.accountSlots': same },
  }),
  lastingClock: setting(yesOrNo, {
    flag: '--lasting-clock',
    help: 'evm_increaseTime shifts all later blocks, not only the next one',
    fallback: false,
  }),
  strictCalls: setting(yesOrNo, {
    flag: '--strict-calls',
    help: 'eth_call answers an error, not 0x, when code fails without reverting',
    fallback: false,
  }),
  minedReverts: setting(oneOf('error', 'hash'), {
    flag: '--mined-reverts <answer>',
    help: 'answer to a transaction that is mined on the spot and fails: an error with the reason, or its hash',
    fallback: 'error',
  }),
  stateOverride: setting(yesOrNo, {
    flag: '--no-state-override',
    help: 'refuse the state override set of eth_call',
    fallback: true,
    nodeKeys: { 'rpc.allowCallStateOverride': same },
  }),
  methods: setting(listOf(/^-?[a-zA-Z0-9]+(_\w+)?$/, 'names such as eth, evm_mine, or -evm to close one'), {
    flag: '--methods <names>',
    help: 'namespaces and methods to open (then nothing else is), or with a minus to close',
    fallback: [],
    fallbackText: 'all open',
  }),
  fsync: setting(yesOrNo, {
    flag: '--fsync',
    help: 'wait for the disk itself at each block, against loss of power',
    fallback: false,
  }),
  callGasCap: setting(quantity(0n, 63), {
    flag: '--call-gas-cap <gas>',
    help: 'most gas that eth_call may use; 0 is no limit',
    fallback: 10_000_000n,
    nodeKeys: { 'rpc.callGasCap': same },
  }),
  gasEstimationCap: setting(quantity(0n, 63), {
    flag: '--gas-estimation-cap <gas>',
    help: 'most gas that eth_estimateGas may try',
    fallback: 6_800_000n,
    nodeKeys: { 'rpc.gasEstimationCap': same },
  }),
  rpcTimeoutMs: setting(whole(0, LONGEST_INTERVAL * 1000), {
    flag: '--rpc-timeout <ms>',
    help: 'milliseconds that a request may take; 0 is no limit',
    fallback: 5000,
    nodeKeys: { 'rpc.timeout': same },
  }),
  maxResponseBytes: setting(whole(0, BYTES), {
    flag: '--max-response-size <bytes>',
    help: 'largest answer, in bytes; 0 is no limit',
    fallback: 10_485_760,
    nodeKeys: { 'rpc.maxResponseSize': same },
  }),
  maxBatch: setting(whole(1, 100_000), {
    flag: '--max-batch <count>',
    help: 'most requests in a batch',
    fallback: 50,
    nodeKeys: { 'rpc.providers.web.max_batch_requests_size': same },
  }),
  maxLogBlocks: setting(whole(0, BYTES), {
    flag: '--max-log-blocks <count>',
    help: 'most blocks that eth_getLogs looks at; 0 is no limit',
    fallback: 5000,
    nodeKeys: { 'rpc.logs.maxBlocksToQuery': same },
  }),
  maxLogs: setting(whole(0, BYTES), {
    flag: '--max-logs <count>',
    help: 'most logs that eth_getLogs answers; 0 is no limit',
    fallback: 20_000,
    nodeKeys: { 'rpc.logs.maxLogsToReturn': same },
  }),
}

/** The settings of the sockets. */
export const SERVE_SETTINGS = {
  host: setting(text, {
    flag: '--host <address>',
    help: 'address to listen on',
    fallback: '127.0.0.1',
    nodeKeys: { 'rpc.providers.web.http.bind_address': same },
  }),
  port: setting(whole(0, 65_535), {
    flag: '--port <number>',
    help: 'port of HTTP and WebSocket; 0 takes a free one',
    fallback: 4444,
    nodeKeys: { 'rpc.providers.web.http.port': same },
  }),
  cors: setting(
    listOf(/^(\*|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)$/i, 'origins such as http://localhost:3000, or *'),
    {
      flag: '--cors <origins>',
      help: 'origins of web pages that may use the node, or * for all',
      fallback: [],
      fallbackText: 'none',
      // The node's default is the bare word localhost, which no Origin header equals.
      nodeKeys: {
        'rpc.providers.web.cors': (origins) =>
          typeof origins === 'string'
            ? splitList(origins).filter((origin) => origin !== 'localhost')
            : origins,
      },
    },
  ),
  hosts: setting(listOf(/^(\*|[^\s/:]+)$/, 'host names without port, or *'), {
    flag: '--hosts <names>',
    help: 'further host names under which the node may be called, or * for all',
    fallback: [],
    fallbackText: 'localhost and IP addresses; beyond loopback all',
    nodeKeys: { 'rpc.providers.web.http.hosts': same },
  }),
  maxBodyBytes: setting(whole(1, BYTES), {
    flag: '--max-body-size <bytes>',
    help: 'largest HTTP body or WebSocket message, in bytes',
    fallback: 5_242_880,
    nodeKeys: { 'rpc.providers.web.http.max_aggregated_frame_size': same },
  }),
}

/** The settings of what the command prints. */
export const TERMINAL_SETTINGS = {
  logLevel: setting(oneOf('debug', 'info', 'warn', 'error', 'silent'), {
    flag: '--log-level <level>',
    help: 'least important lines to print: debug, info, warn, error or silent',
    fallback: 'info',
  }),
  quiet: setting(yesOrNo, { flag: '--quiet', help: 'no banner, no line per call', fallback: false }),
  json: setting(yesOrNo, { flag: '--json', help: 'print one JSON object a line', fallback: false }),
}

type Table = Readonly<Record<string, Setting<unknown, unknown>>>
type Values<Settings> = {
  readonly [K in keyof Settings]: Settings[K] extends Setting<infer Value, infer _Input, infer Fallback>
    ? Value | Fallback
    : never
}
type Inputs<Settings> = {
  readonly [K in keyof Settings]?:
    | (Settings[K] extends Setting<infer _Value, infer Input, infer _Fallback> ? Input : never)
    | undefined
}

/** What only code can give a node. */
interface NodeParts {
  /** Where the node's own lines go; silent when absent. */
  readonly logger?: Logger | undefined
  /** Seconds since 1970; the wall clock when absent. */
  readonly now?: (() => number) | undefined
  /** Hears of each answered request: its method, milliseconds, and the error it was answered with. */
  readonly onCall?: ((method: string, milliseconds: number, error?: unknown) => void) | undefined
}

/** What `createNode` takes; all of it may be left out. Without `dataDir` the node lives in memory. */
export type NodeOptions = Inputs<typeof NODE_SETTINGS> & NodeParts
/** What `serve` takes; all of it may be left out. */
export type ServeOptions = Inputs<typeof SERVE_SETTINGS>
/** Checked node options with their defaults; `undefined` where the chain decides. `dataDir` is absent for memory. */
export type ResolvedNodeOptions = Values<typeof NODE_SETTINGS> & NodeParts
/** Checked server options with their defaults. */
export type ResolvedServeOptions = Values<typeof SERVE_SETTINGS>
/** Checked settings of the command's output, with their defaults. */
export type TerminalOptions = Values<typeof TERMINAL_SETTINGS>

function printed(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : inspect(value, { breakLength: Infinity, depth: 1 })
}

/** Checks one value; `source` names it to the reader (a flag, a variable, a key). Throws `invalid-options`. */
export function checkSetting(definition: Setting<unknown, unknown>, value: unknown, source: string): unknown {
  const outcome = definition.schema.safeParse(value)
  if (outcome.success) return outcome.data
  if (definition.secret) throw new NodeError('invalid-options', `${source} expects ${definition.expects}.`)
  const message = `${source} expects ${definition.expects}, not ${printed(value)}.`
  throw new NodeError('invalid-options', message)
}

/** Checks given options against a table and fills in its defaults. Throws `invalid-options` naming the option. */
function resolve(table: Table, given: object, parts: readonly string[] = []): object {
  const values = new Map<string, unknown>(Object.entries(given))
  for (const key of values.keys()) {
    if (!Object.hasOwn(table, key) && !parts.includes(key)) {
      throw new NodeError('invalid-options', `There is no option "${key}".`)
    }
  }
  return Object.fromEntries(
    Object.entries(table).map(([key, definition]) => {
      const value = values.get(key)
      return [
        key,
        value === undefined ? definition.fallback : checkSetting(definition, value, `Option "${key}"`),
      ]
    }),
  )
}

/** Checks node options and fills in defaults. Throws `invalid-options`: an unknown, malformed or contradicting option. */
export function resolveNodeOptions(given: NodeOptions): ResolvedNodeOptions {
  const values = resolve(NODE_SETTINGS, given, ['logger', 'now', 'onCall']) as Values<typeof NODE_SETTINGS>
  if (values.memory === true && values.dataDir !== undefined) {
    throw new NodeError('invalid-options', 'Options "memory" and "dataDir" contradict each other.')
  }
  return { ...values, logger: given.logger, now: given.now, onCall: given.onCall }
}

/** Checks server options and fills in defaults. Throws `invalid-options`. */
export function resolveServeOptions(given: ServeOptions): ResolvedServeOptions {
  return resolve(SERVE_SETTINGS, given) as ResolvedServeOptions
}

/** Checks the settings of the output and fills in defaults. Throws `invalid-options`. */
export function resolveTerminalOptions(given: Inputs<typeof TERMINAL_SETTINGS>): TerminalOptions {
  return resolve(TERMINAL_SETTINGS, given) as TerminalOptions
}
