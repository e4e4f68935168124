/** Values of the next blocks that a development client has fixed: coinbase, gas limit, minimum gas price. */
import type { Hex } from '../../encoding/hex.ts'
import type { HeaderOverrides } from '../model.ts'

/** All overrides; part of a snapshot. */
export interface BlockOverrideState {
  readonly coinbase: Hex
  readonly header: HeaderOverrides
}

/**
 * The block overrides of a node. A fixed gas limit or minimum gas price applies at once, not in the small steps that the
 * consensus rules allow per block: other nodes would refuse such a block. Without one the consensus rules apply.
 */
export class BlockOverrides {
  readonly #initial: BlockOverrideState
  #state: BlockOverrideState

  /** @param coinbase beneficiary of mined blocks until `setCoinbase` is called. */
  constructor(coinbase: Hex) {
    this.#initial = { coinbase, header: {} }
    this.#state = this.#initial
  }

  /** Beneficiary of blocks mined here. */
  get coinbase(): Hex {
    return this.#state.coinbase
  }

  /** Fixed header fields of blocks mined here. */
  get headerOverrides(): HeaderOverrides {
    return this.#state.header
  }

  setCoinbase(coinbase: Hex): void {
    this.#state = { ...this.#state, coinbase }
  }

  /** Fixes further header fields; fields that are not given keep their overrides. */
  overrideHeader(fields: HeaderOverrides): void {
    this.#state = { ...this.#state, header: { ...this.#state.header, ...fields } }
  }

  save(): BlockOverrideState {
    return this.#state
  }

  restore(state: BlockOverrideState): void {
    this.#state = state
  }

  /** Restores the values that the node was started with. */
  reset(): void {
    this.#state = this.#initial
  }
}
