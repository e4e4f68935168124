/** What time the next block has: the wall clock, moved on request. The door to time; `now` is the only clock the node reads. */

/** Latest timestamp that the node works with, seconds: beyond it dates lose their meaning in JavaScript. */
export const LATEST_TIMESTAMP = 8_640_000_000_000

/** How far the clock has been moved; part of a snapshot. */
export interface ClockState {
  /** Seconds added to the wall clock. */
  readonly offset: number
  /** Exact timestamp of the next block, Unix seconds. */
  readonly exact: number | undefined
  /** Seconds between a block and the next, instead of the wall clock; `undefined` follows the wall clock. */
  readonly interval: number | undefined
}

const UNMOVED: ClockState = { offset: 0, exact: undefined, interval: undefined }

/** The node's clock, in Unix seconds. */
export class Clock {
  readonly #now: () => number
  readonly #lasting: boolean
  #state = UNMOVED

  /**
   * @param now wall clock, Unix seconds.
   * @param options.lasting keep moves for all later blocks, as other development tools do; otherwise they hold for the
   * next block only, as on the real node (docs/rpc-reference.md#712-evm).
   */
  constructor(now: () => number, options: { readonly lasting: boolean }) {
    this.#now = now
    this.#lasting = options.lasting
  }

  /** Adds seconds to what the next block has; zero or less changes nothing. Gives the total that is pending. */
  increase(seconds: number): number {
    if (seconds > 0) this.#state = { ...this.#state, offset: this.#state.offset + seconds }
    return this.#state.offset
  }

  /** Sets the next block's timestamp exactly; the caller has checked that it exceeds the head's. */
  setNext(timestamp: number): void {
    this.#state = { ...this.#state, exact: timestamp }
  }

  /** Moves the wall clock to a time, Unix seconds, forward or back. Gives how far it is from the real one, seconds. */
  moveTo(time: number): number {
    const offset = time - this.#now()
    this.#state = { ...this.#state, offset, exact: undefined }
    return offset
  }

  /** Sets the seconds between blocks, or goes back to the wall clock; what an interval finds set exactly goes first. */
  setInterval(seconds: number | undefined): void {
    this.#state = { ...this.#state, interval: seconds }
  }

  /** Timestamp of a block on a parent of this timestamp: always later than the parent. */
  nextTimestamp(parentTimestamp: number): number {
    const { exact, offset, interval } = this.#state
    const flowing = interval === undefined ? this.#now() + offset : parentTimestamp + interval
    return Math.max(exact ?? flowing, parentTimestamp + 1)
  }

  /** A block was built with the next timestamp: what held for it alone is spent. */
  taken(): void {
    const { exact, interval } = this.#state
    if (!this.#lasting) this.#state = interval === undefined ? UNMOVED : { ...UNMOVED, interval }
    // Time goes on from the exact one.
    else if (exact !== undefined) this.#state = { offset: exact - this.#now(), exact: undefined, interval }
  }

  save(): ClockState {
    return this.#state
  }

  restore(state: ClockState): void {
    this.#state = state
  }

  /** Back to the wall clock. */
  reset(): void {
    this.#state = UNMOVED
  }
}
