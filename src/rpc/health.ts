/** The health of a node in figures, for monitoring. */
import type { Engine } from '../engine/engine.ts'
import type { ClusterHealth } from '../replication/model.ts'
import type { RemoteUsage } from '../state/remote/model.ts'
import { sizeOfDirectory } from '../store/level.ts'

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
  /** Of the data directory with all it holds; `undefined` in memory. */
  readonly databaseBytes: number | undefined
  /** Absent in a node of its own. */
  readonly cluster?: ClusterHealth
  /** What a fork sent upstream; absent in a chain of its own. */
  readonly upstream?: RemoteUsage
}

/** Reads the health of an engine whose data directory is `dataDir`; `undefined` is memory. */
export async function readHealth(
  { config, fork, queries }: Engine,
  dataDir: string | undefined,
): Promise<Health> {
  const { header } = queries.head().block
  return {
    chain: config.name,
    chainId: config.chainId,
    head: header.number,
    headTimestamp: header.timestamp,
    ...queries.poolSize(),
    databaseBytes: dataDir === undefined ? undefined : await sizeOfDirectory(dataDir),
    ...(fork !== undefined && { upstream: fork.remote.usage() }),
  }
}
