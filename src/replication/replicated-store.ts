/** The database of a node of a cluster: a batch on shared tables is appended to the cluster's log before it is written. */
import { isShared } from '../store/replicated-tables.ts'
import type { Change, Write } from '../store/table.ts'
import type { Store } from '../store/write-behind.ts'

/** Appends the changes to the log, then runs `write` with the write of the new position. */
export type Replicate = (
  changes: readonly Change[],
  write: (position: Write) => Promise<void>,
) => Promise<void>

/** A store that replicates. */
export interface ReplicatedStore extends Store {
  /** Replicates from now on; before, batches stay local: a new database begins with its genesis. */
  replicateBy(replicate: Replicate): void
}

/** Puts replication over a store. Reads, and batches on tables of the node's own, go to the store itself. */
export function createReplicatedStore(local: Store): ReplicatedStore {
  let replicate: Replicate | undefined
  return {
    lastHead: local.lastHead,
    get failure() {
      return local.failure
    },
    get damage() {
      return local.damage
    },
    get: (prefix, id, keys) => local.get(prefix, id, keys),
    entries: (from, to, reverse, most) => local.entries(from, to, reverse, most),
    async batch(writes) {
      const changes = writes.filter((write) => write.type !== 'after')
      if (replicate === undefined || !changes.some(isShared)) return local.batch(writes)
      return replicate(changes, (position) => local.batch([...writes, position]))
    },
    close: () => local.close(),
    replicateBy(given) {
      replicate = given
    },
  }
}
