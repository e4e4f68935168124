/** The Bitcoin chain in the node, as the engine knows it: its states go with those of this chain. */
import {
  type Bitcoin,
  type BitcoinState,
  createBitcoin,
  decodeState,
  encodeState,
  stateAfter,
} from '../bitcoin/bitcoin.ts'
import { bestBlock } from '../bitcoin/chain/state.ts'
import type { Transaction } from '../chain/transaction.ts'
import { outsideRecordIn } from '../engine/outside-record.ts'
import {
  decodeEntries,
  encodeEntries,
  type ParentChain,
  type ParentState,
  type ParentTemplate,
  type ProvenBlock,
} from '../engine/parent-chain.ts'
import type { Write } from '../store/table.ts'
import type { BitcoinEntries } from './bitcoin-entries.ts'
import { FAUCET_SCRIPT } from './faucet.ts'
import { FoundBlocks, provingCoinbase } from './merged-block.ts'

/**
 * Blocks of a new chain: the Bridge knows the present kinds of transactions from height 350 on, and rewards can be spent
 * after 100 blocks.
 */
export const FIRST_BLOCKS = 450

/** A new chain, kept nowhere. `clock`: seconds since 1970. */
export function newBitcoin(clock: () => number): Bitcoin {
  const bitcoin = createBitcoin({ clock, seed: new Uint8Array(32) })
  bitcoin.mine(FIRST_BLOCKS, FAUCET_SCRIPT)
  return bitcoin
}

/** The chain with its entries in the database. */
export class BitcoinParent implements ParentChain {
  readonly bitcoin: Bitcoin
  readonly #entries: BitcoinEntries
  /** Where the chain began; made again where that was in an earlier process. */
  #first: BitcoinState | undefined
  /** What the federation sends for the next block. */
  turn: () => Promise<readonly Transaction[]> = async () => []

  readonly #found: FoundBlocks

  /**
   * `blocksPer`: blocks of this chain for each one that proves one and is added to the Bitcoin chain; 0 adds none. `first`:
   * where the chain began, unless that is a new chain.
   */
  constructor(bitcoin: Bitcoin, entries: BitcoinEntries, blocksPer: number, first?: BitcoinState) {
    this.bitcoin = bitcoin
    this.#entries = entries
    this.#first = first
    this.#found = new FoundBlocks(blocksPer)
  }

  /** Begins the chain where the database has none. */
  begin(): void {
    if (bestBlock(this.bitcoin.chain.state).height === 0) this.bitcoin.restore(this.#beginning())
  }

  save(): ParentState {
    const state = this.bitcoin.snapshot()
    return { restore: () => this.#restore(state), encode: () => encodeEntries(encodeState(state)) }
  }

  initial(): ParentState {
    const state = () => this.#beginning()
    return { restore: () => this.#restore(state()), encode: () => encodeEntries(encodeState(state())) }
  }

  decode(bytes: Uint8Array): ParentState {
    const state = () => {
      const entries = decodeEntries(bytes)
      if (outsideRecordIn(entries) === undefined) return decodeState(entries)
      throw new RangeError('it is that of a Bitcoin node of its own (--bitcoin-rpc)')
    }
    return { restore: () => this.#restore(state()), encode: () => bytes }
  }

  template(hash: Uint8Array, attempt: number): ParentTemplate {
    return this.#found.templateOf(this.bitcoin.chain.assemble(provingCoinbase(hash, attempt)))
  }

  accept(blocks: readonly ProvenBlock[]): readonly Write[] {
    return this.#found
      .take(blocks)
      .flatMap((block) => this.#entries.collect(() => this.bitcoin.chain.submit(block)))
  }

  transactions(): Promise<readonly Transaction[]> {
    return this.turn()
  }

  async follow(keys: readonly string[]): Promise<void> {
    const changes = keys.map((key) => ({ key, value: this.#entries.stored(key) }))
    const state = stateAfter(this.bitcoin.snapshot(), changes)
    if (state === undefined) return this.reload()
    this.#entries.adopt(() => this.bitcoin.restore(state))
  }

  async reload(): Promise<void> {
    const state = decodeState(await this.#entries.all())
    this.#entries.adopt(() => this.bitcoin.restore(state))
  }

  #beginning(): BitcoinState {
    this.#first ??= newBitcoin(this.bitcoin.clock).snapshot()
    return this.#first
  }

  #restore(state: BitcoinState): readonly Write[] {
    return this.#entries.collect(() => this.bitcoin.restore(state))
  }
}
