/** The commands that take snapshots, revert to them, and reset the node to genesis. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { KeptSnapshot } from '../../store/records.ts'
import type { Write } from '../../store/table.ts'
import { snapshotTable } from '../../store/tables.ts'
import type { EngineParts } from '../parts.ts'
import type { Enqueue } from '../serial-queue.ts'
import { createSnapshotDiff, type SnapshotDiff } from './snapshot-diff.ts'
import { type Snapshot, Snapshots } from './snapshots.ts'

/** How a snapshot is taken. */
export interface SnapshotRequest {
  /** By which it is found as well; no other snapshot may have it. */
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
  /** Takes a snapshot; its id counts from 1. Throws `invalid-params` for a name that is taken, `too-many`. */
  snapshot(request?: SnapshotRequest): Promise<number>
  /**
   * Reverts to a snapshot; false when the id is unknown or its block is no longer canonical. It stays valid, unless it is
   * to be used up and has no name and is not kept.
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

/** The snapshots of a node. */
export interface NodeSnapshots {
  /** For the calls whose jobs `enqueue` runs. */
  readonly commands: (enqueue: Enqueue) => SnapshotCommands
  /** Snapshots that the node can revert to, in order of their ids. */
  list(): readonly SnapshotView[]
  /** The id of the snapshot with a name. */
  idOf(name: string): number | undefined
  /**
   * What differs between two snapshots, or a snapshot and now; `undefined` for an unknown id. The cost is proportional to
   * the difference.
   */
  diff(before: number, after: number | undefined): SnapshotDiff | undefined
  /** 32 random bytes, new for each run of the node and after each reset. */
  instanceId(): Hex
  /** Forgets all but those that were kept, which are read again. */
  reload(): Promise<void>
}

function recordOf({ clock, blockOverrides, pool, isKept: _, ...rest }: Snapshot): KeptSnapshot {
  const { gasLimit, minimumGasPrice } = blockOverrides.header
  const { offset, exact, interval } = clock
  return {
    ...rest,
    pool: [...pool],
    clock: { offset, ...(exact !== undefined && { exact }), ...(interval !== undefined && { interval }) },
    coinbase: blockOverrides.coinbase,
    ...(gasLimit !== undefined && { gasLimit: toQuantity(gasLimit) }),
    ...(minimumGasPrice !== undefined && { minimumGasPrice: toQuantity(minimumGasPrice) }),
  }
}

/** Length of a hash in a list in JSON: 66 characters, quotes, and a comma. */
const LISTED_HASH = 69

/** Length of the record of a snapshot, without going through the pool that it holds. */
function recordLength(snapshot: Snapshot): number {
  const empty = JSON.stringify(recordOf({ ...snapshot, pool: new Set() })).length
  return empty + Math.max(0, snapshot.pool.size * LISTED_HASH - 1)
}

function snapshotOf({ clock, coinbase, gasLimit, minimumGasPrice, pool, ...rest }: KeptSnapshot): Snapshot {
  const { offset, exact, interval } = clock
  return {
    ...rest,
    name: rest.name,
    pool: new Set(pool),
    clock: { offset, exact, interval },
    blockOverrides: {
      coinbase,
      header: {
        ...(gasLimit !== undefined && { gasLimit: BigInt(gasLimit) }),
        ...(minimumGasPrice !== undefined && { minimumGasPrice: BigInt(minimumGasPrice) }),
      },
    },
    isKept: true,
  }
}

/** Makes the snapshot commands of a node with the snapshots that were kept. */
export async function createSnapshots(parts: EngineParts): Promise<NodeSnapshots> {
  const { store, blocks, blockchain, chainWriter, pool, persistedPool, mining, clock } = parts
  const { blockOverrides, random } = parts
  const newInstanceId = () => toHex(random('instance', 32))
  const table = snapshotTable(store)
  const snapshots = new Snapshots()
  let instanceId = newInstanceId()

  async function reload(): Promise<void> {
    snapshots.clear()
    for await (const [id, record] of table.range()) snapshots.restore(id, snapshotOf(record))
  }

  await reload()
  // Also of a snapshot whose block has left the chain, for that may come back.
  parts.collector?.addRoots(() => snapshots.roots())

  async function rewind(target: ExecutedBlock, alsoWrite: readonly Write[]): Promise<void> {
    const update = await blockchain.rewind(target, [...persistedPool.clear(), ...alsoWrite])
    // As in the reference node: a rewind clears the pool, and the removed transactions do not return to it.
    pool.clear()
    chainWriter.publish(update, [])
  }

  /** The snapshot that would be taken now. */
  function current({ name, keep = false }: SnapshotRequest = {}): Snapshot {
    const { hash, postState, block } = blockchain.head
    return {
      head: hash,
      height: block.header.number,
      postState,
      clock: clock.save(),
      blockOverrides: blockOverrides.save(),
      pool: persistedPool.share(),
      time: parts.now(),
      name,
      isKept: keep,
    }
  }

  /** The writes that delete the kept snapshots above an id. */
  function forgetAbove(id: number): Write[] {
    const writes: Write[] = []
    for (const later of snapshots.above(id)) if (snapshots.get(later)?.isKept) writes.push(table.del(later))
    return writes
  }

  const commands = (enqueue: Enqueue): SnapshotCommands => ({
    snapshot: (request = {}) =>
      enqueue(async () => {
        const { name } = request
        if (name !== undefined && snapshots.idOf(name) !== undefined) {
          throw invalidParams(
            `name: there is a snapshot "${name}" already; revert to it, or choose another name`,
          )
        }
        snapshots.makeRoom()
        const snapshot = current(request)
        if (snapshot.isKept) await store.batch([table.put(snapshots.nextId, recordOf(snapshot))])
        return snapshots.take(snapshot)
      }),

    revert: (id, { useUp = false } = {}) =>
      enqueue(async () => {
        const snapshot = snapshots.get(id)
        if (snapshot === undefined || blockchain.isCanonical(snapshot.head) !== true) return false
        const forgotten = forgetAbove(id)
        const block = blocks.get(snapshot.head)
        if (block === undefined)
          throw new Error(`block ${snapshot.head} of a snapshot is missing from the store`)
        const { hash, postState } = blockchain.head
        const target = { ...block, postState: snapshot.postState }
        if (snapshot.head !== hash) await rewind(target, forgotten)
        else if (snapshot.postState !== postState) await blockchain.rewind(target, forgotten)
        else if (forgotten.length > 0) await store.batch(forgotten)
        snapshots.rewindTo(id, { useUp })
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
        const forgotten = forgetAbove(0)
        snapshots.clear()
        clock.reset()
        blockOverrides.reset()
        parts.impersonation.clear()
        instanceId = newInstanceId()
        await rewind(blockchain.pristineGenesis, forgotten)
      }),
  })

  const diff = createSnapshotDiff(parts)
  return {
    commands,
    list: () =>
      snapshots.all.map(([id, snapshot]) => ({
        id,
        height: snapshot.height,
        hash: snapshot.head,
        name: snapshot.name,
        time: snapshot.time,
        get bytes() {
          return recordLength(snapshot)
        },
      })),
    idOf: (name) => snapshots.idOf(name),
    diff(before, after) {
      const from = snapshots.get(before)
      const to = after === undefined ? current() : snapshots.get(after)
      return from && to && diff(from, to)
    },
    instanceId: () => instanceId,
    reload,
  }
}
