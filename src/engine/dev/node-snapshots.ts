/** The snapshots of a node: takes them, reverts to them, and resets the node to genesis. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { Write } from '../../store/table.ts'
import { snapshotTable } from '../../store/tables.ts'
import { withParentAt } from '../parent-chain.ts'
import type { EngineParts } from '../parts.ts'
import { createSnapshotDiff, type SnapshotDiff } from './snapshot-diff.ts'
import { recordLength, recordOf, snapshotOf } from './snapshot-records.ts'
import { type Snapshot, Snapshots } from './snapshots.ts'

/** How a snapshot is taken. */
export interface SnapshotRequest {
  /** Another way to find it; no other snapshot may have it. */
  readonly name?: string | undefined
  /** Lets it outlive a restart of the node. */
  readonly keep?: boolean | undefined
}

/** How a snapshot is reverted to. */
export interface RevertOptions {
  /** Delete a snapshot that has no name and is not kept, and never give its number to another. */
  readonly useUp?: boolean | undefined
}

/** Commands on snapshots; each runs in the engine's queue of commands. */
export interface SnapshotCommands {
  /** Takes a snapshot; ids count from 1. Throws `invalid-params` for a name that is in use, `too-many`. */
  snapshot(request?: SnapshotRequest): Promise<number>
  /**
   * Reverts to a snapshot; false when the id is unknown or its block is no longer canonical. The snapshot stays valid,
   * except with `useUp`.
   */
  revert(id: number, options?: RevertOptions): Promise<boolean>
  /** Back to genesis as in the network's file; clears snapshots, pool, clock, block overrides and impersonation. */
  reset(): Promise<void>
}

/** A snapshot as clients list it. */
export interface SnapshotView {
  readonly id: number
  readonly height: number
  /** Of the head when it was taken. */
  readonly hash: Hex
  readonly name: string | undefined
  /** When it was taken, Unix seconds. */
  readonly time: number
  /** Length of its record; blocks and states belong to the chain. */
  readonly bytes: number
}

/** A snapshot as clients list it, whose size is computed when it is read. */
function viewOf(id: number, snapshot: Snapshot): SnapshotView {
  const { height, head, name, time } = snapshot
  return {
    id,
    height,
    hash: head,
    name,
    time,
    get bytes() {
      return recordLength(snapshot)
    },
  }
}

/** The snapshots of a node, those kept on disk included. Its commands must not overlap: each belongs to a job of the queue. */
export class NodeSnapshots implements SnapshotCommands {
  readonly #parts: EngineParts
  readonly #table: ReturnType<typeof snapshotTable>
  readonly #snapshots = new Snapshots()
  readonly #diff: (before: Snapshot, after: Snapshot) => SnapshotDiff
  #instanceId: Hex

  private constructor(parts: EngineParts) {
    this.#parts = parts
    this.#table = snapshotTable(parts.store)
    this.#diff = createSnapshotDiff(parts)
    this.#instanceId = this.#newInstanceId()
  }

  /** Opens the snapshots of a node with those that were kept on disk. */
  static async open(parts: EngineParts): Promise<NodeSnapshots> {
    const opened = new NodeSnapshots(parts)
    await opened.reload()
    // A snapshot whose block has left the chain counts as well: the block may return.
    parts.collector?.addRoots(() => opened.#snapshots.roots())
    return opened
  }

  /** Drops all but the kept ones, which are read again. */
  async reload(): Promise<void> {
    this.#snapshots.clear()
    for await (const [id, record] of this.#table.range()) {
      this.#snapshots.restore(id, snapshotOf(record, this.#parts.parentChain))
    }
  }

  /** Snapshots that the node can revert to, in order of their ids. */
  list(): readonly SnapshotView[] {
    return this.#snapshots.all.map(([id, snapshot]) => viewOf(id, snapshot))
  }

  /** The id of the snapshot with a name. */
  idOf(name: string): number | undefined {
    return this.#snapshots.idOf(name)
  }

  /**
   * What differs between two snapshots, or a snapshot and now; `undefined` for an unknown id. The cost is proportional to
   * the difference. Throws `block-not-found` when blocks of a snapshot are gone.
   */
  diff(before: number, after: number | undefined): SnapshotDiff | undefined {
    const from = this.#snapshots.get(before)
    const to = after === undefined ? this.#current() : this.#snapshots.get(after)
    return from && to && this.#diff(from, to)
  }

  /** 32 random bytes, new for each run of the node and after each reset. */
  get instanceId(): Hex {
    return this.#instanceId
  }

  async snapshot(request: SnapshotRequest = {}): Promise<number> {
    const { name } = request
    if (name !== undefined && this.#snapshots.idOf(name) !== undefined) {
      throw invalidParams(`name: there is a snapshot "${name}" already; revert to it, or choose another name`)
    }
    this.#snapshots.makeRoom()
    const snapshot = this.#current(request)
    if (snapshot.isKept) {
      await this.#parts.store.batch([this.#table.put(this.#snapshots.nextId, recordOf(snapshot))])
    }
    return this.#snapshots.take(snapshot)
  }

  async revert(id: number, { useUp = false }: RevertOptions = {}): Promise<boolean> {
    const { blockchain, chainWriter, blockOverrides, clock, mining, parentChain } = this.#parts
    const snapshot = this.#snapshots.get(id)
    if (snapshot === undefined || blockchain.isCanonical(snapshot.head) !== true) return false
    const isSameBlock = snapshot.head === blockchain.head.hash
    const isSameState = snapshot.postState === blockchain.head.postState
    const forgotten = this.#forgetAbove(id)
    await withParentAt(parentChain, snapshot.parent, (writes) =>
      this.#moveTo(snapshot, [...forgotten, ...writes]),
    )
    this.#snapshots.rewindTo(id, { useUp })
    const needsPoolCheck = isSameBlock && (!isSameState || snapshot.blockOverrides !== blockOverrides.save())
    blockOverrides.restore(snapshot.blockOverrides)
    // Hardhat has no snapshots that are kept: theirs would move the clock by the time that the node was down.
    const takenAt = snapshot.isKept ? this.#parts.now() : snapshot.time
    clock.revert(snapshot.clock, takenAt, blockchain.head.block.header.timestamp)
    mining.discardPending()
    if (needsPoolCheck) await chainWriter.revalidatePool()
    return true
  }

  async reset(): Promise<void> {
    const { blockchain, clock, blockOverrides, impersonation, parentChain } = this.#parts
    const forgotten = this.#forgetAbove(0)
    this.#snapshots.clear()
    clock.reset()
    blockOverrides.reset()
    impersonation.clear()
    this.#instanceId = this.#newInstanceId()
    await withParentAt(parentChain, parentChain?.initial(), (writes) =>
      this.#rewind(blockchain.pristineGenesis, [...forgotten, ...writes]),
    )
  }

  #newInstanceId(): Hex {
    return toHex(this.#parts.random('instance', 32))
  }

  /** The snapshot that would be taken now. */
  #current({ name, keep = false }: SnapshotRequest = {}): Snapshot {
    const { blockchain, clock, blockOverrides, persistedPool, parentChain, now } = this.#parts
    const { hash, postState, block } = blockchain.head
    return {
      head: hash,
      height: block.header.number,
      postState,
      clock: clock.save(),
      blockOverrides: blockOverrides.save(),
      pool: persistedPool.hashes,
      parent: parentChain?.save(),
      time: now(),
      name,
      isKept: keep,
    }
  }

  /** The writes that delete the kept snapshots above an id. */
  #forgetAbove(id: number): Write[] {
    const writes: Write[] = []
    for (const later of this.#snapshots.above(id)) {
      if (this.#snapshots.get(later)?.isKept) writes.push(this.#table.del(later))
    }
    return writes
  }

  /** Puts the chain at the block and the state of a snapshot. */
  async #moveTo({ head, postState }: Snapshot, alsoWrite: readonly Write[]): Promise<void> {
    const { store, blocks, blockchain } = this.#parts
    const block = blocks.get(head)
    if (block === undefined) throw new Error(`block ${head} of a snapshot is missing from the store`)
    const target = { ...block, postState }
    if (head !== blockchain.head.hash) await this.#rewind(target, alsoWrite)
    else if (postState !== blockchain.head.postState) await blockchain.rewind(target, alsoWrite)
    else if (alsoWrite.length > 0) await store.batch(alsoWrite)
  }

  async #rewind(target: ExecutedBlock, alsoWrite: readonly Write[]): Promise<void> {
    const { blockchain, persistedPool, pool, chainWriter } = this.#parts
    const update = await blockchain.rewind(target, [...persistedPool.clear(), ...alsoWrite])
    // As in the reference node: a rewind clears the pool, and the removed transactions do not return to it.
    pool.clear()
    chainWriter.publish(update, [])
  }
}
