/** The health of a node in figures, for monitoring. */
import { changesIn } from '../chain/rule-choice.ts'
import type { RuleTable } from '../chain/rule-table.ts'
import type { Engine } from '../engine/engine.ts'
import { type ForkOrigin, originOf } from '../engine/fork/fork.ts'
import type { ClusterHealth } from '../replication/model.ts'
import type { RemoteUsage } from '../state/remote/model.ts'
import { sizeOfDirectory } from '../store/directory-size.ts'

/** Heights and counts; bytes. */
export interface Health {
  readonly chain: string
  readonly chainId: number
  readonly head: number
  /** Unix seconds of the head's header. */
  readonly headTimestamp: number
  /** Transactions of the pool that can be mined now, and those that wait for an earlier nonce. */
  readonly pending: number
  readonly queued: number
  /** Size of the data directory with all its contents; `undefined` in memory. */
  readonly databaseBytes: number | undefined
  /** Why no change is taken at present: the disk refuses writes. Absent in figures read from an engine alone. */
  readonly storageFailure?: string | undefined
  /** What was found damaged in the files of the database since the start, in phrases. Absent as above. */
  readonly storageDamage?: readonly string[] | undefined
  /** Rules with other heights than the network's; absent for none. */
  readonly rules?: RuleTable | undefined
  /** The block that a fork starts from, and where it was found; absent in a node that forks no other chain. */
  readonly fork?: ForkOrigin
  /** The requests to the upstream; absent in a node that does not fork another chain. */
  readonly upstream?: RemoteUsage
  /** Heights of the Bitcoin chain, unless its node is down, and of its headers in the Bridge; absent in a node without one. */
  readonly bitcoin?: { readonly height?: number; readonly bridge: number }
  /** Absent in a node of its own. */
  readonly cluster?: ClusterHealth
}

/** Reads the health of an engine whose data directory is `dataDir`; `undefined` is memory. */
export async function readHealth(
  { config, queries, fork }: Engine,
  dataDir: string | undefined,
): Promise<Health> {
  const { header } = queries.head().block
  return {
    chain: config.name,
    chainId: config.chainId,
    rules: changesIn(config),
    head: header.number,
    headTimestamp: header.timestamp,
    ...queries.poolSize(),
    databaseBytes: dataDir === undefined ? undefined : await sizeOfDirectory(dataDir),
    ...(fork && { fork: originOf(fork), upstream: fork.remote.usage() }),
  }
}
