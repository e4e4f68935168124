/** Types that the engine's parts and its users share. Imports nothing of the engine. */
import type { Account } from '../chain/account.ts'
import type { ExecutedBlock } from '../chain/block.ts'
import type { Log, Receipt } from '../chain/receipt.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { NodeError } from '../errors.ts'
import type { Failure } from '../evm/failure-message.ts'
import type { CallRequest, Overrides } from '../execution/request.ts'

/** Selects a block. */
export type BlockReference =
  | { readonly tag: 'earliest' | 'latest' | 'pending' }
  | { readonly number: number }
  | { readonly hash: Hex; readonly requireCanonical?: boolean }

/** A block that a query found; `pending` is the one that this node would mine now, without proof of work. */
export interface BlockView {
  readonly executed: ExecutedBlock
  readonly pending: boolean
}

/** A transaction and, once it is mined on the canonical chain, its block and index. */
export interface TransactionView {
  readonly transaction: Transaction
  readonly block?: ExecutedBlock
  readonly index?: number
}

/** A transaction of the canonical chain, and where it stands. */
export interface MinedTransaction {
  readonly transaction: Transaction
  readonly place: { readonly hash: Hex; readonly number: number; readonly index: number }
}

/** The receipt of a mined transaction with its context. */
export interface ReceiptView {
  readonly transaction: Transaction
  readonly receipt: Receipt
  readonly block: ExecutedBlock
  /** Of the transaction in the block. */
  readonly index: number
  /** Number of logs that earlier transactions of the block emitted. */
  readonly firstLogIndex: number
}

/** A log and its place in the chain; `removed` when its block has left the canonical chain. */
export interface LogView {
  readonly log: Log
  readonly block: {
    readonly hash: Hex
    /** The timestamp, Unix seconds, is unknown where a fork's upstream does not state it. */
    readonly block: {
      readonly header: { readonly number: number; readonly timestamp?: number | undefined }
    }
  }
  readonly transaction: { readonly hash: Hex }
  readonly transactionIndex: number
  /** Index in the block. */
  readonly logIndex: number
  readonly removed: boolean
}

/** Selects logs: a range of heights, or one block, filtered by address (any of) and topics (per position: any of; null matches all). */
export interface LogQuery {
  readonly range: { readonly from: number; readonly to: number } | { readonly blockHash: Hex }
  readonly addresses: readonly Hex[]
  readonly topics: readonly (readonly Hex[] | null)[]
  /** Leave out those of the REMASC transactions. */
  readonly hideRemasc?: boolean | undefined
  /** Largest difference between the heights of the range; 0 is no limit. */
  readonly maxBlocks: number
  /** Largest number of logs in the result; 0 is no limit. */
  readonly maxLogs: number
  /** Makes the error for more than `maxLogs`; the reference node's error unless given. */
  readonly tooMany?: () => NodeError
}

/** Proofs of an account and some of its storage cells: bytes of trie nodes, leaf first. */
export interface AccountProof {
  readonly address: Hex
  readonly account: Account | undefined
  /** Hash of the node of the contract marker; of an empty trie when there is none. */
  readonly storageHash: Hex
  readonly accountProof: readonly Uint8Array[]
  readonly storageProof: readonly { slot: bigint; value: bigint; proof: readonly Uint8Array[] }[]
}

/** Heights of blocks, ascending, in chunks: the work between two chunks is interruptible. */
export type HeightChunks = AsyncIterable<readonly number[]>

/** A transaction to sign and send; absent members are filled in with the wallet's defaults. */
export interface TransactionRequest extends CallRequest {
  readonly from: Hex
  readonly nonce?: bigint
}

/** The result of a submitted transaction. */
export interface Submitted {
  readonly hash: Hex
  /** Present when it was mined before the call returned: its block, receipt, and why it failed. */
  readonly mined?: { readonly view: ReceiptView; readonly failure?: Failure }
}

/** What to mine. */
export interface MineRequest {
  /** Number of blocks, each the child of the one before; 1 unless given. */
  readonly blocks?: number
  /** Of the first block, Unix seconds. */
  readonly timestamp?: number
  /** Seconds from each further block to the next, at least 1 (`Clock.space`); the clock decides unless given. */
  readonly interval?: number | undefined
  /** Hash of the block to build on; the head unless given. Blocks on another parent become canonical only by fork choice. */
  readonly parent?: Hex
  /**
   * The transactions that the block may include, in its order, out of those that it would, or others; all of those unless
   * given. Called again where a block is built again for data of a fork that was missing.
   */
  readonly choose?: ((transactions: readonly Transaction[]) => readonly Transaction[]) | undefined
}

/** A block to build; absent members are those of a block that is mined now. */
export interface PlannedBlock {
  /** All transactions of the block, in this order. */
  readonly transactions?: readonly Transaction[]
  /** Unix seconds. */
  readonly timestamp?: number
  readonly coinbase?: Hex
}

/** The blocks to replace, and their replacements. */
export interface ReorgRequest {
  /** Number of blocks that are replaced, from the head downwards. */
  readonly depth: number
  /**
   * The replacing blocks. Empty blocks unless given: one more than are replaced, and further ones until the branch is
   * heavier where the replaced blocks have uncles.
   */
  readonly blocks?: readonly PlannedBlock[]
  /** Include known siblings, the replaced blocks among them, as uncles wherever the rules allow. */
  readonly uncles?: boolean
}

/** How a block was inserted: as the new head, as a side block, or not at all because it is known. */
export type InsertionOutcome = 'best' | 'side' | 'known'

/** The result of an imported block. */
export interface Imported {
  readonly outcome: InsertionOutcome
  readonly hash: Hex
}

/** The result of a block that was completed with submitted work. */
export interface WorkInsertion extends Imported {
  readonly height: number
}

/** A block template that waits for a proof of work, as a miner gets it. */
export interface MiningWork {
  /** The hash that the parent chain's coinbase must carry after the tag (docs/internals/protocol.md#15-hashes). */
  readonly hash: Hex
  /** The largest hash, read as an integer, that is a valid proof. */
  readonly target: bigint
  /** Fees of its transactions, wei. */
  readonly paidFees: bigint
  readonly parentHash: Hex
}

/**
 * `auto`: a block for each transaction; a number: a block at this interval, milliseconds; `mixed`: both; `manual`: on
 * request only.
 */
export type MiningMode = 'auto' | 'manual' | number | { readonly mixed: number }

/** Is a block mined for each transaction? */
export const minesAtOnce = (mode: MiningMode): boolean => mode === 'auto' || typeof mode === 'object'

/** Milliseconds between blocks that are mined on a timer; `undefined` without one. */
export function intervalOf(mode: MiningMode): number | undefined {
  if (typeof mode === 'object') return mode.mixed
  return typeof mode === 'number' ? mode : undefined
}

/** The mode that mines at once or not, and on a timer where there is an interval, milliseconds. */
export function modeOf(atOnce: boolean, interval: number | undefined): MiningMode {
  if (interval === undefined) return atOnce ? 'auto' : 'manual'
  return atOnce ? { mixed: interval } : interval
}

/** Fields of the next header that a development client has fixed; they replace the values derived from the parent. */
export interface HeaderOverrides {
  /** Gas. */
  readonly gasLimit?: bigint
  /** Wei per gas. */
  readonly minimumGasPrice?: bigint
}

/** A change of the canonical chain: extension, reorganisation or rewind. Emitted once, after it is on disk. */
export interface ChainUpdate {
  /** From the old head downwards. */
  readonly removed: readonly ExecutedBlock[]
  /** Upwards to the new head. */
  readonly added: readonly ExecutedBlock[]
  /** By hash, of transactions that ran for this update and failed or wrote to the console. */
  readonly notes?: ReadonlyMap<Hex, TransactionNotes>
}

/** Results of an executed transaction that are neither in its receipt nor in the state. */
export interface TransactionNotes {
  readonly failure?: Failure
  /** Its calls to the console contract as text, one per call. */
  readonly console?: readonly string[]
}

/** The pooled transactions of a sender, each list in order of nonce. */
export interface PooledOfSender {
  readonly pending: readonly Transaction[]
  readonly queued: readonly Transaction[]
}

/** Transactions that became runnable. */
export interface PoolUpdate {
  readonly added: readonly Transaction[]
  /** Was `admitted` emitted for them? */
  readonly wasAdmitted?: true
}

/** Calls to the console contract; not emitted for estimates, traces and blocks that are only built. */
export interface ConsoleOutput {
  /** One text per call, unescaped: it may contain control characters. */
  readonly texts: readonly string[]
  /** Hash of the transaction; absent for a simulated call. */
  readonly transaction?: Hex
}

/** Where in its block a simulated message runs, on what in place of the chain's values, and for how long. */
export interface SimulationOptions extends Overrides {
  /** Number of the block's transactions that have run; all unless given. */
  readonly transactionCount?: number | undefined
  /** Milliseconds of wall clock, 0 for no limit; the node's own limit unless given. */
  readonly timeoutMs?: number | undefined
}

/** A simulated message failed. Emitted before the error reaches the caller. */
export interface FailedCall {
  /** The error that the caller gets. */
  readonly error: NodeError
  readonly request: CallRequest
  /** By hash, so that it selects the same block later; `pending` stays a tag. */
  readonly reference: BlockReference
  readonly options: SimulationOptions
}

/** Events of the engine by name. */
export interface EngineEvents {
  chain: ChainUpdate
  pool: PoolUpdate
  /** Transactions of several calls that become runnable with a write. Emitted before it, `pool` after it. */
  admitted: PoolUpdate
  console: ConsoleOutput
  failedCall: FailedCall
}
