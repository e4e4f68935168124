/**
 * The engine of a node whose database another node of the cluster changes: takes over its batches, updates what is in
 * memory, and emits the same events.
 */
import type { ExecutedBlock } from '../chain/block.ts'
import type { Transaction } from '../chain/transaction.ts'
import { type Change, hashKey, heightKey, nameKey } from '../store/table.ts'
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
   * Calls `replace`, which replaces all tables, then reads everything again and emits what that changed within the last
   * `KEPT_BLOCKS` blocks.
   */
  replaceTables(replace: () => Promise<void>): Promise<void>
  /** Stops mining; the pool is that of the disk. Resolves after the running command. */
  follow(): Promise<void>
  /**
   * Starts to lead: restores the pool and starts mining, as at a start of the node. What a leader has in memory only
   * (clock, snapshots, block overrides, impersonated accounts) is kept if this node was also the last leader.
   */
  lead(wasLeader: boolean): Promise<void>
}

interface Steps {
  /** Adds to the queue of the commands; a node that does not lead may do so as well. */
  readonly enqueue: Enqueue
  /** Fills the empty pool from disk, and deletes there what is no longer valid. */
  readonly restorePool: () => Promise<void>
  /** Reads kept snapshots and the order of sources again. */
  readonly reloadRecords: () => Promise<void>
  readonly startMining: () => Promise<void>
}

/** Blocks below the head that are kept while the tables are replaced, to be reported as removed. */
const KEPT_BLOCKS = 512

/** The replica of an engine. */
export class EngineReplica implements Replica {
  readonly #parts: EngineParts
  readonly #steps: Steps

  constructor(parts: EngineParts, steps: Steps) {
    this.#parts = parts
    this.#steps = steps
  }

  get genesis(): ExecutedBlock {
    return this.#parts.blockchain.configuredGenesis
  }

  async apply(
    changes: readonly Change[],
    pooled: readonly Transaction[],
    write: () => Promise<void>,
  ): Promise<void> {
    const { blocks, blockchain, mining, events } = this.#parts
    // Read before the batch is written, which may delete these blocks.
    const removed = this.#canonicalOf(changes, 'del')
    await write()
    await this.#followParent(changes)
    if (pooled.length > 0) events.emit('pool', { added: pooled })
    if (changes.length === 0) return
    blocks.invalidate(changes)
    const update = { removed, added: this.#canonicalOf(changes, 'put') }
    blockchain.reload(update)
    this.#applyToPool(changes, update)
    mining.discardPending()
    this.#emit(update)
  }

  async replaceTables(replace: () => Promise<void>): Promise<void> {
    const { blocks, blockchain, mining } = this.#parts
    const before = this.#lastBlocks()
    await replace()
    blocks.invalidate()
    await this.#parts.parentChain?.reload()
    await this.#reloadPool()
    blockchain.reload(undefined)
    refusedOnDisk(this.#parts)
    mining.discardPending()
    this.#emit(this.#updateFrom(before))
  }

  follow(): Promise<void> {
    const { mining } = this.#parts
    mining.schedule.stop()
    return this.#steps.enqueue(async () => {
      await this.#parts.parentChain?.reload()
      await this.#reloadPool()
      refusedOnDisk(this.#parts)
      mining.discardPending()
    })
  }

  async lead(wasLeader: boolean): Promise<void> {
    const { clock, blockOverrides, impersonation, mining } = this.#parts
    await this.#steps.enqueue(async () => {
      await this.#reloadPool()
      if (!wasLeader) {
        clock.reset()
        blockOverrides.reset()
        impersonation.clear()
        await this.#steps.reloadRecords()
      }
      mining.discardPending()
      await this.#steps.restorePool()
    })
    await this.#steps.startMining()
  }

  async #followParent(changes: readonly Change[]): Promise<void> {
    const { parentChain } = this.#parts
    if (parentChain === undefined) return
    const keys = changes.flatMap(({ prefix, key }) =>
      prefix === PREFIX.parentChain ? [nameKey.decode(key)] : [],
    )
    if (keys.length > 0) await parentChain.follow(keys)
  }

  #emit(update: ChainUpdate): void {
    if (update.removed.length + update.added.length > 0) this.#parts.events.emit('chain', update)
  }

  /** The canonical blocks at the heights of these changes, in their order. */
  #canonicalOf(changes: readonly Change[], type: Change['type']): ExecutedBlock[] {
    const { blocks } = this.#parts
    return changes.flatMap((change) => {
      if (change.prefix !== PREFIX.canonical || change.type !== type) return []
      const hash = blocks.canonicalHash(heightKey.decode(change.key))
      const block = hash === undefined ? undefined : blocks.get(hash)
      return block === undefined ? [] : [block]
    })
  }

  #applyToPool(changes: readonly Change[], update: ChainUpdate): void {
    const { blocks, blockchain, pool } = this.#parts
    if (update.removed.length + update.added.length > 0) {
      pool.apply(update, blockchain.head, this.#parts.headState())
    }
    for (const { prefix, key, type } of changes) {
      if (prefix !== PREFIX.pool) continue
      const hash = hashKey.decode(key)
      const transaction = type === 'put' ? blocks.pool.get(hash) : undefined
      if (transaction === undefined) pool.drop(hash)
      else if (!pool.has(transaction.hash)) this.#addToPool(transaction)
    }
    pool.takeEvicted()
  }

  #addToPool(transaction: Transaction): void {
    const { blockchain, pool } = this.#parts
    try {
      pool.add(transaction, blockchain.head, this.#parts.headState())
    } catch {
      // The leader admitted it under block overrides or a clock that this node does not have.
    }
  }

  /** Empties the pool and reads its hashes from disk; invalid transactions stay there, since only the leader deletes. */
  async #reloadPool(): Promise<void> {
    const { blocks, pool, persistedPool } = this.#parts
    await blocks.reload()
    persistedPool.reload()
    pool.clear()
    pool.takeEvicted()
  }

  /** The last canonical blocks, from the head downwards. */
  #lastBlocks(): ExecutedBlock[] {
    const { blocks, blockchain } = this.#parts
    const last: ExecutedBlock[] = []
    let block: ExecutedBlock | undefined = blockchain.head
    while (block !== undefined && last.length < KEPT_BLOCKS) {
      last.push(block)
      block = block.block.header.number === 0 ? undefined : blocks.get(block.block.header.parentHash)
    }
    return last
  }

  /** The update from these last blocks to the present chain. */
  #updateFrom(before: readonly ExecutedBlock[]): ChainUpdate {
    const { blocks, blockchain } = this.#parts
    const fork = before.findIndex(({ hash }) => blockchain.isCanonical(hash) === true)
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
}
