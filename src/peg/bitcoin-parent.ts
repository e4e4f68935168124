/** The Bitcoin chain in the node, as the engine knows it: its states go with those of this chain. */
import {
  type Bitcoin,
  type BitcoinState,
  createBitcoin,
  decodeState,
  encodeState,
} from '../bitcoin/bitcoin.ts'
import type { Block } from '../bitcoin/chain/block.ts'
import { decodeHeader, encodeHeader, targetOf } from '../bitcoin/chain/header.ts'
import { bestBlock } from '../bitcoin/chain/state.ts'
import { OP, push } from '../bitcoin/script.ts'
import { uint32 } from '../bitcoin/serialization.ts'
import { encodeStripped, type Transaction, txid } from '../bitcoin/transaction.ts'
import { TAG } from '../chain/merged-mining/commitment.ts'
import { branchFromHashes } from '../chain/merged-mining/merkle-branch.ts'
import type { Transaction as ChainTransaction } from '../chain/transaction.ts'
import { concat, EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
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

/**
 * Blocks of a new chain: the Bridge knows the present kinds of transactions from height 350 on, and rewards can be spent
 * after 100 blocks.
 */
export const FIRST_BLOCKS = 450

/** Found blocks that are kept until the blocks that they prove are inserted: those of a long branch. */
const MOST_FOUND = 10_000

/** The state of a new chain. `clock`: seconds since 1970. */
function newState(clock: () => number): BitcoinState {
  const bitcoin = createBitcoin({ clock, seed: new Uint8Array(32) })
  bitcoin.mine(FIRST_BLOCKS, FAUCET_SCRIPT)
  return bitcoin.snapshot()
}

/** The chain with its entries in the database. */
export class BitcoinParent implements ParentChain {
  readonly bitcoin: Bitcoin
  readonly #entries: BitcoinEntries
  /** Where the chain began; made again where that was in an earlier process. */
  #first: BitcoinState | undefined
  /** What the federation sends for the next block. */
  turn: () => Promise<readonly ChainTransaction[]> = async () => []

  readonly #blocksPer: number
  /** Blocks that prove blocks of this chain which are not inserted yet, by the hashes of those. */
  readonly #found = new Map<Hex, Block>()

  /** `blocksPer`: blocks of this chain for each one that proves one and is added to the Bitcoin chain; 0 adds none. */
  constructor(bitcoin: Bitcoin, entries: BitcoinEntries, blocksPer: number) {
    this.bitcoin = bitcoin
    this.#entries = entries
    this.#blocksPer = blocksPer
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
    return { restore: () => this.#restore(decodeState(decodeEntries(bytes))), encode: () => bytes }
  }

  template(hash: Uint8Array, attempt: number): ParentTemplate {
    const commitment = { value: 0n, script: concat(Uint8Array.of(OP.RETURN), push(concat(TAG, hash))) }
    const block = this.bitcoin.chain.assemble({
      script: FAUCET_SCRIPT,
      tag: attempt === 0 ? EMPTY : push(uint32(attempt)),
      outputs: [commitment],
    })
    const coinbase = encodeStripped(block.transactions[0] as Transaction)
    return {
      header: encodeHeader({ ...block.header, nonce: 0 }),
      coinbase,
      merkleBranch: branchFromHashes(block.transactions.map(txid)),
      target: targetOf(block.header.bits),
      found: (header, proven) => {
        if (this.#found.size >= MOST_FOUND) this.#found.clear()
        this.#found.set(proven, { ...block, header: decodeHeader(header) })
      },
    }
  }

  accept(blocks: readonly ProvenBlock[]): readonly Write[] {
    return blocks.flatMap(({ hash, number }) => {
      const block = this.#found.get(hash)
      this.#found.delete(hash)
      const isAdded = block !== undefined && this.#blocksPer > 0 && number % this.#blocksPer === 0
      return isAdded ? this.#entries.collect(() => this.bitcoin.chain.submit(block)) : []
    })
  }

  transactions(): Promise<readonly ChainTransaction[]> {
    return this.turn()
  }

  #beginning(): BitcoinState {
    this.#first ??= newState(this.bitcoin.clock)
    return this.#first
  }

  #restore(state: BitcoinState): readonly Write[] {
    return this.#entries.collect(() => this.bitcoin.restore(state))
  }
}
