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
}

/** The snapshots of a node, numbered from 1 (docs/rpc-reference.md#712-evm). */
export class Snapshots {
  #taken: Snapshot[] = []

  /** Adds a snapshot and returns its number. */
  take(snapshot: Snapshot): number {
    return this.#taken.push(snapshot)
  }

  /** All snapshots in order of their numbers. */
  get all(): readonly Snapshot[] {
    return this.#taken
  }

  /**
   * The snapshot with this number; it stays valid, later ones are deleted. `undefined`, with nothing deleted, when there
   * is none or its head fails `isCanonical`.
   */
  rewindTo(id: number, isCanonical: (head: Hex) => boolean): Snapshot | undefined {
    const found = this.#taken[id - 1]
    if (found === undefined || !isCanonical(found.head)) return undefined
    this.#taken.length = id
    return found
  }

  /** Deletes all; the next number is 1. */
  clear(): void {
    this.#taken = []
  }
}
