/** What time the next block has: the wall clock, moved on request. The door to time; `now` is the only clock the node reads. */

/** How far the clock has been moved; part of a snapshot. */
export interface ClockState {
  /** Seconds added to the wall clock. */
  readonly offset: number
  /** Exact timestamp of the next block, Unix seconds. */
  readonly exact: number | undefined
}

const UNMOVED: ClockState = { offset: 0, exact: undefined }

/** The node's clock, in Unix seconds. */
export class Clock {
  readonly #now: () => number
  readonly #lasting: boolean
  #state = UNMOVED

  /**
   * @param now wall clock, Unix seconds.
   * @param options.lasting keep moves for all later blocks, as other development tools do; otherwise they hold for the
   * next block only, as on the real node (rpc-methods 7.12).
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

  /** Timestamp of a block on a parent of this timestamp: always later than the parent. */
  nextTimestamp(parentTimestamp: number): number {
    const { exact, offset } = this.#state
    return Math.max(exact ?? this.#now() + offset, parentTimestamp + 1)
  }

  /** A block was built with the next timestamp: what held for it alone is spent. */
  taken(): void {
    const { exact } = this.#state
    if (!this.#lasting) this.#state = UNMOVED
    // Time goes on from the exact one.
    else if (exact !== undefined) this.#state = { offset: exact - this.#now(), exact: undefined }
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
