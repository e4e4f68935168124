/** Numbered snapshots for `evm_revert`: head, its state root, clock and block overrides, not the pool. Taking one copies no state. */
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { ClockState } from '../clock.ts'
import type { ParentState } from '../parent-chain.ts'
import type { HashSet } from '../pool/hash-set.ts'
import type { BlockOverrideState } from './block-overrides.ts'

/** A snapshot of a node. */
export interface Snapshot {
  /** Hash of the head when it was taken. */
  readonly head: Hex
  /** Height of that block. */
  readonly height: number
  /** Root of the state after it, which differs from the block's own after state edits. */
  readonly postState: Hex
  readonly clock: ClockState
  readonly blockOverrides: BlockOverrideState
  /** Hashes of the pooled transactions, for comparisons: a revert clears the pool. */
  readonly pool: HashSet
  /** Of the parent chain in the node, where there is one. */
  readonly parent?: ParentState | undefined
  /** When it was taken, Unix seconds. */
  readonly time: number
  readonly name: string | undefined
  /** Whether it is on disk and outlives a restart. */
  readonly isKept: boolean
}

/** Most snapshots of a node at a time (docs/operating.md#memory). */
export const MAX_SNAPSHOTS = 10_000

/** Whether it has no name and is not on disk: only such a snapshot is dropped for room, or deleted by a revert. */
function isPlain({ name, isKept }: Snapshot): boolean {
  return name === undefined && !isKept
}

/** The snapshots of a node, numbered from 1 (docs/internals/rpc-reference.md#712-evm), `MAX_SNAPSHOTS` at most. */
export class Snapshots {
  /** In ascending order. */
  readonly #taken = new Map<number, Snapshot>()
  readonly #ids = new Map<string, number>()
  /** The numbers in ascending order, to be removed from the end; some may be of snapshots dropped for room. */
  #order: number[] = []
  /** The plain snapshots in ascending order: those that were reverted to, and the others. */
  readonly #revisited = new Set<number>()
  readonly #unvisited = new Set<number>()
  #last = 0

  /** The number of the next one. */
  get nextId(): number {
    return this.#last + 1
  }

  /**
   * Drops a plain snapshot where there are `MAX_SNAPSHOTS`: the oldest that was reverted to, else the oldest. Throws
   * `too-many` when all have names or are kept.
   */
  makeRoom(): void {
    if (this.#taken.size < MAX_SNAPSHOTS) return
    const [oldest] = this.#revisited.size > 0 ? this.#revisited : this.#unvisited
    if (oldest === undefined) {
      throw new NodeError(
        'too-many',
        `There are ${MAX_SNAPSHOTS} snapshots with names or kept on disk, the most that a node has; revert to an early one to drop those after it.`,
      )
    }
    this.#drop(oldest)
  }

  /** Adds a snapshot and returns its number. Throws as `makeRoom`. */
  take(snapshot: Snapshot): number {
    this.makeRoom()
    const id = this.nextId
    this.restore(id, snapshot)
    return id
  }

  /** Adds a snapshot of an earlier run under its number, which is greater than all others. */
  restore(id: number, snapshot: Snapshot): void {
    this.#taken.set(id, snapshot)
    if (snapshot.name !== undefined) this.#ids.set(snapshot.name, id)
    if (isPlain(snapshot)) this.#unvisited.add(id)
    if (this.#order.length >= 2 * MAX_SNAPSHOTS)
      this.#order = this.#order.filter((one) => this.#taken.has(one))
    this.#order.push(id)
    this.#last = id
  }

  /** All snapshots in order of their numbers. */
  get all(): readonly (readonly [id: number, snapshot: Snapshot])[] {
    return [...this.#taken]
  }

  /** Roots of their states. */
  roots(): ReadonlySet<Hex> {
    const roots = new Set<Hex>()
    for (const { postState } of this.#taken.values()) roots.add(postState)
    return roots
  }

  get(id: number): Snapshot | undefined {
    return this.#taken.get(id)
  }

  /** The number of the snapshot with a name. */
  idOf(name: string): number | undefined {
    return this.#ids.get(name)
  }

  /** The numbers above one, from the last on. */
  *above(id: number): Generator<number, undefined> {
    for (let at = this.#order.length - 1; at >= 0; at--) {
      const other = this.#order[at]
      if (other === undefined || other <= id) return
      if (this.#taken.has(other)) yield other
    }
  }

  /**
   * Deletes the snapshots after a known one, which stays valid; the next number is the one after its own. With `useUp`, a
   * plain one is deleted as well, and no number is used a second time.
   */
  rewindTo(id: number, { useUp }: { readonly useUp: boolean }): void {
    const snapshot = this.#taken.get(id)
    if (snapshot === undefined) return
    for (const later of this.above(id)) this.#drop(later)
    while ((this.#order.at(-1) ?? id) > id) this.#order.pop()
    if (useUp && isPlain(snapshot)) this.#drop(id)
    else if (this.#unvisited.delete(id)) this.#revisited.add(id)
    if (!useUp) this.#last = id
  }

  #drop(id: number): void {
    const name = this.#taken.get(id)?.name
    if (name !== undefined) this.#ids.delete(name)
    this.#taken.delete(id)
    this.#revisited.delete(id)
    this.#unvisited.delete(id)
  }

  /** Deletes all; the next number is 1. */
  clear(): void {
    this.#taken.clear()
    this.#ids.clear()
    this.#order = []
    this.#revisited.clear()
    this.#unvisited.clear()
    this.#last = 0
  }
}
