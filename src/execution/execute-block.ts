/** All transactions of a block and then the one that collects its fees: receipts, gas, fees (protocol 5.1, 5.2). */
import type { Block } from '../chain/block.ts'
import { logsBloom, mergeBlooms } from '../chain/bloom.ts'
import { type ChainConfig, sublistLimits } from '../chain/config.ts'
import type { Receipt } from '../chain/receipt.ts'
import { rewardTransaction, type Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { executeTransaction, type TransactionOutcome, TransactionRejected } from './execute-transaction.ts'
import type { Machine } from './machine.ts'
import type { BlockEnvironment } from './message.ts'
import { Overlay } from './overlay.ts'
import { executeRewardTransaction } from './reward-transaction.ts'
import type { StateReader } from './state.ts'

/** What a block's transactions did, one entry per transaction in each list, the reward transaction last. */
export interface BlockResult {
  readonly transactions: readonly Transaction[]
  readonly receipts: readonly Receipt[]
  readonly outcomes: readonly TransactionOutcome[]
  /** Gas of all transactions. */
  readonly gasUsed: bigint
  /** Wei. */
  readonly paidFees: bigint
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
}

/** What executing a block needs. */
export interface BlockParts {
  readonly config: ChainConfig
  readonly machine: Machine
  /** The parent's state at first, the block's own in the end. */
  readonly state: Overlay
  readonly env: BlockEnvironment
  /** Gas that the list of transactions may take. */
  readonly sequentialGasLimit: bigint
}

/** A block as it grows. Calls must not overlap. */
export class BlockExecution {
  readonly #parts: BlockParts
  readonly #transactions: Transaction[] = []
  readonly #receipts: Receipt[] = []
  readonly #outcomes: TransactionOutcome[] = []
  #gasUsed = 0n
  #paidFees = 0n
  /** Of the list that is open (RSKIP-144); the only one when we build. */
  #listLimit: bigint
  #listUsed = 0n
  #listDestroyed = new Set<Hex>()

  constructor(parts: BlockParts) {
    this.#parts = parts
    this.#listLimit = parts.sequentialGasLimit
  }

  /** Starts another list: gas and destroyed contracts count anew. */
  openList(gasLimit: bigint): void {
    this.#listLimit = gasLimit
    this.#listUsed = 0n
    this.#listDestroyed = new Set()
  }

  /** Gas that the open list can still take. */
  get gasAvailable(): bigint {
    return this.#listLimit - this.#listUsed
  }

  /** Runs the next transaction. Throws TransactionRejected when it cannot be included; whatever it throws, it was not. */
  async add(transaction: Transaction): Promise<TransactionOutcome> {
    const { state, env, machine } = this.#parts
    const outcome = await executeTransaction({
      transaction,
      state,
      env,
      machine,
      gasAvailable: this.gasAvailable,
      destroyedEarlier: this.#listDestroyed,
    })
    for (const address of outcome.destroyed) this.#listDestroyed.add(address)
    this.#record(transaction, outcome)
    return outcome
  }

  /** Runs the reward transaction, which ends the block. Throws an Error when an ancestor that it looks at is unknown. */
  finish(): BlockResult {
    const { state, env, config } = this.#parts
    const outcome = executeRewardTransaction(state, env, this.#paidFees, config)
    this.#record(rewardTransaction(env.number), outcome)
    return {
      transactions: this.#transactions,
      receipts: this.#receipts,
      outcomes: this.#outcomes,
      gasUsed: this.#gasUsed,
      paidFees: this.#paidFees,
      logsBloom: mergeBlooms(this.#receipts.map((receipt) => receipt.logsBloom)),
    }
  }

  #record(transaction: Transaction, outcome: TransactionOutcome): void {
    const { succeeded, gasUsed, logs, fee } = outcome
    this.#listUsed += gasUsed
    this.#gasUsed += gasUsed
    this.#paidFees += fee
    this.#transactions.push(transaction)
    this.#outcomes.push(outcome)
    this.#receipts.push({
      succeeded,
      cumulativeGasUsed: this.#listUsed,
      gasUsed,
      logsBloom: logsBloom(logs),
      logs,
    })
  }
}

/** A block that somebody else made, and the state to run it on. */
export interface ForeignBlockParts {
  readonly block: Block
  readonly config: ChainConfig
  readonly machine: Machine
  readonly parentState: StateReader
  readonly env: BlockEnvironment
}

/**
 * Runs a whole block as it stands, parallel lists included: cumulative gas restarts in each. Throws `invalid-block`
 * when a transaction cannot be where it is. Comparing with the header is the caller's part.
 */
export async function executeBlock(
  parts: ForeignBlockParts,
): Promise<{ readonly result: BlockResult; readonly state: Overlay }> {
  const { block, config, machine, parentState, env } = parts
  const { header, transactions } = block
  const limits = sublistLimits(config, header.gasLimit, header.number)
  const state = new Overlay(parentState)
  const execution = new BlockExecution({
    config,
    machine,
    state,
    env,
    sequentialGasLimit: limits.sequential,
  })
  const ends = header.edges ?? []
  if (transactions.at(-1)?.isReward !== true) {
    throw new NodeError('invalid-block', 'the last transaction is not the reward transaction')
  }
  if (ends.length > 0) execution.openList(limits.parallel)
  for (let index = 0; index < transactions.length - 1; index++) {
    if (ends.includes(index)) {
      execution.openList(index === ends.at(-1) ? limits.sequential : limits.parallel)
    }
    await addForeign(execution, transactions[index] as Transaction, index)
  }
  if (ends.includes(transactions.length - 1)) execution.openList(limits.sequential)
  return { result: execution.finish(), state }
}

async function addForeign(execution: BlockExecution, transaction: Transaction, index: number): Promise<void> {
  if (transaction.isReward) {
    throw new NodeError('invalid-block', `transaction ${index} is a reward transaction before the end`)
  }
  try {
    await execution.add(transaction)
  } catch (error) {
    if (!(error instanceof TransactionRejected)) throw error
    throw new NodeError('invalid-block', `transaction ${index}: ${error.message}`)
  }
}
