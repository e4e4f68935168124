/** Calls and signed transactions in a row on the state of a block, each on what the ones before left; nothing is kept. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { Vm } from '../../evm/rules.ts'
import {
  applyTransaction,
  type TransactionOutcome,
  TransactionRejected,
} from '../../execution/apply-transaction.ts'
import { applyOverrides } from '../../execution/overrides.ts'
import type { BlockOverrideValues, StateOverrides } from '../../execution/request.ts'
import { applySimulated, type SimulatedCall } from '../../execution/simulated-transaction.ts'
import type { StateReader } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { BlockReference } from '../model.ts'
import type { Lookup } from './lookup.ts'
import type { Replays } from './replay.ts'

/** Calls of one block. */
export interface CallBundle {
  readonly overrides: BlockOverrideValues
  readonly calls: readonly SimulatedCall[]
}

/** Where a sequence runs. */
export interface SequencePlace {
  readonly reference: BlockReference
  /** Only so many transactions of the block have run; all of it unless given. */
  readonly transactionCount?: number
  readonly overrides?: StateOverrides
  readonly timeoutMs?: number
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
    overrides: BlockOverrideValues,
    transactions: readonly Transaction[],
  ): Promise<readonly BundledTransaction[]>
}

interface Parts extends ChainAccess {
  readonly lookup: Lookup
  readonly replays: Replays
  readonly vm: Vm
  /** Gas of a call without gas. */
  readonly callGasCap: bigint
  /** Time limit of sequences without one of their own, milliseconds; 0 is no limit. */
  readonly timeoutMs: number
}

/** Makes the sequences of a node. */
export function createCallSequences(parts: Parts): CallSequences {
  const { config, lookup, replays, vm } = parts

  async function open({
    reference,
    transactionCount,
    overrides,
    timeoutMs = parts.timeoutMs,
  }: SequencePlace) {
    const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
    const executed = (await lookup.block(reference))?.executed
    const isPart =
      executed !== undefined &&
      transactionCount !== undefined &&
      transactionCount < executed.block.transactions.length
    const below: StateReader | undefined = isPart
      ? (await replays.replay(executed, () => undefined, { lastIndex: transactionCount - 1, timeoutMs }))
          .state
      : await lookup.state(reference)
    if (executed === undefined || below === undefined) {
      throw new NodeError('block-not-found', 'Block not found')
    }
    const state = new Overlay(below)
    const env = environmentAt(executed.block.header, parts)
    if (overrides !== undefined) applyOverrides(state, overrides, vm.rulesAt(env.number).precompiles)
    return { state, env, end }
  }

  async function callIn(
    call: SimulatedCall,
    at: { state: Overlay; env: BlockEnvironment; destroyedEarlier: Set<Hex>; deadlineMs: number },
  ): Promise<SequencedCall> {
    const common = { call, vm, chainId: config.chainId, gasCap: parts.callGasCap, validation: false }
    try {
      const { outcome } = await applySimulated({ ...common, ...at, gasAvailable: at.env.gasLimit })
      for (const address of outcome.destroyed) at.destroyedEarlier.add(address)
      return { outcome }
    } catch (error) {
      if (error instanceof NodeError && error.kind !== 'limit-exceeded') return { refusal: error }
      throw error
    }
  }

  return {
    async callMany(place, bundles) {
      const { state, env: first, end } = await open(place)
      const yieldIfDue = createEventLoopYield('query')
      const results: SequencedCall[][] = []
      let env = first
      for (const { overrides, calls } of bundles) {
        env = { ...env, ...overrides }
        const destroyedEarlier = new Set<Hex>()
        const outcomes: SequencedCall[] = []
        for (const call of calls) {
          await yieldIfDue()
          outcomes.push(
            await callIn(call, { state, env, destroyedEarlier, deadlineMs: end - performance.now() }),
          )
        }
        results.push(outcomes)
        env = { ...env, number: env.number + 1, timestamp: env.timestamp + 1 }
      }
      return results
    },

    async callBundle(place, overrides, transactions) {
      const { state, env: at, end } = await open(place)
      const yieldIfDue = createEventLoopYield('query')
      const env = { ...at, ...overrides }
      const held = () => state.account(env.coinbase)?.balance ?? 0n
      const destroyedEarlier = new Set<Hex>()
      const done: BundledTransaction[] = []
      let gasAvailable = env.gasLimit
      for (const transaction of transactions) {
        await yieldIfDue()
        const before = held()
        try {
          const deadlineMs = end - performance.now()
          const outcome = await applyTransaction({
            transaction,
            state,
            env,
            vm,
            gasAvailable,
            destroyedEarlier,
            deadlineMs,
          })
          for (const address of outcome.destroyed) destroyedEarlier.add(address)
          gasAvailable -= outcome.gasUsed
          done.push({ transaction, outcome, sentToCoinbase: held() - before })
        } catch (error) {
          if (!(error instanceof TransactionRejected)) throw error
          throw new NodeError('transaction-refused', `${transaction.hash}: ${error.message}`)
        }
      }
      return done
    },
  }
}
