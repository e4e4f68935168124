/**
 * The engine of a node whose database another node of the cluster changes: takes over its batches, updates what is in
 * memory, and emits the same events.
 */
import type { ExecutedBlock } from '../chain/block.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Change } from '../store/table.ts'
import { PREFIX } from '../store/tables.ts'
import type { ChainUpdate } from './model.ts'
import type { EngineParts } from './parts.ts'
import { refusedOnDisk } from './pool/restore-pool.ts'
import type { Enqueue } from './serial-queue.ts'

/** Calls must not overlap. */
export interface Replica {
  /** The genesis block that the settings make. */
  readonly genesis: ExecutedBlock
  /**
   * Takes over a batch of the leader, which `write` writes, and emits the updates that the leader emitted: `pooled` are
   * the transactions that became runnable there before the batch. Resolves when the listeners have run.
   */
  apply(changes: readonly Change[], pooled: readonly Transaction[], write: () => Promise<void>): Promise<void>
  /**
   * Reads everything again after the tables were replaced as a whole, and emits what that changed within the last
   * `KEPT_BLOCKS` blocks. Begins with `replace`.
   */
  replaceTables(replace: () => Promise<void>): Promise<void>
  /** Stops mining; the pool is that of the disk. Resolves after the running command. */
  follow(): Promise<void>
  /**
   * Begins to lead: restores the pool and starts mining as a start of the node does. What the leader keeps in memory
   * only (clock, snapshots, block overrides, impersonated accounts) stays where this node was also the last leader.
   */
  lead(wasLeader: boolean): Promise<void>
}

interface Steps {
  /** The queue of the commands, open to a node that does not lead as well. */
  readonly enqueue: Enqueue
  /** Fills the empty pool from disk, and deletes there what is no longer valid. */
  readonly restorePool: () => Promise<void>
  readonly reloadSnapshots: () => Promise<void>
  readonly startMining: () => Promise<void>
}

/** Blocks below the head that are kept while the tables are replaced, to be reported as removed. */
const KEPT_BLOCKS = 512

/** Makes the replica of an engine. */
export function createReplica(parts: EngineParts, steps: Steps): Replica {
  const { blocks, blockchain, headState, pool, persistedPool, mining, events } = parts

  /** The canonical blocks at the heights of these changes, in their order. */
  function canonicalOf(changes: readonly Change[], type: Change['type']): ExecutedBlock[] {
    return changes.flatMap((change) => {
      if (change.prefix !== PREFIX.canonical || change.type !== type) return []
      const hash = blocks.canonicalHash(change.id as number)
      const block = hash === undefined ? undefined : blocks.get(hash)
      return block === undefined ? [] : [block]
    })
  }

  function applyToPool(changes: readonly Change[], update: ChainUpdate): void {
    const { head } = blockchain
    if (update.removed.length + update.added.length > 0) pool.apply(update, head, headState())
    for (const { prefix, id, type } of changes) {
      if (prefix !== PREFIX.pool) continue
      const transaction = type === 'put' ? blocks.pooled(id as Hex) : undefined
      if (transaction === undefined) pool.drop(id as Hex)
      else if (!pool.has(transaction.hash)) addToPool(transaction)
    }
    pool.takeEvicted()
  }

  function addToPool(transaction: Transaction): void {
    try {
      pool.add(transaction, blockchain.head, headState())
    } catch {
      // The leader admitted it under block overrides or a clock that this node does not have.
    }
  }

  /** Pool and hashes as on disk; invalid transactions stay there, since only the leader deletes. */
  async function reloadPool(): Promise<void> {
    await blocks.reload()
    persistedPool.reload()
    pool.clear()
    pool.takeEvicted()
  }

  /** The last canonical blocks, from the head downwards. */
  function lastBlocks(): ExecutedBlock[] {
    const last: ExecutedBlock[] = []
    let block: ExecutedBlock | undefined = blockchain.head
    while (block !== undefined && last.length < KEPT_BLOCKS) {
      last.push(block)
      block = block.block.header.number === 0 ? undefined : blocks.get(block.block.header.parentHash)
    }
    return last
  }

  /** What led from these last blocks to the chain as it is now. */
  function updateFrom(before: readonly ExecutedBlock[]): ChainUpdate {
    const isStill = ({ hash }: ExecutedBlock) => blockchain.isCanonical(hash) === true
    const fork = before.findIndex(isStill)
    const removed = fork < 0 ? [] : before.slice(0, fork)
    const from = (fork < 0 ? before[0] : before[fork])?.block.header.number ?? 0
    const added: ExecutedBlock[] = []
    for (let height = from + 1; height <= blockchain.head.block.header.number; height++) {
      const hash = blockchain.hashAt(height)
      const block = hash === undefined ? undefined : blocks.get(hash)
      if (block !== undefined) added.push(block)
    }
    return { removed, added }
  }

  return {
    genesis: blockchain.configuredGenesis,

    async apply(changes, pooled, write) {
      // The batch may delete them.
      const removed = canonicalOf(changes, 'del')
      await write()
      if (pooled.length > 0) events.emit('pool', { added: pooled })
      if (changes.length === 0) return
      blocks.invalidate(changes)
      const update = { removed, added: canonicalOf(changes, 'put') }
      blockchain.reload(update)
      applyToPool(changes, update)
      mining.discardPending()
      if (removed.length + update.added.length > 0) events.emit('chain', update)
    },

    async replaceTables(replace) {
      const before = lastBlocks()
      await replace()
      blocks.invalidate()
      await reloadPool()
      blockchain.reload(undefined)
      refusedOnDisk(parts)
      mining.discardPending()
      const update = updateFrom(before)
      if (update.removed.length + update.added.length > 0) events.emit('chain', update)
    },

    follow() {
      mining.schedule.stop()
      return steps.enqueue(async () => {
        await reloadPool()
        refusedOnDisk(parts)
        mining.discardPending()
      })
    },

    async lead(wasLeader) {
      await steps.enqueue(async () => {
        await reloadPool()
        if (!wasLeader) {
          parts.clock.reset()
          parts.blockOverrides.reset()
          parts.impersonation.clear()
          await steps.reloadSnapshots()
        }
        mining.discardPending()
        await steps.restorePool()
      })
      await steps.startMining()
    },
  }
}
