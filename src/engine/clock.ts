/** The timestamp of the next block: the wall clock plus offsets set on request. The node reads time only through `now`. */

/** Latest supported timestamp, Unix seconds: the end of JavaScript's range of dates. */
export const LATEST_TIMESTAMP = 8_640_000_000_000

/** State of the clock; part of a snapshot. */
export interface ClockState {
  /** Clock offset: seconds added to the wall clock. */
  readonly offset: number
  /** Exact timestamp of the next block, Unix seconds. */
  readonly exact: number | undefined
  /** Seconds between a block and the next, instead of the wall clock; `undefined` follows the wall clock. */
  readonly interval: number | undefined
}

const WALL_CLOCK: ClockState = { offset: 0, exact: undefined, interval: undefined }

/** The node's clock, in Unix seconds. */
export class Clock {
  readonly #now: () => number
  readonly #lasting: boolean
  #state = WALL_CLOCK

  /**
   * @param now wall clock, Unix seconds.
   * @param options.lasting keep offsets for all later blocks, as other development nodes do; otherwise they apply to the
   * next block only, as on the reference node (docs/internals/rpc-reference.md#712-evm).
   */
  constructor(now: () => number, options: { readonly lasting: boolean }) {
    this.#now = now
    this.#lasting = options.lasting
  }

  /**
   * Adds seconds to the offset; zero or less changes nothing. A lasting clock that is behind the head counts from the
   * head, as Hardhat's and Anvil's do: otherwise blocks mined within one second would use the seconds up. Returns the
   * total offset.
   */
  increase(seconds: number, headTimestamp: number): number {
    if (seconds > 0) {
      const { offset } = this.#state
      const behind = this.#lasting ? Math.max(0, headTimestamp - (this.#now() + offset)) : 0
      this.#state = { ...this.#state, offset: offset + behind + seconds }
    }
    return this.#state.offset
  }

  /** Sets the exact timestamp of the next block; the caller has checked that it exceeds the head's. */
  setNext(timestamp: number): void {
    this.#state = { ...this.#state, exact: timestamp }
  }

  /** Moves the clock to a Unix time, forward or back. Returns the offset from the wall clock, seconds. */
  moveTo(time: number): number {
    const offset = time - this.#now()
    this.#state = { ...this.#state, offset, exact: undefined }
    return offset
  }

  /** Sets the seconds between blocks; `undefined` follows the wall clock. An exact timestamp set before applies first. */
  setInterval(seconds: number | undefined): void {
    this.#state = { ...this.#state, interval: seconds }
  }

  /** Timestamp of a block on a parent with this timestamp: always later than the parent. */
  nextTimestamp(parentTimestamp: number): number {
    const { exact, offset, interval } = this.#state
    const running = interval === undefined ? this.#now() + offset : parentTimestamp + interval
    return Math.max(exact ?? running, parentTimestamp + 1)
  }

  /** Marks the next timestamp as used by a block: settings for that block alone are cleared. */
  taken(): void {
    const { exact, interval } = this.#state
    if (!this.#lasting) this.#state = interval === undefined ? WALL_CLOCK : { ...WALL_CLOCK, interval }
    // The clock continues from the exact timestamp.
    else if (exact !== undefined) this.#state = { offset: exact - this.#now(), exact: undefined, interval }
  }

  save(): ClockState {
    return this.#state
  }

  restore(state: ClockState): void {
    this.#state = state
  }

  /** Removes all offsets. */
  reset(): void {
    this.#state = WALL_CLOCK
  }
}
