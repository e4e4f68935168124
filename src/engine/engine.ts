/** The engine as the rest of the node sees it: changes in turn (`commands`), reads at once (`queries`). */
import type { AbiRegistry } from '../abi/registry.ts'
import type { Account } from '../chain/account.ts'
import type { Block, ExecutedBlock } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Header } from '../chain/header.ts'
import type { Solution } from '../chain/merged-mining/proof.ts'
import type { Log, Receipt } from '../chain/receipt.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { RuleComparison } from '../comparison/compare.ts'
import type { EthereumFork } from '../comparison/ethereum-forks.ts'
import type { Hex } from '../encoding/hex.ts'
import type { NodeError } from '../errors.ts'
import type { Failure } from '../evm/failure-message.ts'
import type { Tracer } from '../evm/tracing/tracer.ts'
import type { AccessList } from '../execution/access-list.ts'
import type { CallRequest, StateOverrides } from '../execution/request.ts'
import type { StateReader } from '../state/model.ts'
import type { Insertion } from './blockchain/blockchain.ts'
import type { DevTools } from './dev/dev-tools.ts'
import type { ChainUpdate, Emitter, EngineEvents } from './events.ts'
import type { PlannedBlock } from './mining/branch-builder.ts'
import type { MiningWork, WorkInsertion } from './mining/work.ts'
import type { Peers } from './peers/ledger.ts'
import type { FeeHistory } from './queries/fee-history.ts'
import type { Replays } from './queries/replay.ts'
import type { FlatTrace, TraceQuery } from './queries/trace-filter.ts'
import type { Wallet } from './wallet/wallet.ts'

export type { AccountOverride, CallRequest, StateOverrides } from '../execution/request.ts'
export type { MiningWork, WorkInsertion } from './mining/work.ts'

/** Which block is meant. */
export type BlockReference =
  | { readonly tag: 'earliest' | 'latest' | 'pending' }
  | { readonly number: number }
  | { readonly hash: Hex; readonly requireCanonical?: boolean }

/** A block that was asked for; `pending` is the one we would mine now, without proof of work. */
export interface BlockView {
  readonly executed: ExecutedBlock
  readonly pending: boolean
}

/** A transaction and, once mined on the canonical chain, where. */
export interface TransactionView {
  readonly transaction: Transaction
  readonly block?: ExecutedBlock
  readonly index?: number
}

/** A mined transaction's receipt and its surroundings. */
export interface ReceiptView {
  readonly transaction: Transaction
  readonly receipt: Receipt
  readonly block: ExecutedBlock
  readonly index: number
  /** How many logs earlier transactions of the block made. */
  readonly firstLogIndex: number
}

/** A log and where it stands; `removed` when its block left the canonical chain. */
export interface LogView {
  readonly log: Log
  readonly block: ExecutedBlock
  readonly transaction: Transaction
  readonly transactionIndex: number
  /** Position in the block. */
  readonly logIndex: number
  readonly removed: boolean
}

/** What a transaction to sign and send says; absent members are filled by the wallet's defaults. */
export interface TransactionRequest extends CallRequest {
  readonly from: Hex
  readonly nonce?: bigint
}

/** Which logs: a range of heights, or one block, narrowed by address (any of) and topics (per position: any of; null is a wildcard). */
export interface LogQuery {
  readonly range: { readonly from: number; readonly to: number } | { readonly blockHash: Hex }
  readonly addresses: readonly Hex[]
  readonly topics: readonly (readonly Hex[] | null)[]
  /** Refusal beyond these; 0 is no limit. */
  readonly maxBlocks: number
  readonly maxLogs: number
  /** Refuses more than `maxLogs`; unless given, in the words of the chain's nodes. */
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

/** Reads. They never wait for a command: the head is taken once, and roots never change under a reader. */
export interface Queries extends Replays {
  head(): ExecutedBlock
  /** `undefined` when there is no such block, or when `requireCanonical` names one beside the chain. */
  block(reference: BlockReference): Promise<BlockView | undefined>
  /** All known blocks at a height, canonical and siblings, in order of arrival. */
  blocksAt(height: number): readonly ExecutedBlock[]
  /** Is this hash known and on the canonical chain? `undefined` when unknown. */
  isCanonical(hash: Hex): boolean | undefined
  /** State after a block (for `pending`: after all pooled transactions); `undefined` when there is no such block. */
  state(reference: BlockReference): Promise<StateReader | undefined>
  /** Canonical chain first, then the runnable part of the pool. */
  transaction(hash: Hex): TransactionView | undefined
  receipt(hash: Hex): ReceiptView | undefined
  /** The header of an uncle that the block names. */
  uncle(block: Block, index: number): Header | undefined
  /** Runnable transactions, sender by sender in order of nonce. */
  pendingTransactions(): readonly Transaction[]
  /** Pooled transactions that wait for an earlier nonce, sender by sender in order of nonce. */
  queuedTransactions(): readonly Transaction[]
  /** How many of both there are; costs nothing. */
  poolSize(): { readonly pending: number; readonly queued: number }
  /** Virtual gas that a sender had when it last sent (seconds); `undefined` without quotas, or for one that is not remembered. */
  accountQuota(sender: Hex): { readonly available: number; readonly since: number } | undefined
  /** Next nonce, counting runnable pooled transactions. */
  pendingNonce(address: Hex): bigint
  /**
   * Runs a message on the state of a block, within its environment; returns the output.
   * Throws `block-not-found`, `reverted` (with payload), `limit-exceeded` when time runs out.
   * Other failures of the code give empty output, unless strict calls are on (`reverted` naming the failure).
   */
  call(
    request: CallRequest,
    reference: BlockReference,
    overrides?: StateOverrides,
    timeoutMs?: number,
  ): Promise<Uint8Array>
  /** Least gas with which the message succeeds. Throws `insufficient-funds`, `reverted`, `block-not-found`, `limit-exceeded`. */
  estimateGas(request: CallRequest, reference: BlockReference, timeoutMs?: number): Promise<bigint>
  /** Runs a message as `call` does, and lists the accounts and slots that it touched; its failure is part of the result. */
  accessList(request: CallRequest, reference: BlockReference, timeoutMs?: number): Promise<AccessList>
  /** Runs a message as `call` does, with a tracer that listens; how it went is the tracer's to tell. Throws as `call` does. */
  traceCall(
    request: CallRequest,
    reference: BlockReference,
    tracer: Tracer,
    overrides?: StateOverrides,
    timeoutMs?: number,
  ): Promise<void>
  /**
   * What a transaction of the canonical chain did, and would have done under a fork of Ethereum; `undefined` when it is
   * not there. `timeoutMs` of wall clock for all of it, 0 for no limit; the node's own limit unless given. Throws
   * `invalid-params` for a fee-collecting one, `limit-exceeded`, `block-not-found`.
   */
  compareRules(hash: Hex, fork: EthereumFork, timeoutMs?: number): Promise<RuleComparison | undefined>
  /** Logs of the canonical chain in order, all of one moment. Throws `log-limit`. */
  logs(query: LogQuery): Promise<readonly LogView[]>
  /**
   * Heights of canonical blocks, ascending and in portions, that may hold a transaction from one of `senders` to one of
   * `receivers` (an empty list is anybody; a created contract receives the transaction that creates it). None is missed.
   */
  blocksBetween(
    senders: readonly Hex[],
    receivers: readonly Hex[],
    range: { readonly from: number; readonly to: number },
  ): AsyncIterable<readonly number[]>
  /** Flat traces of the canonical chain in order, all of one moment. Throws `limit-exceeded` when time runs out. */
  traceFilter(query: TraceQuery): Promise<readonly FlatTrace[]>
  /**
   * Against the state that the next block begins with, edits included. Throws `invalid-params` at a genesis whose header
   * carries a historical root. `undefined` when there is no such block.
   */
  proof(address: Hex, slots: readonly bigint[], reference: BlockReference): Promise<AccountProof | undefined>
  /** Wei per gas that a new transaction should offer. */
  gasPrice(): bigint
  /** How full the last `count` blocks up to `newest` were, and their prices at ascending percentiles (0 to 100). */
  feeHistory(count: number, newest: number, percentiles: readonly number[]): Promise<FeeHistory>
  /** Hashes per second over the last hour: of blocks mined here, with what live miners report, and of all blocks. */
  hashrate(): { readonly own: bigint; readonly network: bigint }
  /** Who is rewarded for blocks mined here. */
  coinbase(): Hex
  /** Work on the head with what the pool has, as a miner gets it. */
  work(): Promise<MiningWork>
  /** Does the node mine by itself (automatically or on a timer)? */
  isMining(): boolean
}

/** What to mine. */
export interface MineRequest {
  /** How many blocks, each on the one before; 1 unless given. */
  readonly blocks?: number
  /** Of the first block, Unix seconds. */
  readonly timestamp?: number
  /** Seconds from each further block to the next, at least 1; what the clock says unless given. */
  readonly interval?: number
  /** Hash of the block to build on; the head unless given. What is built beside the head may stay beside it. */
  readonly parent?: Hex
}

/** What became of an imported block: now the head, beside the chain, or here already. */
export interface Imported {
  readonly outcome: Insertion['outcome']
  readonly hash: Hex
}

/** Which blocks to replace by which. */
export interface ReorgRequest {
  /** How many blocks leave, from the head down. */
  readonly depth: number
  /** What comes in their place; unless given, empty blocks: one more than leave, and more where uncles make those heavy. */
  readonly blocks?: readonly PlannedBlock[]
  /** Name known siblings, the replaced blocks among them, as uncles wherever the rules allow. */
  readonly uncles?: boolean
}

/** What became of a submitted transaction. */
export interface Submitted {
  readonly hash: Hex
  /** Present when it was sealed before this answer: its block, receipt, and how it failed. */
  readonly mined?: { readonly view: ReceiptView; readonly failure?: Failure }
}

/** Changes to chain, pool or clock, one after another; one that fails leaves the head where it was. */
export interface Commands {
  /**
   * Takes a signed transaction into the pool, and under automining seals it before answering.
   * Durable once it resolves. Throws `transaction-refused` in the pool's words, `not-mined`.
   */
  submit(transaction: Transaction): Promise<Submitted>
  /**
   * Fills in defaults, signs with a local key and submits; an impersonated account gets a stand-in for the signature.
   * Throws `invalid-params` for an unknown account.
   */
  send(request: TransactionRequest): Promise<Submitted>
  /**
   * The same with a key that is given; automining leaves the transaction in the pool
   * (docs/rpc-reference.md#75-sending). Its hash.
   */
  sendWith(request: TransactionRequest, key: Uint8Array): Promise<Hex>
  /** Fills in defaults and signs with a local key; nothing is sent. Throws `invalid-params` for an unknown account. */
  sign(request: TransactionRequest): Promise<Transaction>
  /** Mines now; the new blocks, oldest first. Throws `invalid-params` for a timestamp that does not exceed the parent's, and for an unknown parent. */
  mine(options?: MineRequest): Promise<readonly ExecutedBlock[]>
  /**
   * Takes in a block that somebody else made, canonical or beside the chain as fork choice decides. Throws
   * `invalid-block` naming the first rule broken; a block whose parent is unknown is refused like that too.
   */
  importBlock(block: Block): Promise<Imported>
  /**
   * Replaces the last blocks by a heavier branch, in one move. Throws `invalid-params`, with nothing changed, when the
   * branch would not be heavier or cannot be built as asked.
   */
  reorg(request: ReorgRequest): Promise<ChainUpdate>
  /** Work for a miner; `notify` says whether it is worth changing to, which it is only the first time it is taken. */
  takeWork(): Promise<MiningWork & { readonly notify: boolean }>
  /**
   * Takes in the block that a solved parent-chain block commits to, one of the last works, canonical or beside the chain
   * as fork choice decides. Throws `mining-refused` in the node's words (docs/rpc-reference.md#713-mining).
   */
  submitWork(solution: Solution): Promise<WorkInsertion>
  /** The same for a nonce of the parent-chain block that this node would make itself; `undefined` when it proves nothing. */
  submitNonce(workHash: Hex, nonce: number): Promise<WorkInsertion | undefined>
  /** Remembers for a minute what a miner says of its speed, in hashes per second. */
  reportHashrate(client: Hex, rate: bigint): void
  /** Takes a save point; its id counts from 1. */
  snapshot(): Promise<number>
  /** Back to a save point; false when the id is unknown or its block no longer stands. */
  revert(id: number): Promise<boolean>
  /** Back to genesis as the network's file has it; snapshots, pool, clock, dials and impersonation forgotten. */
  reset(): Promise<void>
  /**
   * Adds seconds to the next block's clock; the total pending adjustment. Zero or less changes nothing. Throws
   * `invalid-params` beyond the latest timestamp.
   */
  increaseTime(seconds: number): Promise<number>
  /** Exact timestamp of the next block. Throws `invalid-params` when it does not exceed the head's. */
  setNextBlockTimestamp(timestamp: number): Promise<void>
  /**
   * A block for each transaction, before it is answered. Switching it on mines what waits in the pool; switching it off
   * leaves mining on a timer alone.
   */
  setAutomine(on: boolean): Promise<void>
  /** A block every so many milliseconds; 0 stops. */
  setIntervalMining(milliseconds: number): Promise<void>
  /** Starts or stops the mining schedule that the node was started with. Idempotent. */
  startMining(): Promise<void>
  stopMining(): Promise<void>
}

/** A living node, without JSON. */
export interface Engine {
  readonly config: ChainConfig
  readonly commands: Commands
  readonly queries: Queries
  readonly accounts: Wallet
  /** Names of contracts, functions, events and errors, for words about what happens. */
  readonly names: AbiRegistry
  readonly dev: DevTools
  /** Who calls this node from elsewhere, and who may not. */
  readonly peers: Peers
  readonly events: Emitter<EngineEvents>
  /** Stops the schedule, lets the running command end, closes the database. Idempotent. */
  close(): Promise<void>
}
