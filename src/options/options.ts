/** The options of node, server and terminal: what may be given, and how defaults are filled in. */
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { isLoopback } from './addresses.ts'
import { ENGINE_SETTINGS } from './engine-settings.ts'
import { LIMIT_SETTINGS } from './limit-settings.ts'
import { RPC_SETTINGS } from './rpc-settings.ts'
import { SERVE_SETTINGS } from './serve-settings.ts'
import { type Inputs, resolve, type Values } from './setting.ts'
import { TERMINAL_SETTINGS } from './terminal-settings.ts'

/** The settings of the node itself, served or in process. */
export const NODE_SETTINGS = { ...ENGINE_SETTINGS, ...RPC_SETTINGS, ...LIMIT_SETTINGS }

/** Who made a call, as far as a log may know: a session without what it can do. */
export interface CallOrigin {
  /** How the call came: in process, or by which door. */
  readonly label: string
  /** The name of a key; empty where no keys are in use. */
  readonly owner: string
  /** The caller's address; absent in process. */
  readonly remote?: string | undefined
  readonly requestId?: string | undefined
}

/** Hears of an answered call: the method as it was asked for, milliseconds, the error it was answered with if any. */
export type OnCall = (method: string, milliseconds: number, error: unknown, origin: CallOrigin) => void

/** What only code can give a node. */
interface NodeParts {
  /** Where the node's own lines go; silent when absent. */
  readonly logger?: Logger | undefined
  /** Seconds since 1970; the wall clock when absent. */
  readonly now?: (() => number) | undefined
  readonly onCall?: OnCall | undefined
  /** Hears what code says to the console contract: a text per call, and the transaction unless it is a simulated call. */
  readonly onConsole?: ((texts: readonly string[], transaction?: Hex) => void) | undefined
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

/**
 * Is this the profile that holds no keys? Throws `invalid-options` when keys are asked for in it
 * (docs/rpc-reference.md#10-hosted-profile).
 */
function holdsNoKeys({ profile }: Values<typeof NODE_SETTINGS>, given: NodeOptions): boolean {
  if (profile !== 'hosted') return false
  for (const key of ['wallet', 'accounts', 'mnemonic'] as const) {
    if (!given[key]) continue
    const words = `Options "profile" and "${key}" contradict each other: the hosted profile holds no keys.`
    throw new NodeError('invalid-options', words)
  }
  return true
}

/** Checks node options and fills in defaults. Throws `invalid-options`: an unknown, malformed or contradicting option. */
export function resolveNodeOptions(given: NodeOptions): ResolvedNodeOptions {
  const values = resolve(NODE_SETTINGS, given, ['logger', 'now', 'onCall', 'onConsole']) as Values<
    typeof NODE_SETTINGS
  >
  if (values.memory === true && values.dataDir !== undefined) {
    throw new NodeError('invalid-options', 'Options "memory" and "dataDir" contradict each other.')
  }
  if (given.wallet === false && (given.accounts || given.mnemonic !== undefined)) {
    const other = given.accounts ? 'accounts' : 'mnemonic'
    const words = `Options "wallet" and "${other}" contradict each other: without a wallet there are no keys.`
    throw new NodeError('invalid-options', words)
  }
  const wallet = values.wallet && !holdsNoKeys(values, given)
  const { logger, now, onCall, onConsole } = given
  return { ...values, wallet, logger, now, onCall, onConsole }
}

/**
 * Checks server options and fills in defaults; `profile` is that of the node to be served. Throws `invalid-options`: as
 * for a node, or a port that is open without being guarded.
 */
export function resolveServeOptions(
  given: ServeOptions,
  profile: ResolvedNodeOptions['profile'] = 'node',
): ResolvedServeOptions {
  const values = resolve(SERVE_SETTINGS, given) as ResolvedServeOptions
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined)) {
    const words = 'Options "tlsCert" and "tlsKey" go together: a certificate is of no use without its key.'
    throw new NodeError('invalid-options', words)
  }
  if (values.metricsHost !== undefined && values.metricsPort === undefined) {
    throw new NodeError(
      'invalid-options',
      'Option "metricsHost" says nothing without the option "metricsPort".',
    )
  }
  if (values.redis !== undefined && values.apiKeys === undefined) {
    const words = 'Option "redis" counts the limits of keys, and there are none without the option "apiKeys".'
    throw new NodeError('invalid-options', words)
  }
  if (!isLoopback(values.host) && !values.unsafeOpen && values.apiKeys === undefined) {
    const why = 'anyone who reaches the port could use the accounts, move the chain and read everything'
    const words = `Listening on ${values.host}, beyond this machine, without keys needs the option "unsafeOpen"`
    throw new NodeError('invalid-options', `${words} (--unsafe-open): ${why}.`)
  }
  if (profile === 'hosted' && values.apiKeys === undefined && !values.unsafeOpen) {
    const words = 'The hosted profile asks every caller for a key'
    throw new NodeError('invalid-options', `${words}: name a key file (--api-keys), or say --unsafe-open.`)
  }
  return values
}

/** Checks the settings of the output and fills in defaults. Throws `invalid-options`. */
export function resolveTerminalOptions(given: Inputs<typeof TERMINAL_SETTINGS>): TerminalOptions {
  return resolve(TERMINAL_SETTINGS, given) as TerminalOptions
}
