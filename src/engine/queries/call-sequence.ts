/** Sequences of calls or signed transactions on the state of a block, each on the state after the one before; nothing is written. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import {
  applyTransaction,
  type TransactionOutcome,
  type TransactionParts,
  TransactionRejected,
} from '../../execution/apply-transaction.ts'
import { overriddenBlock } from '../../execution/overrides.ts'
import type { BlockOverrideValues } from '../../execution/request.ts'
import { applySimulated, refusalIn, type SimulatedCall } from '../../execution/simulated-transaction.ts'
import { Overlay } from '../../state/overlay.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { BlockReference, SimulationOptions } from '../model.ts'
import { type PlaceParts, sequenceStart } from './simulation-place.ts'

/** Calls of one block. */
export interface CallBundle {
  readonly overrides: BlockOverrideValues
  readonly calls: readonly SimulatedCall[]
}

/** Where a sequence runs; the overrides are made before its first call. */
export interface SequencePlace extends SimulationOptions {
  readonly reference: BlockReference
}

/** What a call did, or why it could not run. */
export type SequencedCall = { readonly outcome: TransactionOutcome } | { readonly refusal: NodeError }

/** A signed transaction of a bundle. */
export interface BundledTransaction {
  readonly transaction: Transaction
  readonly outcome: TransactionOutcome
  /** Wei that its code sent to the coinbase. */
  readonly sentToCoinbase: bigint
}

/** Sequences of calls. They throw `block-not-found`, and `limit-exceeded` at the time limit. */
export interface CallSequences {
  /** Runs bundles, each in a block one higher and a second later than the one before, the first in the block itself. */
  callMany(
    place: SequencePlace,
    bundles: readonly CallBundle[],
  ): Promise<readonly (readonly SequencedCall[])[]>
  /** Runs signed transactions in a block. Throws `transaction-refused` for one that cannot be in it. */
  callBundle(
    place: SequencePlace,
    transactions: readonly Transaction[],
  ): Promise<readonly BundledTransaction[]>
}

interface Parts extends PlaceParts {
  /** Gas of a call without gas. */
  readonly callGasCap: bigint
  /** Time limit of sequences without one of their own, milliseconds; 0 is no limit. */
  readonly timeoutMs: number
}

/** What the calls of a sequence run in. */
interface OpenSequence {
  readonly state: Overlay
  /** Environment of the first block. */
  readonly env: BlockEnvironment
  /** By `performance.now()`, milliseconds. */
  readonly end: number
}

/** What one call of a sequence runs in. */
interface CallPlace {
  readonly state: Overlay
  readonly env: BlockEnvironment
  readonly destroyedEarlier: Set<Hex>
  readonly deadlineMs: number
}

/** The sequences of a node. */
export class StateCallSequences implements CallSequences {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async callMany(
    place: SequencePlace,
    bundles: readonly CallBundle[],
  ): Promise<readonly (readonly SequencedCall[])[]> {
    const { state, env: first, end } = await this.#open(place)
    const yieldIfDue = createEventLoopYield('query')
    const results: SequencedCall[][] = []
    let env = first
    for (const { overrides, calls } of bundles) {
      env = overriddenBlock(env, overrides)
      const destroyedEarlier = new Set<Hex>()
      const outcomes: SequencedCall[] = []
      for (const call of calls) {
        await yieldIfDue()
        const deadlineMs = end - performance.now()
        outcomes.push(await this.#call(call, { state, env, destroyedEarlier, deadlineMs }))
      }
      results.push(outcomes)
      env = { ...env, number: env.number + 1, timestamp: env.timestamp + 1 }
    }
    return results
  }

  async callBundle(
    place: SequencePlace,
    transactions: readonly Transaction[],
  ): Promise<readonly BundledTransaction[]> {
    const { state, env, end } = await this.#open(place)
    const yieldIfDue = createEventLoopYield('query')
    const coinbaseBalance = () => state.account(env.coinbase)?.balance ?? 0n
    const destroyedEarlier = new Set<Hex>()
    const done: BundledTransaction[] = []
    let gasAvailable = env.gasLimit
    for (const transaction of transactions) {
      await yieldIfDue()
      const before = coinbaseBalance()
      const parts = { transaction, state, env, vm: this.#parts.vm, gasAvailable, destroyedEarlier }
      const outcome = await applyBundled({ ...parts, deadlineMs: end - performance.now() })
      for (const address of outcome.destroyed) destroyedEarlier.add(address)
      gasAvailable -= outcome.gasUsed
      done.push({ transaction, outcome, sentToCoinbase: coinbaseBalance() - before })
    }
    return done
  }

  async #open(place: SequencePlace): Promise<OpenSequence> {
    const { state, env, end } = await sequenceStart(this.#parts, place.reference, place)
    return { state: new Overlay(state), env, end }
  }

  async #call(call: SimulatedCall, place: CallPlace): Promise<SequencedCall> {
    const { config, vm, callGasCap: gasCap } = this.#parts
    const common = { call, vm, chainId: config.chainId, gasCap, validation: false }
    try {
      const { outcome } = await applySimulated({ ...common, ...place, gasAvailable: place.env.gasLimit })
      for (const address of outcome.destroyed) place.destroyedEarlier.add(address)
      return { outcome }
    } catch (error) {
      return { refusal: refusalIn(error) }
    }
  }
}

/** Runs a transaction. Throws `transaction-refused`, with its hash, when it cannot be in the block. */
async function applyBundled(parts: TransactionParts): Promise<TransactionOutcome> {
  try {
    return await applyTransaction(parts)
  } catch (error) {
    if (!(error instanceof TransactionRejected)) throw error
    throw new NodeError('transaction-refused', `${parts.transaction.hash}: ${error.message}`)
  }
}
