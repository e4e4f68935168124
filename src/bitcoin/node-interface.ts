/** What others need of a Bitcoin node: the simulated chain has it, and a client of a real node. Hashes are texts. */
import type { Header } from './chain/header.ts'
import type { Transaction } from './transaction.ts'

/** A block's header and where it is. */
export interface BlockSummary {
  readonly hash: string
  readonly height: number
  readonly header: Header
}

/** A block with its transactions. */
export interface WholeBlock extends BlockSummary {
  readonly transactions: readonly Transaction[]
}

/** A transaction, and its block when it is in one of the best chain. */
export interface FoundTransaction {
  readonly transaction: Transaction
  readonly block: BlockSummary | undefined
  /** Blocks on its block, that one included; 0 in the mempool. */
  readonly confirmations: number
}

/** A Bitcoin node. Methods of a remote one throw a `NodeError` `upstream` when it cannot be reached or answers wrongly. */
export interface BitcoinNode {
  bestBlock(): Promise<BlockSummary>
  /** Of the best chain; `undefined` above its end. */
  hashAt(height: number): Promise<string | undefined>
  /** Of any branch; `undefined` for an unknown hash. */
  header(hash: string): Promise<BlockSummary | undefined>
  block(hash: string): Promise<WholeBlock | undefined>
  transaction(id: string): Promise<FoundTransaction | undefined>
  /** A partial Merkle tree (BIP-37) about transactions of one block, without the block's header; `undefined` when it lacks one. */
  partialTree(ids: readonly string[], blockHash: string): Promise<Uint8Array | undefined>
  /** Ids of the transactions that wait for a block. */
  mempool(): Promise<readonly string[]>
  /** Puts a transaction into the mempool; its id. Throws a `NodeError` `transaction-refused` with the node's reason. */
  broadcast(transaction: Transaction): Promise<string>
  /** Calls back after each change of the best chain, until the returned function is called. */
  onBlock(listener: (best: BlockSummary) => void): () => void
  /** Ends what it has open. */
  close(): Promise<void>
}
