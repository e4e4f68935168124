/** What development clients ask the next blocks to be like: who is rewarded, how much gas they hold, what gas costs at least. */
import type { Hex } from '../../encoding/hex.ts'

/** Members of the next header that were asked for by hand and not worked out from the parent. Gas, and wei per gas. */
export interface HeaderOverrides {
  readonly gasLimit?: bigint
  readonly minimumGasPrice?: bigint
}

/** All dials; part of a snapshot. */
export interface BlockOverrideState {
  readonly coinbase: Hex
  readonly asked: HeaderOverrides
}

/**
 * The dials of a node. A gas limit or price that was asked for holds at once, and not by the small steps that the chain
 * allows from block to block: another node would not take such a block. Without one they move as the chain's rules say.
 */
export class BlockOverrides {
  readonly #initial: BlockOverrideState
  #state: BlockOverrideState

  /** @param coinbase who is rewarded unless somebody else is named. */
  constructor(coinbase: Hex) {
    this.#initial = { coinbase, asked: {} }
    this.#state = this.#initial
  }

  /** Who is rewarded for blocks mined here. */
  get coinbase(): Hex {
    return this.#state.coinbase
  }

  /** What blocks mined here must have. */
  get asked(): HeaderOverrides {
    return this.#state.asked
  }

  setCoinbase(coinbase: Hex): void {
    this.#state = { ...this.#state, coinbase }
  }

  /** Asks for more; what was asked before and is not named stays. */
  ask(more: HeaderOverrides): void {
    this.#state = { ...this.#state, asked: { ...this.#state.asked, ...more } }
  }

  save(): BlockOverrideState {
    return this.#state
  }

  restore(state: BlockOverrideState): void {
    this.#state = state
  }

  /** Back to how the node was started. */
  reset(): void {
    this.#state = this.#initial
  }
}
