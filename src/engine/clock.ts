/** The timestamp of the next block: the wall clock plus offsets set on request. The node reads time only through `now`. */

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

/** How a clock continues. */
export interface ClockRules {
  /**
   * Keep offsets for all later blocks, as other development nodes do; otherwise they apply to the next block only, as on
   * the reference node (docs/internals/rpc-reference.md#712-evm).
   */
  readonly lasting: boolean
  /** Whose clock it follows after a revert and after several blocks (`fixtures/clock`); the reference node's unless given. */
  readonly dialect?: 'rsk' | 'hardhat' | 'anvil' | undefined
}

/** The node's clock, in Unix seconds. */
export class Clock {
  readonly #now: () => number
  readonly #rules: ClockRules
  #state = WALL_CLOCK

  /** @param now wall clock, Unix seconds. */
  constructor(now: () => number, rules: ClockRules) {
    this.#now = now
    this.#rules = rules
  }

  /**
   * Adds seconds to the offset; zero or less changes nothing. A lasting clock that is behind the head counts from the
   * head, as Hardhat's and Anvil's do: otherwise blocks mined within one second would use the seconds up. Returns the
   * total offset.
   */
  increase(seconds: number, headTimestamp: number): number {
    if (seconds > 0) {
      const { offset } = this.#state
      const behind = this.#rules.lasting ? Math.max(0, headTimestamp - (this.#now() + offset)) : 0
      this.#state = { ...this.#state, offset: offset + behind + seconds }
    }
    return this.#state.offset
  }

  /** Sets the exact timestamp of the next block; the caller has checked that it exceeds the head's. */
  setNext(timestamp: number): void {
    this.#state = { ...this.#state, exact: timestamp }
  }

  /** Moves the clock to a Unix time, forward or back. Returns the new offset, and how far it was moved, in seconds. */
  moveTo(time: number): { readonly offset: number; readonly moved: number } {
    const offset = time - this.#now()
    const moved = offset - this.#state.offset
    this.#state = { ...this.#state, offset, exact: undefined }
    return { offset, moved }
  }

  /** Sets the seconds between blocks; `undefined` follows the wall clock. An exact timestamp set before applies first. */
  setInterval(seconds: number | undefined): void {
    this.#state = { ...this.#state, interval: seconds }
  }

  /**
   * Sets the time of the next of several blocks that are mined at an interval of seconds. Anvil advances its clock by
   * them before each block; Hardhat puts them between two.
   */
  space(seconds: number, parentTimestamp: number, isFirst: boolean): void {
    if (this.#rules.dialect === 'anvil') this.increase(seconds, parentTimestamp)
    else if (!isFirst) this.setNext(parentTimestamp + Math.max(1, seconds))
  }

  /** Timestamp of a block on a parent with this timestamp: always later than the parent. */
  nextTimestamp(parentTimestamp: number): number {
    const { exact, offset, interval } = this.#state
    const running = interval === undefined ? this.#now() + offset : parentTimestamp + interval
    return Math.max(exact ?? running, parentTimestamp + 1)
  }

  /**
   * To be called after a block with this timestamp was mined: settings for that block alone are cleared. A lasting clock continues from a timestamp
   * that was set, here or by the request (`given`); Hardhat's also from one that was raised above the parent's.
   */
  blockMined(timestamp: number, { given = false } = {}): void {
    const { exact, interval, offset } = this.#state
    const { lasting, dialect } = this.#rules
    const reached = timestamp - this.#now()
    if (!lasting) this.#state = interval === undefined ? WALL_CLOCK : { ...WALL_CLOCK, interval }
    else if (given || exact !== undefined || (dialect === 'hardhat' && reached > offset))
      this.#state = { offset: reached, exact: undefined, interval }
  }

  /** A clock of the same state, which changes by itself. */
  copy(): Clock {
    const copy = new Clock(this.#now, this.#rules)
    copy.#state = this.#state
    return copy
  }

  save(): ClockState {
    return this.#state
  }

  restore(state: ClockState): void {
    this.#state = state
  }

  /**
   * Restores the state of a snapshot, taken at a time (Unix seconds), with the timestamp of its head. Anvil's clock
   * continues from the head and keeps its interval; Hardhat's also advances by the seconds since the snapshot.
   */
  revert(state: ClockState, takenAt: number, headTimestamp: number): void {
    const now = this.#now()
    const { dialect } = this.#rules
    if (dialect === 'anvil') {
      this.#state = { offset: headTimestamp - now, exact: undefined, interval: this.#state.interval }
    } else if (dialect === 'hardhat') {
      this.#state = { ...state, offset: state.offset + Math.max(0, now - takenAt) }
    } else this.#state = state
  }

  /** Removes all offsets. */
  reset(): void {
    this.#state = WALL_CLOCK
  }
}
