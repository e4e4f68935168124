/** The engine as the rest of the node uses it: changes run one after another (`commands`), reads at any time (`queries`). */
import type { AbiRegistry } from '../abi/registry.ts'
import type { Block, ExecutedBlock } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import type { Header } from '../chain/header.ts'
import type { Solution } from '../chain/merged-mining/proof.ts'
import type { RuleChoice } from '../chain/rule-choice.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { EthereumFork } from '../comparison/ethereum-forks.ts'
import type { RuleComparison, RuleSetComparison } from '../comparison/report.ts'
import type { Hex } from '../encoding/hex.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { StateReader } from '../state/model.ts'
import type { Call } from './call.ts'
import type { DevTools } from './dev/dev-tools.ts'
import type { SnapshotCommands } from './dev/node-snapshots.ts'
import type { Emitter } from './events.ts'
import type { Fork } from './fork/fork.ts'
import type {
  AccountProof,
  BlockReference,
  BlockView,
  ChainUpdate,
  EngineEvents,
  HeightChunks,
  Imported,
  LogQuery,
  LogView,
  MineRequest,
  MiningMode,
  MiningWork,
  PooledOfSender,
  ReceiptView,
  ReorgRequest,
  Submitted,
  TransactionRequest,
  TransactionView,
  WorkInsertion,
} from './model.ts'
import type { Peers } from './peers/peer-scoring.ts'
import type { AccountHistory } from './queries/account-history.ts'
import type { AccountQueries } from './queries/accounts.ts'
import type { CallSequences } from './queries/call-sequence.ts'
import type { FeeHistory } from './queries/fee-history.ts'
import type { LogWalks } from './queries/log-walk.ts'
import type { MinedBlockQueries } from './queries/mined-blocks.ts'
import type { ProxyQueries } from './queries/proxies.ts'
import type { Replays } from './queries/replay.ts'
import type { Simulations } from './queries/simulate.ts'
import type { BlockSimulations } from './queries/simulate-blocks.ts'
import type { StepSimulations } from './queries/simulate-steps.ts'
import type { StorageQuery, StorageRange } from './queries/storage-range.ts'
import type { TokenQueries } from './queries/tokens.ts'
import type { FlatTrace, TraceQuery } from './queries/trace-filter.ts'
import type { ValueFields } from './queries/value-field.ts'
import type { Coverage, Gas } from './recording/model.ts'
import type { Replica } from './replica.ts'
import type { Debugger } from './sources/debugger.ts'
import type { Sources, SourceTraces } from './sources/model.ts'
import type { Wallet } from './wallet/wallet.ts'

/** Reads. They never wait for a command: the head is read once, and state roots never change under a reader. */
export interface Queries
  extends AccountHistory,
    AccountQueries,
    BlockSimulations,
    CallSequences,
    LogWalks,
    MinedBlockQueries,
    ProxyQueries,
    Replays,
    Simulations,
    StepSimulations,
    TokenQueries,
    ValueFields {
  head(): ExecutedBlock
  /** `undefined` when there is no such block, or when it is a side block and `requireCanonical` is set. */
  block(reference: BlockReference): Promise<BlockView | undefined>
  /** Height of the block of a reference, one above the head for `pending`; `undefined` for an unknown hash. Reads no block. */
  heightOf(reference: BlockReference): number | undefined
  /** All known blocks at a height, canonical and siblings, in order of arrival. */
  blocksAt(height: number): readonly ExecutedBlock[]
  /** Whether a known block is on the canonical chain; `undefined` for an unknown hash. */
  isCanonical(hash: Hex): boolean | undefined
  /** State after a block (for `pending`: after the pooled transactions that it holds); `undefined` when there is no such block. */
  state(reference: BlockReference): MaybePromise<StateReader | undefined>
  /** Searches the canonical chain first, then the runnable part of the pool. */
  transaction(hash: Hex): TransactionView | undefined
  receipt(hash: Hex): ReceiptView | undefined
  /** The header of a block's uncle. */
  uncle(block: Block, index: number): Header | undefined
  /** Runnable transactions, sender by sender in order of nonce. */
  pendingTransactions(): readonly Transaction[]
  /** Pooled transactions that wait for an earlier nonce, sender by sender in order of nonce. */
  queuedTransactions(): readonly Transaction[]
  /** The runnable transaction at a position of that list; goes through the senders before its own. */
  pendingTransactionAt(position: number): Transaction | undefined
  /** The pooled transactions of one sender. */
  pooledOf(sender: Hex): PooledOfSender
  /** The pooled transaction of a sender with a nonce, runnable or queued. */
  pooledAt(sender: Hex, nonce: bigint): Transaction | undefined
  /** Numbers of both, in constant time. */
  poolSize(): { readonly pending: number; readonly queued: number }
  /** Virtual gas of a sender at its last transaction (`since`: Unix seconds); `undefined` without quotas or for an unknown sender. */
  accountQuota(sender: Hex): { readonly available: number; readonly since: number } | undefined
  /** The timestamp of a block mined now, Unix seconds; builds no block. */
  nextTimestamp(): number
  /** Next nonce, counting runnable pooled transactions. */
  pendingNonce(address: Hex): bigint
  /**
   * Compares a transaction of the canonical chain with its execution under an Ethereum fork; `undefined` when the hash
   * is unknown. `timeoutMs` of wall clock for all of it, 0 for no limit; the node's own limit unless given. Throws
   * `invalid-params` for a REMASC transaction, `limit-exceeded`, `block-not-found`.
   */
  compareRules(hash: Hex, fork: EthereumFork, timeoutMs?: number): Promise<RuleComparison | undefined>
  /**
   * A mined transaction by the chain's rules and by the chain's with a choice of changes; `undefined` when it is unknown.
   * The state before it is the chain's, which the changed rules may not have made. Throws `invalid-params` for a
   * name that is not known, `limit-exceeded`.
   */
  compareRuleSets(hash: Hex, choice: RuleChoice, timeoutMs?: number): Promise<RuleSetComparison | undefined>
  /** Logs of the canonical chain in order, all read at one head. Throws `log-limit`. */
  logs(query: LogQuery): Promise<readonly LogView[]>
  /**
   * Heights of canonical blocks that may hold a transaction from one of `senders` to one of `receivers` (an empty list
   * matches every address; the receiver of a creation is the created contract). False positives are possible, false
   * negatives are not.
   */
  blocksBetween(
    senders: readonly Hex[],
    receivers: readonly Hex[],
    range: { readonly from: number; readonly to: number },
  ): HeightChunks
  /** A block as executed: the stored one, or the result of its validation, which throws `invalid-block`. Stores nothing. */
  executed(block: Block): Promise<ExecutedBlock>
  /**
   * Storage of a contract between two transactions of a block; `undefined` when there is no such block. Throws
   * `invalid-params` beyond the transactions of the block, and as `replay` does.
   */
  storageRange(query: StorageQuery): Promise<StorageRange | undefined>
  /** Flat traces of the canonical chain in order, all read at one head. Throws `limit-exceeded` at the time limit. */
  traceFilter(query: TraceQuery): Promise<readonly FlatTrace[]>
  /**
   * Against the state that the next block starts from, edits included. Throws `invalid-params` at a genesis whose header
   * carries a historical root. `undefined` when there is no such block.
   */
  proof(address: Hex, slots: readonly bigint[], reference: BlockReference): Promise<AccountProof | undefined>
  /** Suggested gas price of a new transaction, wei per gas. */
  gasPrice(): bigint
  /** Gas used ratios of the last `count` blocks up to `newest`, and their gas prices at ascending percentiles (0 to 100). */
  feeHistory(count: number, newest: number, percentiles: readonly number[]): Promise<FeeHistory>
  /** Hashes per second over the last hour: of blocks mined here plus the rates that miners report, and of all blocks. */
  hashrate(): { readonly own: bigint; readonly network: bigint }
  /** Beneficiary of blocks mined here. */
  coinbase(): Hex
  /** Work on the head with the pool's transactions, as a miner gets it. */
  work(): Promise<MiningWork>
  /** Whether the node mines without a request (automining or on a timer). */
  isMining(): boolean
}

/** Changes to chain, pool or clock, one after another; a failed one leaves the head unchanged. */
export interface Commands extends SnapshotCommands {
  /**
   * Adds a signed transaction to the pool, and under automining mines it before it resolves.
   * Durable once it resolves. Throws `transaction-refused` with the pool's reason, `not-mined`.
   */
  submit(transaction: Transaction): Promise<Submitted>
  /**
   * Fills in defaults, signs with a local key and submits; the transaction of an impersonated account gets a placeholder
   * signature. Throws `invalid-params` for an unknown account.
   */
  send(request: TransactionRequest): Promise<Submitted>
  /** The same from any account: one that the node has no key for gets a placeholder signature, impersonated or not. */
  sendUnsigned(request: TransactionRequest): Promise<Submitted>
  /**
   * The same with the given 32-byte key; automining leaves the transaction in the pool
   * (docs/internals/rpc-reference.md#75-sending). Resolves to its hash.
   */
  sendWith(request: TransactionRequest, key: Uint8Array): Promise<Hex>
  /** Fills in defaults and signs with a local key without sending. Throws `invalid-params` for an unknown account. */
  sign(request: TransactionRequest): Promise<Transaction>
  /**
   * Mines now; resolves to the new blocks, oldest first, or to the last one of more than 10,000. Throws `invalid-params`
   * for a timestamp that does not exceed the parent's, an interval that leads beyond the latest timestamp, and an unknown
   * parent.
   */
  mine(options?: MineRequest): Promise<readonly ExecutedBlock[]>
  /**
   * Inserts a block mined elsewhere, as a canonical or a side block, as fork choice decides. Throws `invalid-block` with
   * the first rule violated, an unknown parent among them.
   */
  importBlock(block: Block): Promise<Imported>
  /**
   * Replaces the last blocks by a heavier branch in one update. Throws `invalid-params`, with nothing changed, when the
   * branch would not be heavier or cannot be built as requested.
   */
  reorg(request: ReorgRequest): Promise<ChainUpdate>
  /** Work for a miner; `notify` is whether it should switch to it, true only the first time the work is taken. */
  takeWork(): Promise<MiningWork & { readonly notify: boolean }>
  /**
   * Inserts the block that a solved parent-chain block commits to, one of the last works, as a canonical or a side block
   * as fork choice decides. Throws `mining-refused` with the reference node's text (docs/internals/rpc-reference.md#713-mining).
   */
  submitWork(solution: Solution): Promise<WorkInsertion>
  /** The same for a nonce of the parent-chain block that this node would make; `undefined` when it is no valid proof. */
  submitNonce(workHash: Hex, nonce: number): Promise<WorkInsertion | undefined>
  /** Stores the hash rate that a miner reports, in hashes per second, for a minute. */
  reportHashrate(client: Hex, rate: bigint): void
  /**
   * Adds seconds to the next block's clock; resolves to the total clock offset. Zero or less changes nothing. Throws
   * `invalid-params` beyond the latest timestamp.
   */
  increaseTime(seconds: number): Promise<number>
  /** Sets the exact timestamp of the next block, Unix seconds. Throws `invalid-params` when it does not exceed the head's. */
  setNextBlockTimestamp(timestamp: number): Promise<void>
  /**
   * Switches automining: each transaction is mined in a block before `submit` resolves. Switching it on ends a timer and
   * mines the transactions in the pool; with `poolWaits` they wait for the next block, and a timer goes on. Switching it off
   * does not stop mining on a timer.
   */
  setAutomine(on: boolean, options?: { readonly poolWaits?: boolean }): Promise<void>
  /** Mines a block at this interval, milliseconds; 0 stops. Ends automining, unless `besideAutomine` lets both go on. */
  setIntervalMining(milliseconds: number, options?: { readonly besideAutomine?: boolean }): Promise<void>
  /** Sets the mining mode and starts the schedule. Under automining, transactions in the pool are mined. */
  setMiningMode(mode: MiningMode): Promise<void>
  /** Starts or stops the mining schedule that the node was started with. Idempotent. */
  startMining(): Promise<void>
  stopMining(): Promise<void>
}

/** Where a fork begins; absent members stay unchanged. */
export interface ForkChoice {
  readonly url?: string | undefined
  /** The tip unless given. */
  readonly block?: number | undefined
}

/** A running node, without JSON. */
export interface Engine {
  readonly config: ChainConfig
  /** Call its methods on it, like those of `dev`, `accounts` and `peers`: detached, they lose `this`. */
  readonly commands: Commands
  /** A record of functions, which may be detached. */
  readonly queries: Queries
  readonly accounts: Wallet
  /** Registered ABIs: names of contracts, functions, events and errors. */
  readonly names: AbiRegistry
  /** Compiler input and output of contracts, found by their code. */
  readonly sources: Sources
  /** Failures explained by those sources. Call its methods on it. */
  readonly stackTraces: SourceTraces
  readonly coverage: Coverage
  readonly gas: Gas
  /** Opens executions in a debugger, by the same sources. */
  readonly debugger: Debugger
  readonly dev: DevTools
  /** Scores and bans of remote callers. */
  readonly peers: Peers
  readonly events: Emitter<EngineEvents>
  /** Follows a database that another node of the cluster changes. */
  readonly replica: Replica
  /** The upstream below the chain, where it is a fork. Queries then run within `fork.demand.query`. */
  readonly fork: Fork | undefined
  /** The same engine with commands and tools of a call: those that still wait when the call ends are not carried out. */
  forCall(call: Call): Engine
  /**
   * Runs `replace` after the waiting commands. Unless it throws, the engine stops mining and refuses commands from then on:
   * for an engine that is replaced by another.
   */
  retire(replace: () => void): Promise<void>
  /**
   * Keeps all present states, also of blocks that are removed later, until the returned function is called: for work that
   * reads them after a wait. A query keeps them itself until it has settled. `undefined` where no states are collected.
   */
  holdStates(): (() => void) | undefined
  /** Stops the schedule, waits for the running command, closes the database. Idempotent. */
  close(): Promise<void>
}
