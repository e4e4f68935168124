/** Where a fork reads from, and with which limits. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Hex } from '../encoding/hex.ts'
import { type BlockChoice, type ForkOptions, forkSource } from '../options/fork-settings.ts'
import { originOf } from './sender.ts'

/** Where to fork from, and with which limits. */
export interface RemoteSettings {
  /** Asked in this order, the next one where one fails; at least one. */
  readonly urls: readonly string[]
  /** The tip unless given. */
  readonly block?: BlockChoice
  /** Fork the parent of this transaction's block; excludes `block`. */
  readonly transaction?: Hex
  /** Refuse an upstream of another chain id. */
  readonly chainId?: number
  /** HTTP headers of each request to a URL of `headerOrigins`; no other URL gets them. */
  readonly headers: readonly (readonly [string, string])[]
  /** Origins of the URLs that the operator named, for whom the headers are. */
  readonly headerOrigins: readonly string[]
  /** Time of one request, retries included, while the fork is opened, milliseconds. */
  readonly timeoutMs: number
  /** The same once it is open, when a caller with less time waits for the answer; at most `timeoutMs`. */
  readonly answerMs?: number
  /** How often a request is retried before it fails. */
  readonly retries: number
  /** Most calls a second; 0 is no limit. */
  readonly rate: number
  /** Most calls in 24 hours; 0 is no limit. */
  readonly callsPerDay: number
  /** Read state out of proofs where the upstream serves them? */
  readonly isVerified: boolean
  /** Where answers are kept; in memory only where it is absent. */
  readonly cacheDir?: string
  /** Most bytes of that directory. */
  readonly cacheBytes: number
  /** Answer from the cache alone. */
  readonly isOffline: boolean
}

const MEGABYTE = 1024 * 1024

/** The user's directory of caches (XDG Base Directory Specification): a relative `XDG_CACHE_HOME` counts as not set. */
export function defaultCacheDir(env: Readonly<Record<string, string | undefined>>): string {
  const given = env.XDG_CACHE_HOME
  const base = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache')
  return join(base, 'tandem', 'fork')
}

/**
 * What the options of a node ask for; `undefined` without a fork. `operator`: the options that the node was started with,
 * where a caller named another URL. Throws `invalid-options` where they contradict each other.
 */
export function remoteSettingsOf(
  options: ForkOptions,
  env: Readonly<Record<string, string | undefined>>,
  operator: ForkOptions = options,
): RemoteSettings | undefined {
  const source = forkSource(options)
  if (source === undefined) return undefined
  const { forkTransactionHash, forkChainId, forkCacheDir } = options
  return {
    ...source,
    headerOrigins: (forkSource(operator)?.urls ?? []).map(originOf),
    ...(forkTransactionHash !== undefined && { transaction: forkTransactionHash }),
    ...(forkChainId !== undefined && { chainId: forkChainId }),
    timeoutMs: options.forkTimeoutMs,
    retries: options.forkRetries,
    rate: options.forkRate,
    callsPerDay: options.forkCallsPerDay,
    ...(options.forkCache && { cacheDir: forkCacheDir ?? defaultCacheDir(env) }),
    cacheBytes: options.forkCacheSize * MEGABYTE,
    isOffline: options.forkOffline,
    isVerified: options.forkVerify,
  }
}
