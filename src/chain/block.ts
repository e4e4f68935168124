/** Blocks: a header, transactions in order (the fee-collecting one last), uncle headers. */
import type { Hex } from '../encoding/hex.ts'
import type { Header } from './header.ts'
import type { Receipt } from './receipt.ts'
import type { Transaction } from './transaction.ts'

/** A block. Immutable. */
export interface Block {
  readonly header: Header
  readonly transactions: readonly Transaction[]
  readonly uncles: readonly Header[]
}

/** A block with everything that following and answering for the chain needs to know of it. Immutable. */
export interface ExecutedBlock {
  readonly hash: Hex
  readonly block: Block
  /** One per transaction, in order. */
  readonly receipts: readonly Receipt[]
  /** Difficulty summed from genesis, uncles included. */
  readonly totalDifficulty: bigint
  /** Root of the Merkle-Patricia state after the block; equals `header.stateRoot` except at a genesis of known historical root. */
  readonly postState: Hex
}
