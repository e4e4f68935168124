/** Numbered save points for `evm_revert`: head, its state, clock and dials, the pool apart. Their cost does not depend on the state. */
import type { Hex } from '../../encoding/hex.ts'
import type { ClockState } from '../clock.ts'
import type { BlockOverrideState } from './block-overrides.ts'

/** What a save point remembers. */
export interface Snapshot {
  /** Hash of the head when it was taken. */
  readonly head: Hex
  /** Its height. */
  readonly height: number
  /** Root of the state after it, which edits may have moved since the block was made. */
  readonly postState: Hex
  readonly clock: ClockState
  readonly blockOverrides: BlockOverrideState
}

/** The save points of a node, numbered from 1 (docs/rpc-reference.md#712-evm). */
export class Snapshots {
  #taken: Snapshot[] = []

  /** Takes a save point and gives its number. */
  take(snapshot: Snapshot): number {
    return this.#taken.push(snapshot)
  }

  /** All that can be gone back to, in order of their numbers. */
  get all(): readonly Snapshot[] {
    return this.#taken
  }

  /**
   * The save point of this number, which stays valid while later ones are dropped. `undefined`, with nothing dropped,
   * when there is none or its block no longer `stands`.
   */
  rewindTo(id: number, stands: (head: Hex) => boolean): Snapshot | undefined {
    const found = this.#taken[id - 1]
    if (found === undefined || !stands(found.head)) return undefined
    this.#taken.length = id
    return found
  }

  /** Forgets all; the next number is 1. */
  clear(): void {
    this.#taken = []
  }
}
