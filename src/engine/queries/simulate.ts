/** Calls and gas estimates on the state of a block, with state overrides; nothing is written. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import { failureError } from '../../evm/failure-message.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { Vm } from '../../evm/rules.ts'
import { muxTracers } from '../../evm/tracing/mux-tracer.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import { type AccessList, createAccessList } from '../../execution/access-list.ts'
import { applyTransaction, TransactionRejected } from '../../execution/apply-transaction.ts'
import { estimateGas } from '../../execution/estimate-gas.ts'
import { messageCall, type Simulation } from '../../execution/message-call.ts'
import type { CallRequest, StateOverrides } from '../../execution/request.ts'
import { tracedState } from '../../execution/traced-state.ts'
import type { Logger } from '../../logger.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import type { OnDemand } from '../../state/fork/demand.ts'
import type { StateReader } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import type { Emitter } from '../events.ts'
import type { BlockReference, BlockView, EngineEvents, HeaderOverrides } from '../model.ts'
import { consoleTexts, type NameFailure } from '../transaction-notes.ts'
import type { Lookup } from './lookup.ts'

/** Simulated messages. `timeoutMs` of wall clock, 0 for no limit; the node's own limit unless given. */
export interface Simulations {
  /**
   * Runs a message on the state of a block, in its environment; the output, at once where nothing waits. Throws, or
   * rejects with, `block-not-found`, `reverted` (with the revert data), `limit-exceeded` at the time limit.
   * Other failures of the code give empty output, unless strict calls are on (`reverted` with the failure's name).
   */
  call(
    request: CallRequest,
    reference: BlockReference,
    overrides?: StateOverrides,
    timeoutMs?: number,
  ): MaybePromise<Uint8Array>
  /**
   * Lowest gas limit with which the message succeeds. Throws `insufficient-funds` if `checksFunds`, `reverted`,
   * `block-not-found`, `limit-exceeded`.
   */
  estimateGas(
    request: CallRequest,
    reference: BlockReference,
    checksFunds: boolean,
    timeoutMs?: number,
  ): Promise<bigint>
  /** Runs a message as `call` does, and lists the accounts and slots that it accessed; its failure is part of the result. */
  accessList(request: CallRequest, reference: BlockReference, timeoutMs?: number): Promise<AccessList>
  /** Runs a message as `call` does under a tracer, which gets the result; a failure of the code is not thrown. Throws otherwise as `call` does. */
  traceCall(
    request: CallRequest,
    reference: BlockReference,
    tracer: Tracer,
    overrides?: StateOverrides,
    timeoutMs?: number,
  ): Promise<void>
  /** Runs messages as `traceCall` does, each on the state that the one before it left. */
  traceCalls(steps: readonly TracedCall[], reference: BlockReference, timeoutMs?: number): Promise<void>
  /**
   * Runs a signed transaction on the state of the head, in its environment, under a tracer. Throws
   * `transaction-refused` when no block could hold it there, `limit-exceeded`.
   */
  traceSigned(transaction: Transaction, tracer: Tracer, timeoutMs?: number): Promise<void>
}

/** A message to simulate, and its tracer. */
export interface TracedCall {
  readonly request: CallRequest
  readonly tracer: Tracer
}

interface Parts extends ChainAccess {
  readonly lookup: Lookup
  readonly vm: Vm
  readonly logger: Logger
  /** Gas; requests with more are reduced to it. */
  readonly callGasCap: bigint
  readonly gasEstimationCap: bigint
  /** Fixed fields of the next header: a higher fixed gas limit raises the gas caps. */
  readonly headerOverrides: () => HeaderOverrides
  /** Time limit of simulations without one of their own, milliseconds of wall clock; 0 is no limit. */
  readonly timeoutMs: number
  /** Throw on failures other than REVERT instead of returning empty output. */
  readonly strictCalls: boolean
  readonly nameFailure: NameFailure
  readonly events: Emitter<EngineEvents>
  readonly onDemand: OnDemand
}

/** Makes the simulations of a node. */
export function createSimulations(parts: Parts): Simulations {
  const { lookup, vm, logger, strictCalls, nameFailure, events, onDemand } = parts
  const within = (timeoutMs = parts.timeoutMs) => (timeoutMs > 0 ? { deadlineMs: timeoutMs } : {})

  function cap(usual: bigint): bigint {
    const { gasLimit = 0n } = parts.headerOverrides()
    return gasLimit > usual ? gasLimit : usual
  }

  interface Context {
    readonly state: StateReader
    readonly env: BlockEnvironment
    readonly at: BlockReference
  }

  function contextIn(
    reference: BlockReference,
    view: BlockView | undefined,
    state: StateReader | undefined,
  ): Context {
    if (view === undefined || state === undefined) throw new NodeError('block-not-found', 'Block not found')
    const { hash, block } = view.executed
    return { state, env: environmentAt(block.header, parts), at: view.pending ? reference : { hash } }
  }

  function contextOf(reference: BlockReference): MaybePromise<Context> {
    const view = lookup.block(reference)
    const state = lookup.state(reference)
    if (!(view instanceof Promise) && !(state instanceof Promise)) return contextIn(reference, view, state)
    return Promise.all([view, state]).then((found) => contextIn(reference, ...found))
  }

  return {
    call(request, reference, overrides, timeoutMs) {
      let at = reference
      const runIn = (context: Context) => {
        at = context.at
        return messageCall({
          request,
          state: context.state,
          env: context.env,
          vm,
          gasCap: cap(parts.callGasCap),
          named: nameFailure,
          ...(overrides && { overrides }),
          ...within(timeoutMs),
        })
      }
      const outputOf = ({ failure, output }: Simulation): Uint8Array => {
        if (failure === undefined) return output
        if (failure.kind === 'reverted' || strictCalls) {
          const error = failureError(failure)
          events.emit('failedCall', { error, request, reference: at, ...(overrides && { overrides }) })
          throw error
        }
        logger.warn(`a call failed and answered empty output: ${failure.reason}`, {
          to: request.to ?? ('0x' satisfies Hex),
        })
        return new Uint8Array(0)
      }
      const finish = (result: Simulation): MaybePromise<Uint8Array> => {
        if (result.consoleCalls === undefined) return outputOf(result)
        return consoleTexts(result.consoleCalls).then((texts) => {
          events.emit('console', { texts })
          return outputOf(result)
        })
      }
      const result = onDemand(
        () => andThen(contextOf(reference), runIn),
        () => request,
      )
      return andThen(result, finish)
    },
    async estimateGas(request, reference, checksFunds, timeoutMs) {
      let at = reference
      let consoleCalls: Simulation['consoleCalls']
      try {
        return await onDemand(
          async () => {
            const context = await contextOf(reference)
            at = context.at
            return estimateGas({
              request,
              state: context.state,
              env: context.env,
              vm,
              gasCap: cap(parts.gasEstimationCap),
              named: nameFailure,
              checksFunds,
              onFailure(failed) {
                consoleCalls = failed.consoleCalls
              },
              ...within(timeoutMs),
            })
          },
          () => request,
        )
      } catch (error) {
        if (error instanceof NodeError && error.kind === 'reverted') {
          if (consoleCalls !== undefined) events.emit('console', { texts: await consoleTexts(consoleCalls) })
          events.emit('failedCall', { error, request, reference: at })
        }
        throw error
      }
    },
    async accessList(request, reference, timeoutMs) {
      const { state, env } = await contextOf(reference)
      return createAccessList({
        request,
        state,
        env,
        vm,
        gasCap: cap(parts.callGasCap),
        ...within(timeoutMs),
      })
    },
    async traceCall(request, reference, tracer, overrides, timeoutMs) {
      const { state, env } = await contextOf(reference)
      await messageCall({
        request,
        state,
        env,
        vm,
        gasCap: cap(parts.callGasCap),
        tracer,
        ...(overrides && { overrides }),
        ...within(timeoutMs),
      })
    },
    async traceCalls(steps, reference, timeoutMs = parts.timeoutMs) {
      const { state, env } = await contextOf(reference)
      const end = timeoutMs > 0 ? performance.now() + timeoutMs : undefined
      let before = state
      for (const { request, tracer } of steps) {
        const keepState: Tracer = {
          finish({ after }) {
            before = after
          },
        }
        await messageCall({
          request,
          state: before,
          env,
          vm,
          gasCap: cap(parts.callGasCap),
          tracer: muxTracers([tracer, keepState]),
          ...(end !== undefined && { deadlineMs: Math.max(1, end - performance.now()) }),
        })
      }
    },
    async traceSigned(transaction, tracer, timeoutMs) {
      const { state, env } = await contextOf({ tag: 'latest' })
      const traced = tracedState(new Overlay(state), tracer)
      try {
        const outcome = await applyTransaction({
          transaction,
          state: traced.state,
          env,
          vm,
          gasAvailable: env.gasLimit,
          tracer,
          ...within(timeoutMs),
        })
        traced.end(transaction.gasLimit, outcome)
      } catch (error) {
        if (!(error instanceof TransactionRejected)) throw error
        throw new NodeError('transaction-refused', error.message)
      }
    },
  }
}
