/** The members in which a reply differs from a recorded one, and those that may. */
import { isObject } from '../encoding/json-object.ts'
import { SECRET_NAME } from '../recording/secrets.ts'
import type { Renaming } from './renaming.ts'

/** A member that differs; `undefined` where it is absent. */
export interface MemberDifference {
  /** Such as `result.logs[0].data`; empty for the value as a whole. */
  readonly path: string
  readonly recorded: unknown
  readonly replayed: unknown
}

/** What may differ: members by the method that answers, as paths. docs/guides/replay.md#what-may-differ lists them. */
const MAY_DIFFER: Readonly<Record<string, readonly string[]>> = {
  web3_clientVersion: ['result'],
  'rpc.discover': ['result.info'],
  anvil_metadata: ['result.clientVersion'],
  hardhat_metadata: ['result.clientVersion'],
  // Compressed: its bytes depend on the version of zlib.
  anvil_dumpState: ['result'],
  hardhat_dumpState: ['result'],
  // What was done to messages that never reached the recorded node is not in the file.
  evm_chaos: ['result.counts'],
  evm_setChaos: ['result.counts'],
  // Scores, times and counts of callers, whose addresses a replay has not.
  sco_peerList: ['result'],
  sco_reputationSummary: ['result'],
  sco_keyUsage: ['result'],
}

/** Members that differ on a node with a clock of its own. */
export const TIMES: readonly string[] = ['timestamp', 'blockTimestamp']
/** Members that hold hashes among other bytes: they differ where hashes do. */
export const OF_HASHES: readonly string[] = [
  'hashForMergedMining',
  'bitcoinMergedMiningHeader',
  'bitcoinMergedMiningCoinbaseTransaction',
  'bitcoinMergedMiningMerkleProof',
]
/** Members that name the version of the node that has mined a block. */
export const OF_RELEASE: readonly string[] = ['extraData']

/** How values are compared. */
export interface ComparisonRules {
  readonly renaming: Renaming
  /** Names of members that may differ, wherever they are. */
  readonly free: ReadonlySet<string>
}

function memberPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}

/** The members that differ, in the order of the recorded value. */
export function* differencesOf(
  recorded: unknown,
  replayed: unknown,
  rules: ComparisonRules,
  path = '',
  key = '',
): Generator<MemberDifference> {
  if (rules.renaming.isSame(recorded, replayed, key)) return
  if (typeof recorded === 'string' && SECRET_NAME.test(recorded)) return
  if (rules.free.has(key)) return
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    for (let i = 0; i < Math.max(recorded.length, replayed.length); i++) {
      yield* differencesOf(recorded[i], replayed[i], rules, memberPath(path, i), key)
    }
    return
  }
  if (isObject(recorded) && isObject(replayed)) {
    for (const member of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
      yield* differencesOf(recorded[member], replayed[member], rules, memberPath(path, member), member)
    }
    return
  }
  yield { path, recorded, replayed }
}

/** The methods of a message, one for each call of a batch. */
function methodsOf(request: unknown): readonly string[] {
  if (Array.isArray(request)) return request.map((entry) => methodsOf(entry)[0] ?? '')
  return [isObject(request) && typeof request.method === 'string' ? request.method : '']
}

/** The members of a reply that differ and may not. */
export function* replyDifferences(
  request: unknown,
  recorded: unknown,
  replayed: unknown,
  rules: ComparisonRules,
): Generator<MemberDifference> {
  const methods = methodsOf(request)
  const isBatch = Array.isArray(request)
  for (const difference of differencesOf(recorded, replayed, rules)) {
    const [, index, rest] = /^\[(\d+)\]\.?(.*)$/.exec(difference.path) ?? []
    const method = isBatch ? methods[Number(index)] : methods[0]
    const path = isBatch ? (rest ?? '') : difference.path
    const free = MAY_DIFFER[method ?? ''] ?? []
    if (
      free.some((member) => path === member || path.startsWith(`${member}.`) || path.startsWith(`${member}[`))
    ) {
      continue
    }
    yield difference
  }
}
