/** The Bitcoin chain of a peg, as the peg moves it: the simulated one in the process, or that of a Bitcoin Core. */
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import type { BitcoinNode } from '../bitcoin/node-interface.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { ParentChain } from '../engine/parent-chain.ts'
import type { FaucetCoin } from './faucet.ts'

/** The chain as the engine knows it; `turn` is what the federation sends for the next block. */
export type PegParent = ParentChain & { turn: () => Promise<readonly Transaction[]> }

/** A Bitcoin chain. Methods of a Bitcoin Core's throw a `NodeError` `upstream` when it cannot be reached. */
export interface BitcoinSide {
  readonly node: BitcoinNode
  readonly parent: PegParent
  /** The simulated chain; `undefined` for a Bitcoin Core's. */
  readonly simulated: Bitcoin | undefined
  /** Its address without user and password, of a Bitcoin Core's. */
  readonly origin: string | undefined
  /** Height of the first block whose payments to federations are those of this peg. */
  firstHeight(): number
  /** Mines blocks of the mempool's transactions; their hashes. */
  mine(count: number, address: string): Promise<readonly string[]>
  /** Drops the block with this hash and all that follow it, and mines others; their hashes. */
  replace(hash: string, count: number): Promise<readonly string[]>
  /** The coins of the faucet that can be spent in the next block. */
  coins(): AsyncIterable<FaucetCoin>
  /** Notes that a signed peg-out was broadcast. */
  released(): Promise<void>
  /** The height of the best block; `undefined` where the node is down. */
  height(): Promise<number | undefined>
  /** Resolves when all changes so far are on disk. Throws `storage`. */
  settled(): Promise<void>
  close(): Promise<void>
}
