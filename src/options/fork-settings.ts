/** Settings of a fork: which chain and block it forks, how its upstream is queried, and where answers are kept. */
import { z } from 'zod'
import { type Hex, lowerCaseHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { type Kind, LONGEST_INTERVAL, MAX_CHAIN_ID, same, text, whole, yesOrNo } from './kinds.ts'
import { setting, type Values } from './setting.ts'

/** The block to fork: a height, a number of blocks below the tip (negative), a tag, or a hash. */
export type BlockChoice = { readonly number: number } | { readonly tag: string } | { readonly hash: Hex }

const HASH = /^0x[0-9a-f]{64}$/i
const TAGS = ['latest', 'earliest', 'safe', 'finalized']

/** The block that a text names; `undefined` for a text that names none. */
export function blockChoice(given: string): BlockChoice | undefined {
  if (TAGS.includes(given)) return { tag: given }
  if (HASH.test(given)) return { hash: lowerCaseHex(given) }
  if (!/^(-?\d{1,15}|0x[0-9a-f]{1,12})$/i.test(given)) return undefined
  return { number: Number(given) }
}

/** `url@block` in its parts; a block only where the part after the last `@` names one. */
function splitUrl(given: string): { readonly url: string; readonly block: BlockChoice | undefined } {
  const at = given.lastIndexOf('@')
  const block = at < 0 ? undefined : blockChoice(given.slice(at + 1))
  return block === undefined ? { url: given, block } : { url: given.slice(0, at), block }
}

const isUpstream = (given: string): boolean =>
  URL.canParse(splitUrl(given).url) && /^(https?|wss?):$/.test(new URL(splitUrl(given).url).protocol)

const upstreams: Kind<readonly string[], string | readonly string[]> = {
  schema: () =>
    z
      .union([z.string(), z.array(z.string()).min(1).readonly()])
      .transform((given) => (typeof given === 'string' ? [given] : given))
      .refine((urls) => urls.every(isUpstream)),
  expects: 'URLs such as https://node.example or ws://127.0.0.1:4445@latest, of http, https, ws or wss',
  fromText: (given) => given.split(/\s+/).filter((url) => url !== ''),
}

const block: Kind<number | string, number | string> = {
  schema: () => z.union([z.int(), z.string()]).refine((given) => blockChoice(String(given)) !== undefined),
  expects:
    'a height, a negative number of blocks below the tip, latest, earliest, safe, finalized, or a hash',
  fromText: same,
}

const hash: Kind<Hex, string> = {
  schema: () =>
    z
      .string()
      .regex(HASH)
      .transform((given) => lowerCaseHex(given)),
  expects: 'a hash of 32 bytes in hex, with 0x',
  fromText: same,
}

const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+):[ \t]*([^\r\n]*)$/i

const headers: Kind<readonly string[], string | readonly string[]> = {
  schema: () =>
    z
      .union([z.string(), z.array(z.string()).readonly()])
      .transform((given) => (typeof given === 'string' ? [given] : given))
      .refine((lines) => lines.every((line) => HEADER.test(line))),
  expects: "HTTP headers such as 'Authorization: Bearer …'",
  fromText: (given) => given.split('\n').filter((line) => line !== ''),
}

const isOrigin = (given: string): boolean =>
  given === '*' ||
  (URL.canParse(given) && isUpstream(given) && `${new URL(given).origin}/` === new URL(given).href)

const allowedOrigins: Kind<readonly string[], string | readonly string[]> = {
  schema: () =>
    z
      .union([z.string(), z.array(z.string()).readonly()])
      .transform((given) => (typeof given === 'string' ? [given] : given))
      .refine((origins) => origins.every(isOrigin))
      .transform((origins) => origins.map((origin) => (origin === '*' ? origin : new URL(origin).origin))),
  expects: 'origins such as https://node.example, of http, https, ws or wss, or *',
  fromText: (given) => given.split(/\s+/).filter((origin) => origin !== ''),
}

/** The settings of a fork. */
export const FORK_SETTINGS = {
  fork: setting(upstreams, {
    flag: '--fork <url>',
    help: 'fork the chain of this node, at a block with url@block; given again: a URL to ask when those before it fail',
    fallback: undefined,
    fallbackText: 'none: a chain of its own',
    secret: true,
    repeatable: '\n',
  }),
  forkBlock: setting(block, {
    flag: '--fork-block <block>',
    help: 'block to fork: a height, -10 for ten blocks below the tip, latest, earliest, safe, finalized, or a hash',
    fallback: undefined,
    fallbackText: 'latest',
  }),
  forkTransactionHash: setting(hash, {
    flag: '--fork-transaction-hash <hash>',
    help: 'fork the state after this transaction: the parent of its block, and the transactions of the block up to it',
    fallback: undefined,
    fallbackText: 'none',
  }),
  forkChainId: setting(whole(1, MAX_CHAIN_ID), {
    flag: '--fork-chain-id <number>',
    help: 'refuse an upstream of another chain id',
    fallback: undefined,
    fallbackText: 'any',
  }),
  forkHeader: setting(headers, {
    flag: '--fork-header <header>',
    help: "HTTP header of requests to the upstream, 'name: value'; may be given again",
    fallback: [],
    fallbackText: 'none',
    secret: true,
    repeatable: '\n',
  }),
  forkAllow: setting(allowedOrigins, {
    flag: '--fork-allow <origin>',
    help: 'origin of URLs that callers from elsewhere, or with API keys, may name in anvil_setRpcUrl and in resets with forking, or * for any; may be given again',
    fallback: [] as readonly string[],
    fallbackText: 'none: only callers on this machine name URLs, where no keys are in use',
    repeatable: '\n',
  }),
  forkTimeoutMs: setting(whole(1, LONGEST_INTERVAL * 1000), {
    flag: '--fork-timeout <ms>',
    help: 'milliseconds for a request to the upstream, retries included; while a caller waits for it, at most four fifths of --rpc-timeout',
    fallback: 30_000,
  }),
  forkRetries: setting(whole(0, 1000), {
    flag: '--fork-retries <count>',
    help: 'how often a request to the upstream is retried within that time, after growing pauses, before it fails',
    fallback: 5,
  }),
  forkRate: setting(whole(0, 1_000_000), {
    flag: '--fork-rate <count>',
    help: 'maximum number of calls to the upstream per second; 0 is no limit',
    fallback: 0,
  }),
  forkCallsPerDay: setting(whole(0, 1_000_000_000), {
    flag: '--fork-calls-per-day <count>',
    help: 'maximum number of calls to the upstream in 24 hours; 0 is no limit',
    fallback: 0,
  }),
  forkCacheDir: setting(text, {
    flag: '--fork-cache-dir <dir>',
    help: "directory that keeps the upstream's answers; processes may share it",
    fallback: undefined,
    fallbackText: 'tandem/fork in $XDG_CACHE_HOME, or in ~/.cache',
  }),
  forkCacheSize: setting(whole(1, 1024 * 1024), {
    flag: '--fork-cache-size <mb>',
    help: 'most megabytes of that directory; the least recently used answers are removed first',
    fallback: 1024,
  }),
  forkCache: setting(yesOrNo, {
    flag: '--no-fork-cache',
    help: 'keep nothing of the upstream on disk',
    fallback: true,
  }),
  forkVerify: setting(yesOrNo, {
    flag: '--no-fork-verify',
    help: 'take accounts and slots as the upstream answers them; without this option they are read out of proofs (eth_getProof) where it serves them, and what it does not prove is taken unverified, which the log states',
    fallback: true,
  }),
  forkOffline: setting(yesOrNo, {
    flag: '--fork-offline',
    help: 'answer from that directory alone: no request is sent, and what is missing is an error',
    fallback: false,
  }),
}

/** Checked settings of a fork. */
export type ForkOptions = Values<typeof FORK_SETTINGS>

/** Where a fork comes from. */
export interface ForkSource {
  readonly urls: readonly string[]
  readonly block?: BlockChoice
  readonly headers: readonly (readonly [string, string])[]
}

/** The URLs without their blocks, and the one block that all settings name; `undefined` without a fork. Throws `invalid-options`. */
export function forkSource({
  fork,
  forkBlock,
  forkTransactionHash,
  forkHeader,
}: ForkOptions): ForkSource | undefined {
  if (fork === undefined) return undefined
  const parts = fork.map(splitUrl)
  const own = forkBlock === undefined ? [] : [blockChoice(String(forkBlock)) as BlockChoice]
  const choices = [...own, ...parts.flatMap(({ block }) => block ?? [])]
  const [choice] = choices
  if (choices.some((other) => JSON.stringify(other) !== JSON.stringify(choice))) {
    throw new NodeError(
      'invalid-options',
      'Options "fork" and "forkBlock" name different blocks: a fork continues from one of them.',
    )
  }
  if (choice !== undefined && forkTransactionHash !== undefined) {
    throw new NodeError(
      'invalid-options',
      'Options "forkBlock" and "forkTransactionHash" contradict each other: the transaction decides the block.',
    )
  }
  return {
    urls: parts.map(({ url }) => url),
    ...(choice !== undefined && { block: choice }),
    headers: forkHeader.map((line) => {
      const [, name = '', value = ''] = HEADER.exec(line) ?? []
      return [name, value.trim()]
    }),
  }
}
