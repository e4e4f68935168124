/** Numbered snapshots for `evm_revert`: head, its state root, clock and block overrides, not the pool. Taking one copies no state. */
import type { Hex } from '../../encoding/hex.ts'
import type { ClockState } from '../clock.ts'
import type { BlockOverrideState } from './block-overrides.ts'

/** What a snapshot holds. */
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
  readonly pool: ReadonlySet<Hex>
  /** When it was taken, Unix seconds. */
  readonly time: number
  readonly name: string | undefined
  /** Does it outlive a restart? */
  readonly isKept: boolean
}

/** The snapshots of a node, numbered from 1 (docs/rpc-reference.md#712-evm). */
export class Snapshots {
  /** In ascending order. */
  readonly #taken = new Map<number, Snapshot>()
  #last = 0

  /** The number of the next one. */
  get nextId(): number {
    return this.#last + 1
  }

  /** Adds a snapshot and returns its number. */
  take(snapshot: Snapshot): number {
    const id = this.nextId
    this.restore(id, snapshot)
    return id
  }

  /** Adds a snapshot of an earlier run under its number, which is greater than all others. */
  restore(id: number, snapshot: Snapshot): void {
    this.#taken.set(id, snapshot)
    this.#last = id
  }

  /** All snapshots in order of their numbers. */
  get all(): readonly (readonly [id: number, snapshot: Snapshot])[] {
    return [...this.#taken]
  }

  get(id: number): Snapshot | undefined {
    return this.#taken.get(id)
  }

  /**
   * The snapshot with this number; it stays valid, later ones are deleted. `undefined`, with nothing deleted, when there
   * is none or its head fails `isCanonical`.
   */
  rewindTo(id: number, isCanonical: (head: Hex) => boolean): Snapshot | undefined {
    const found = this.#taken.get(id)
    if (found === undefined || !isCanonical(found.head)) return undefined
    for (const later of [...this.#taken.keys()]) if (later > id) this.#taken.delete(later)
    this.#last = id
    return found
  }

  /** Deletes all; the next number is 1. */
  clear(): void {
    this.#taken.clear()
    this.#last = 0
  }
}
