/** The commands that take snapshots, revert to them, and reset the node to genesis. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { EngineParts } from '../parts.ts'
import { Snapshots } from './snapshots.ts'

/** Commands on snapshots; each runs in the engine's queue of commands. */
export interface SnapshotCommands {
  /** Takes a snapshot; its id counts from 1. */
  snapshot(): Promise<number>
  /** Reverts to a snapshot; false when the id is unknown or its block is no longer canonical. */
  revert(id: number): Promise<boolean>
  /** Back to genesis as in the network's file; clears snapshots, pool, clock, block overrides and impersonation. */
  reset(): Promise<void>
}

/** A snapshot as clients list it. */
export interface SnapshotView {
  readonly id: number
  readonly height: number
  /** Of the head when it was taken. */
  readonly hash: Hex
}

/** The snapshots of a node. */
export interface NodeSnapshots {
  readonly commands: SnapshotCommands
  /** Snapshots that the node can revert to, in order of their ids. */
  list(): readonly SnapshotView[]
  /** 32 random bytes, new for each run of the node and after each reset. */
  instanceId(): Hex
}

/** Makes the snapshot commands of a node without snapshots. */
export function createSnapshots(parts: EngineParts): NodeSnapshots {
  const {
    enqueue,
    blocks,
    blockchain,
    chainWriter,
    pool,
    persistedPool,
    mining,
    clock,
    blockOverrides,
    random,
  } = parts
  const newInstanceId = () => toHex(random('instance', 32))
  const snapshots = new Snapshots()
  let instanceId = newInstanceId()

  async function rewind(target: ExecutedBlock): Promise<void> {
    const update = await blockchain.rewind(target, persistedPool.clear())
    // As in the reference node: a rewind clears the pool, and the removed transactions do not return to it.
    pool.clear()
    chainWriter.publish(update, [])
  }

  const commands: SnapshotCommands = {
    snapshot: () =>
      enqueue(async () => {
        const { hash, postState, block } = blockchain.head
        const height = block.header.number
        return snapshots.take({
          head: hash,
          height,
          postState,
          clock: clock.save(),
          blockOverrides: blockOverrides.save(),
        })
      }),

    revert: (id) =>
      enqueue(async () => {
        const snapshot = snapshots.rewindTo(id, (hash) => blockchain.isCanonical(hash) === true)
        if (snapshot === undefined) return false
        const block = blocks.get(snapshot.head)
        if (block === undefined)
          throw new Error(`block ${snapshot.head} of a snapshot is missing from the store`)
        const { hash, postState } = blockchain.head
        const target = { ...block, postState: snapshot.postState }
        if (snapshot.head !== hash) await rewind(target)
        else if (snapshot.postState !== postState) await blockchain.rewind(target)
        const keepsPool =
          snapshot.head === hash &&
          (snapshot.postState !== postState || snapshot.blockOverrides !== blockOverrides.save())
        blockOverrides.restore(snapshot.blockOverrides)
        clock.restore(snapshot.clock)
        mining.discardPending()
        if (keepsPool) await chainWriter.revalidatePool()
        return true
      }),

    reset: () =>
      enqueue(async () => {
        snapshots.clear()
        clock.reset()
        blockOverrides.reset()
        parts.impersonation.clear()
        instanceId = newInstanceId()
        await rewind(blockchain.pristineGenesis)
      }),
  }

  return {
    commands,
    list: () => snapshots.all.map(({ head, height }, index) => ({ id: index + 1, height, hash: head })),
    instanceId: () => instanceId,
  }
}
