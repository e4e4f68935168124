/**
 * All transactions of a block and then the one that collects its fees: receipts, gas, fees
 * (docs/internals/protocol.md#51-execution, docs/internals/protocol.md#52-parallel-sublists).
 */
import type { Block, TransactionInternals } from '../chain/block.ts'
import { logsBloom, mergeBlooms } from '../chain/bloom.ts'
import { type ChainConfig, sublistLimits } from '../chain/config.ts'
import { activatePrecompiles } from '../chain/precompile-accounts.ts'
import type { Receipt } from '../chain/receipt.ts'
import { remascTransaction, type Transaction } from '../chain/transaction.ts'
import { asRunnable } from '../chain/transaction-types.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidBlock } from '../errors.ts'
import type { BlockEnvironment } from '../evm/message.ts'
import type { Vm } from '../evm/rules.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'
import { CallRecorder } from '../evm/tracing/call-recorder.ts'
import type { Tracer } from '../evm/tracing/tracer.ts'
import type { StateReader } from '../state/model.ts'
import { Overlay } from '../state/overlay.ts'
import { applyTransaction, type TransactionOutcome, TransactionRejected } from './apply-transaction.ts'
import { applyOverrides, overriddenBlock } from './overrides.ts'
import { applyRemascTransaction, creditRemasc } from './remasc/remasc-transaction.ts'
import type { ReplayChanges } from './request.ts'
import { tracedState } from './traced-state.ts'

/** The results of a block's transactions: in each list one entry per transaction, the REMASC transaction last. */
export interface BlockResult {
  readonly transactions: readonly Transaction[]
  readonly receipts: readonly Receipt[]
  readonly outcomes: readonly TransactionOutcome[]
  /** Absent where they are not recorded. */
  readonly calls?: RecordedCalls | undefined
  /** Of the transactions that have any. */
  readonly internals: readonly TransactionInternals[]
  /** Gas of all transactions. */
  readonly gasUsed: bigint
  /** Wei. */
  readonly paidFees: bigint
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
}

/** What was recorded of a block's transactions. */
export interface RecordedCalls {
  /** One for each transaction: its call tree; `undefined` where that would be too large, or another tracer watched. */
  readonly roots: readonly (CallFrame | undefined)[]
  /** Memory of these trees, bytes. */
  readonly bytes: number
}

/** What executing a block needs. */
export interface BlockParts {
  readonly config: ChainConfig
  readonly vm: Vm
  /** The parent's state, which the execution turns into the block's. */
  readonly state: Overlay
  readonly env: BlockEnvironment
  /** Gas that the list of transactions may take. */
  readonly sequentialGasLimit: bigint
  /** Are the calls of transactions recorded? */
  readonly recordsCalls?: boolean
}

/** How a transaction is added. */
interface AdditionOptions {
  readonly tracer?: Tracer | undefined
  readonly deadlineMs?: number
  /** The block as this transaction sees it, where that is not the block itself. */
  readonly env?: BlockEnvironment
}

/**
 * A block to which transactions are added. Contracts that are activated in it have their accounts from the start
 * (docs/internals/protocol.md#75-activation). Calls must not overlap.
 */
export class BlockExecution {
  readonly #parts: BlockParts
  readonly #transactions: Transaction[] = []
  readonly #receipts: Receipt[] = []
  readonly #outcomes: TransactionOutcome[] = []
  readonly #internals: TransactionInternals[] = []
  readonly #callRoots: (CallFrame | undefined)[] = []
  #callBytes = 0
  #gasUsed = 0n
  #paidFees = 0n
  /** Of the open list (RSKIP-144); a block that is built here has only one. */
  #listLimit: bigint
  #listUsed = 0n
  #listDestroyed = new Set<Hex>()

  constructor(parts: BlockParts) {
    this.#parts = parts
    activatePrecompiles(parts.state, parts.config.ruleHeights, parts.env.number)
    this.#listLimit = parts.sequentialGasLimit
  }

  /** Starts another list, with its own gas and its own list of destroyed contracts. */
  openList(gasLimit: bigint): void {
    this.#listLimit = gasLimit
    this.#listUsed = 0n
    this.#listDestroyed = new Set()
  }

  /** Gas that the open list can still take. */
  get gasAvailable(): bigint {
    return this.#listLimit - this.#listUsed
  }

  /**
   * Runs the next transaction. Throws TransactionRejected when it cannot be included; with any error it is not included.
   * `deadlineMs` of wall clock: `limit-exceeded` beyond.
   */
  async add(
    transaction: Transaction,
    { tracer = this.#newRecorder(), deadlineMs, env = this.#parts.env }: AdditionOptions = {},
  ): Promise<TransactionOutcome> {
    const { vm, config } = this.#parts
    const traced = tracedState(this.#parts.state, tracer)
    const outcome = await applyTransaction({
      transaction,
      transactionIndex: this.#transactions.length,
      state: traced.state,
      env,
      vm,
      gasAvailable: this.gasAvailable,
      destroyedEarlier: this.#listDestroyed,
      tracer,
      deadlineMs,
    })
    traced.end(transaction.gasLimit, outcome)
    // REMASC gets the fees after each transaction, with parallel lists at the end of the block (RSKIP-144).
    if (!config.rulesAt(env.number).parallelSublists) creditRemasc(this.#parts.state, outcome.fee)
    for (const address of outcome.destroyed) this.#listDestroyed.add(address)
    this.#record(transaction, outcome, tracer)
    return outcome
  }

  #newRecorder(): CallRecorder | undefined {
    return this.#parts.recordsCalls === true ? new CallRecorder() : undefined
  }

  /** Runs the REMASC transaction, which ends the block. Throws an Error when an ancestor that it reads is unknown. */
  finish(tracer: Tracer | undefined = this.#newRecorder(), env = this.#parts.env): BlockResult {
    const { config } = this.#parts
    const traced = tracedState(this.#parts.state, tracer)
    const isPostponed = config.rulesAt(env.number).parallelSublists
    const fees = isPostponed ? this.#paidFees : 0n
    const outcome = applyRemascTransaction(traced.state, env, fees, config, tracer)
    traced.end(0n, outcome)
    this.#record(remascTransaction(env.number), outcome, tracer)
    return {
      transactions: this.#transactions,
      receipts: this.#receipts,
      outcomes: this.#outcomes,
      calls: this.#parts.recordsCalls ? { roots: this.#callRoots, bytes: this.#callBytes } : undefined,
      internals: this.#internals,
      gasUsed: this.#gasUsed,
      paidFees: this.#paidFees,
      logsBloom: mergeBlooms(this.#receipts.map((receipt) => receipt.logsBloom)),
    }
  }

  #recordCalls(tracer: Tracer | undefined): void {
    const root = tracer instanceof CallRecorder ? tracer.recorded : undefined
    this.#callRoots.push(root)
    if (tracer instanceof CallRecorder && root !== undefined) this.#callBytes += tracer.bytes
  }

  #record(transaction: Transaction, outcome: TransactionOutcome, tracer: Tracer | undefined): void {
    this.#recordCalls(tracer)
    const { succeeded, gasUsed, logs, fee } = outcome
    this.#listUsed += gasUsed
    this.#gasUsed += gasUsed
    this.#paidFees += fee
    const { participants, creations = [] } = outcome
    if (participants !== undefined && participants.size > 0) {
      this.#internals.push({ index: this.#transactions.length, participants: [...participants], creations })
    }
    this.#transactions.push(transaction)
    this.#outcomes.push(outcome)
    this.#receipts.push({
      succeeded,
      cumulativeGasUsed: this.#listUsed,
      gasUsed,
      logsBloom: logsBloom(logs),
      logs,
      type: transaction.type,
    })
  }
}

/** A block to execute as it is, and the state to run it on. */
export interface ForeignBlockParts {
  readonly block: Block
  readonly config: ChainConfig
  readonly vm: Vm
  readonly parentState: StateReader
  readonly env: BlockEnvironment
}

/** How a block is executed again for tracers. */
export interface ReplayParts extends ForeignBlockParts {
  /** The tracer of the transaction at an index, if any. */
  readonly tracerOf: (transaction: Transaction, index: number) => Tracer | undefined
  /** Index of the last transaction to run; the whole block when absent. */
  readonly lastIndex?: number | undefined
  /** For the last transaction to run: those before it run as they did. */
  readonly changes?: ReplayChanges | undefined
  /** Called between transactions; a promise is awaited. */
  readonly yieldIfDue: () => Promise<void> | undefined
  /** Remaining milliseconds of wall clock, which may be infinite; the run throws `limit-exceeded` when none are left. */
  readonly remainingMs: () => number
}

/** A block as it is run, list by list. */
interface OpenBlock {
  readonly execution: BlockExecution
  readonly state: Overlay
  /** Opens the list that begins with the transaction at this index, if one does. */
  openListAt(index: number): void
}

function openBlock(
  { block, config, vm, parentState, env }: ForeignBlockParts,
  limits: ReturnType<typeof sublistLimits>,
): OpenBlock {
  const { header, transactions } = block
  const state = new Overlay(parentState)
  const execution = new BlockExecution({
    config,
    vm,
    state,
    env,
    sequentialGasLimit: limits.sequential,
  })
  const ends = header.edges ?? []
  if (transactions.at(-1)?.isRemasc !== true) {
    throw invalidBlock('the last transaction is not the REMASC transaction', { rule: 'remasc' })
  }
  if (ends.length > 0) execution.openList(limits.parallel)
  return {
    execution,
    state,
    openListAt(index) {
      if (!ends.includes(index)) return
      const isLast = index === ends.at(-1) || index === transactions.length - 1
      execution.openList(isLast ? limits.sequential : limits.parallel)
    },
  }
}

/**
 * Runs a whole block as it stands, parallel lists included: cumulative gas restarts in each. Throws `invalid-block`
 * when a transaction is not valid at its place. The caller compares the result with the header.
 */
export async function applyBlock(
  parts: ForeignBlockParts,
): Promise<{ readonly result: BlockResult; readonly state: Overlay }> {
  const { header, transactions } = parts.block
  const limits = sublistLimits(parts.config, header.gasLimit, header.number)
  const { execution, state, openListAt } = openBlock(parts, limits)
  for (let index = 0; index < transactions.length - 1; index++) {
    openListAt(index)
    await addForeign(execution, transactions[index] as Transaction, index)
  }
  openListAt(transactions.length - 1)
  return { result: execution.finish(), state }
}

/**
 * Runs a valid block again, in the same way, for tracers. `result` is absent when the run stops before the end.
 * Throws `limit-exceeded` when time is up, and what a tracer throws.
 */
export async function replayBlock(
  parts: ReplayParts,
): Promise<{ readonly result?: BlockResult; readonly state: Overlay }> {
  const { block, tracerOf, lastIndex, changes, yieldIfDue, remainingMs } = parts
  const { header, transactions } = block
  // The limits of its lists were checked at its import; a block with a gas limit set by a client has a single list.
  const limits = { parallel: header.gasLimit, sequential: header.gasLimit }
  const { execution, state, openListAt } = openBlock(parts, limits)
  for (const [index, transaction] of transactions.entries()) {
    if (lastIndex !== undefined && index > lastIndex) return { state }
    openListAt(index)
    const tracer = tracerOf(transaction, index)
    const changed = index === lastIndex ? changes : undefined
    const env = changed === undefined ? parts.env : changedEnvironment(changed, state, parts)
    if (transaction.isRemasc) return { result: execution.finish(tracer, env), state }
    await yieldIfDue()
    const own = changed?.input === undefined ? transaction : { ...transaction, data: changed.input }
    const run = asRunnable(own, parts.vm.rulesAt(header.number).types)
    await execution.add(run, { tracer, deadlineMs: remainingMs(), env })
  }
  throw new Error('a block ends with its REMASC transaction')
}

/** Writes the state overrides of a changed transaction; returns the block that it sees. */
function changedEnvironment(
  { stateOverrides, blockOverrides }: ReplayChanges,
  state: Overlay,
  { env, vm }: Pick<ReplayParts, 'env' | 'vm'>,
): BlockEnvironment {
  const block = blockOverrides === undefined ? env : overriddenBlock(env, blockOverrides)
  return stateOverrides === undefined ? block : applyOverrides(state, block, stateOverrides, vm)
}

async function addForeign(execution: BlockExecution, transaction: Transaction, index: number): Promise<void> {
  if (transaction.isRemasc) {
    throw invalidBlock(`transaction ${index} is a REMASC transaction before the end`, { rule: 'remasc' })
  }
  try {
    await execution.add(transaction)
  } catch (error) {
    if (!(error instanceof TransactionRejected)) throw error
    throw invalidBlock(`transaction ${index}: ${error.message}`, { rule: 'transaction', ...error.values })
  }
}
