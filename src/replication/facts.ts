/** What is fixed about a cluster, and the check of a node that joins. */
import { randomUUID } from 'node:crypto'
import { JetStreamApiError } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import { z } from 'zod'
import { networkDifferences } from '../chain/network.ts'
import { describeChanges, type RuleTable, sameChanges } from '../chain/rule-table.ts'
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { type Identity as DatabaseIdentity, FORMAT } from '../store/identity.ts'

/** Raised with every change to the log, to snapshots or to the calls between nodes that another version would misread. */
const PROTOCOL = 1
const KEY = 'identity'

const Identity = z.object({
  /** Random, made with the log. */
  cluster: z.string(),
  chain: z.string(),
  chainId: z.int(),
  /** The definition of a network that is not shipped. */
  network: z.custom<object>((value) => typeof value === 'object' && value !== null).optional(),
  /** Rules with other heights than the network's. */
  rules: z.record(z.string(), z.int().nullable()).optional(),
  genesis: z.string(),
  /** Timestamp of block 0, Unix seconds. */
  genesisTime: z.int(),
  format: z.int(),
  protocol: z.int(),
  /** What the log continues: the genesis, or a snapshot. */
  base: z.enum(['genesis', 'snapshot']),
})

/** What a cluster is. */
export type ClusterIdentity = z.infer<typeof Identity>

/** What a node itself contributes. */
export type OwnIdentity = Pick<DatabaseIdentity, 'chain' | 'chainId' | 'network' | 'rules'>

/** The identity of a cluster; `undefined` before its first leader. */
export async function readClusterIdentity(bucket: KV): Promise<ClusterIdentity | undefined> {
  const entry = await bucket.get(KEY)
  return entry?.operation === 'PUT' ? Identity.parse(entry.json()) : undefined
}

/** Makes the identity of a new cluster; where another node was faster, that node's. */
export async function makeClusterIdentity(
  bucket: KV,
  own: OwnIdentity & {
    readonly genesis: Hex
    readonly genesisTime: number
    readonly base: 'genesis' | 'snapshot'
  },
): Promise<{ readonly identity: ClusterIdentity; readonly isOwn: boolean }> {
  const identity: ClusterIdentity = { ...own, cluster: randomUUID(), format: FORMAT, protocol: PROTOCOL }
  try {
    await bucket.create(KEY, JSON.stringify(identity))
    return { identity, isOwn: true }
  } catch (error) {
    const found = error instanceof JetStreamApiError ? await readClusterIdentity(bucket) : undefined
    if (found === undefined) throw error
    return { identity: found, isOwn: false }
  }
}

/** Throws `cluster` for a node of another chain or version. */
export function requireSameChain(name: string, found: ClusterIdentity, own: OwnIdentity): void {
  const refused = (message: string) => new NodeError('cluster', `The cluster ${name} ${message}`)
  if (found.chain !== own.chain || found.chainId !== own.chainId) {
    throw refused(
      `runs chain ${found.chain} (chain id ${found.chainId}), and this node ${own.chain} (chain id ${own.chainId}).`,
    )
  }
  const others = networkDifferences(found.network, own.network)
  if (others.length > 0) {
    throw refused(
      `runs another network ${found.chain}, with another ${others.join(', ')}: start this node with the file of the other nodes (--chain).`,
    )
  }
  const [theirs, ours] = [found.rules ?? {}, own.rules ?? {}]
  if (!sameChanges(theirs, ours)) {
    const words = (rules: RuleTable) => describeChanges(rules) || 'no other rules than its network'
    throw refused(
      `has ${words(theirs)}, and this node ${words(ours)}: start it with the rules of the other nodes (--rules).`,
    )
  }
  if (found.format !== FORMAT || found.protocol !== PROTOCOL) {
    throw refused(
      `has database format ${found.format} and protocol ${found.protocol}, and this version of Tandem has format ` +
        `${FORMAT} and protocol ${PROTOCOL}. Run the version of the other nodes.`,
    )
  }
}

/** Throws `cluster` for a node whose chain begins with another block. */
export function requireSameGenesis(name: string, found: ClusterIdentity, genesis: Hex): void {
  if (found.genesis === genesis) return
  throw new NodeError(
    'cluster',
    `The chain of the cluster ${name} began with block ${found.genesis}, and this node's settings make ${genesis}: ` +
      'its genesis, accounts or balances are others.',
  )
}
