/** Anvil's flags of a fork, and what they set here. */
import { NodeError } from '../../errors.ts'
import { LONGEST_INTERVAL, MAX_CHAIN_ID } from '../../options/kinds.ts'
import { type Flag, number } from './flag-values.ts'

/** What Anvil takes a request to cost where the provider counts compute units. */
const UNITS_PER_CALL = 17

const lines = (text: string): string[] => text.split('\n')

/** The fork flags in the order of Anvil's help; they need a URL, which `checkForkFlags` asks for. */
export const FORK_FLAGS: readonly Flag[] = [
  {
    flags: '-f, --fork-url <url>',
    aliases: ['--rpc-url'],
    holds: 'fork',
    help: 'fork the chain of this node, at a block with url@block; may be given again, for failover',
    repeatable: true,
    apply: (value, { node }) => {
      node.fork = lines(value)
    },
  },
  {
    flags: '--fork-block-number <number>',
    help: 'block to fork; a negative number counts from the tip',
    apply: (value, { node }) => {
      node.forkBlock = value
    },
  },
  {
    flags: '--fork-transaction-hash <hash>',
    help: 'fork the state after this transaction',
    apply: (value, { node }) => {
      node.forkTransactionHash = value
    },
  },
  {
    flags: '--fork-header <header>',
    aliases: ['--fork-headers'],
    holds: 'forkHeader',
    help: "HTTP header of requests to the upstream, 'name: value'; may be given again",
    repeatable: true,
    apply: (value, { node }) => {
      node.forkHeader = lines(value)
    },
  },
  {
    flags: '--fork-allow <origin>',
    help: 'origin of URLs that callers from elsewhere may name, or *; may be given again (not a flag of Anvil)',
    repeatable: true,
    apply: (value, { node }) => {
      node.forkAllow = lines(value)
    },
  },
  {
    flags: '--fork-retry-backoff <ms>',
    help: 'accepted, without effect: pauses grow from 250 ms, or last as long as the upstream asks',
    apply: () => {},
  },
  {
    flags: '--fork-chain-id <number>',
    help: 'refuse an upstream of another chain id',
    apply: (value, { node }, flag) => {
      node.forkChainId = number(value, flag, { least: 1, most: MAX_CHAIN_ID })
    },
  },
  {
    flags: '--fork-state-by-number',
    help: 'accepted, without effect: state is read by the block hash wherever the upstream honours it',
    apply: () => {},
  },
  {
    flags: '--compute-units-per-second <count>',
    help: `the rate of requests to the upstream, at ${UNITS_PER_CALL} units a call`,
    apply: (value, { node }, flag) => {
      node.forkRate = Math.max(
        1,
        Math.floor(number(value, flag, { least: 1, most: 1_000_000 }) / UNITS_PER_CALL),
      )
    },
  },
  {
    flags: '--no-rate-limit',
    aliases: ['--no-rpc-rate-limit'],
    help: 'send requests to the upstream at any rate, as is the default here',
    apply: (_, { node }) => {
      node.forkRate = 0
    },
  },
  {
    flags: '--no-storage-caching',
    help: 'keep nothing of the upstream on disk',
    apply: (_, { node }) => {
      node.forkCache = false
    },
  },
  {
    flags: '--no-fork-node-info',
    help: 'accepted, without effect: anvil_nodeInfo shows the fork',
    apply: () => {},
  },
  {
    flags: '--timeout <ms>',
    help: 'milliseconds for a request to the upstream',
    apply: (value, { node }, flag) => {
      node.forkTimeoutMs = number(value, flag, { least: 1, most: LONGEST_INTERVAL * 1000 })
    },
  },
  {
    flags: '--retries <count>',
    help: 'how often a request to the upstream is retried',
    apply: (value, { node }, flag) => {
      node.forkRetries = number(value, flag, { most: 1000 })
    },
  },
  {
    flags: '--cache-path <dir>',
    help: "directory that keeps the upstream's answers",
    apply: (value, { node }) => {
      node.forkCacheDir = value
    },
  },
]

/** Flags that mean nothing without a fork, as Anvil has it. */
const NEED_URL = ['forkBlock', 'forkTransactionHash', 'forkHeader', 'forkChainId'] as const

/** Throws `invalid-options` for a flag of a fork without its URL. */
export function checkForkFlags(node: Readonly<Record<string, unknown>>): void {
  if (node.fork !== undefined || NEED_URL.every((key) => node[key] === undefined)) return
  throw new NodeError('invalid-options', 'The fork flags need the URL to fork from: give --fork-url <url>.')
}
