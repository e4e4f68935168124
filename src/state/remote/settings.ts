/** What a fork of another chain is made of, and what it takes from the process: its clock, chance, and log lines. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Hex } from '../../encoding/hex.ts'
import { type BlockChoice, type ForkOptions, forkSource } from '../../options/fork-settings.ts'
import { type Resolver, resolveName } from './forbidden-address.ts'
import { originOf } from './http.ts'

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
  /** Time of one request, its repetitions included, while the fork is opened, milliseconds. */
  readonly timeoutMs: number
  /** The same once it is open, where somebody waits for an answer that has less time; at most `timeoutMs`. */
  readonly answerMs?: number
  /** How often a request is repeated before it fails. */
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

/** Time, which tests replace. Milliseconds. */
export interface RemoteClock {
  now(): number
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Calls `run` after so many milliseconds, unless the returned function was called before. */
  deadline(milliseconds: number, run: () => void): () => void
}

/** What is not of the fork itself. */
export interface RemoteDeps {
  readonly clock: RemoteClock
  /** From 0 to below 1. */
  readonly random: () => number
  readonly resolve: Resolver
  /** A line about something that the user should know, such as a corrupt part of the cache. */
  readonly notice: (message: string) => void
}

/** The clock and the chance of this process. */
export function systemDeps(notice: (message: string) => void): RemoteDeps {
  return {
    clock: {
      now: () => Date.now(),
      wait: (milliseconds, signal) =>
        new Promise((resolve, reject) => {
          const end = () => {
            clearTimeout(timer)
            reject(signal.reason)
          }
          const timer = setTimeout(() => {
            signal.removeEventListener('abort', end)
            resolve()
          }, milliseconds)
          signal.addEventListener('abort', end, { once: true })
        }),
      deadline(milliseconds, run) {
        const timer = setTimeout(run, milliseconds)
        return () => clearTimeout(timer)
      },
    },
    random: Math.random,
    resolve: resolveName,
    notice,
  }
}
