/** Calls and gas estimates on the state of a block, with state overrides; nothing is written. */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import { type Failure, failureError } from '../../evm/failure-message.ts'
import type { Vm } from '../../evm/rules.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import { type AccessList, createAccessList } from '../../execution/access-list.ts'
import { applyTransaction, TransactionRejected } from '../../execution/apply-transaction.ts'
import { estimateGas, type FundsRule } from '../../execution/estimate-gas.ts'
import { messageCall, type Simulation, type SimulationParts } from '../../execution/message-call.ts'
import type { ExecutionPlace } from '../../execution/overrides.ts'
import type { CallRequest } from '../../execution/request.ts'
import { tracedState } from '../../execution/traced-state.ts'
import type { Logger } from '../../logger.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import type { OnDemand } from '../../state/fork/demand.ts'
import { Overlay } from '../../state/overlay.ts'
import type { Emitter } from '../events.ts'
import type {
  BlockReference,
  EngineEvents,
  FailedCall,
  HeaderOverrides,
  SimulationOptions,
} from '../model.ts'
import { consoleTexts, type NameFailure } from '../transaction-notes.ts'
import { type PlaceParts, raisedGasCap, type SimulationPlace, simulationPlace } from './simulation-place.ts'

/** Simulated messages. */
export interface Simulations {
  /**
   * Runs a message on the state of a block, in its environment; the output, at once where nothing waits. Throws, or
   * rejects with, `block-not-found`, `reverted` (with the revert data), `limit-exceeded` at the time limit.
   * Other failures of the code give empty output, unless strict calls are on (`reverted` with the failure's name).
   * Here and below `invalid-params` for overrides that cannot be made.
   */
  call(request: CallRequest, reference: BlockReference, options?: SimulationOptions): MaybePromise<Uint8Array>
  /**
   * Lowest gas limit with which the message succeeds. Throws `insufficient-funds` by `fundsRule`, `reverted`,
   * `block-not-found`, `limit-exceeded`.
   */
  estimateGas(
    request: CallRequest,
    reference: BlockReference,
    fundsRule: FundsRule,
    options?: SimulationOptions,
  ): Promise<bigint>
  /** Runs a message as `call` does, and lists the accounts and slots that it accessed; its failure is part of the result. */
  accessList(
    request: CallRequest,
    reference: BlockReference,
    options?: SimulationOptions,
  ): Promise<AccessList>
  /** Runs a message as `call` does under a tracer, which gets the result; a failure of the code is not thrown. Throws otherwise as `call` does. */
  traceCall(
    request: CallRequest,
    reference: BlockReference,
    tracer: Tracer,
    options?: SimulationOptions,
  ): Promise<void>
  /** Runs messages as `traceCall` does, each on the state that the one before it left; the overrides are made before the first. */
  traceCalls(
    steps: readonly TracedCall[],
    reference: BlockReference,
    options?: SimulationOptions,
  ): Promise<void>
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

interface Parts extends PlaceParts {
  readonly logger: Logger
  /** The VM of estimates. */
  readonly estimateVm: Vm
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

const NO_OPTIONS: SimulationOptions = {}

/** The simulations of a node. */
export class StateSimulations implements Simulations {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  call(
    request: CallRequest,
    reference: BlockReference,
    options: SimulationOptions = NO_OPTIONS,
  ): MaybePromise<Uint8Array> {
    let at = reference
    const runIn = (place: SimulationPlace) => {
      at = place.at
      const named = this.#parts.nameFailure
      return messageCall(this.#messageParts(request, place, options.timeoutMs, { named }))
    }
    const outputOf = (result: Simulation) =>
      result.failure === undefined
        ? result.output
        : this.#failedOutput(result.failure, { request, reference: at, options })
    const result = this.#parts.onDemand(
      () => andThen(simulationPlace(this.#parts, reference, options), runIn),
      () => request,
    )
    return andThen(result, (found) => {
      if (found.consoleCalls === undefined) return outputOf(found)
      return this.#emitConsole(found.consoleCalls).then(() => outputOf(found))
    })
  }

  async estimateGas(
    request: CallRequest,
    reference: BlockReference,
    fundsRule: FundsRule,
    options: SimulationOptions = NO_OPTIONS,
  ): Promise<bigint> {
    const { events, nameFailure, onDemand, gasEstimationCap } = this.#parts
    let at = reference
    let consoleCalls: Simulation['consoleCalls']
    const estimate = async () => {
      const place = await simulationPlace(this.#parts, reference, options)
      at = place.at
      return estimateGas({
        ...this.#messageParts(request, place, options.timeoutMs),
        vm: this.#parts.estimateVm,
        gasCap: this.#gasCap(gasEstimationCap),
        named: nameFailure,
        fundsRule,
        onFailure(failed) {
          consoleCalls = failed.consoleCalls
        },
      })
    }
    try {
      return await onDemand(estimate, () => request)
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'reverted') {
        if (consoleCalls !== undefined) await this.#emitConsole(consoleCalls)
        events.emit('failedCall', { error, request, reference: at, options })
      }
      throw error
    }
  }

  async accessList(
    request: CallRequest,
    reference: BlockReference,
    options: SimulationOptions = NO_OPTIONS,
  ): Promise<AccessList> {
    const place = await simulationPlace(this.#parts, reference, options)
    return createAccessList(this.#messageParts(request, place, options.timeoutMs))
  }

  async traceCall(
    request: CallRequest,
    reference: BlockReference,
    tracer: Tracer,
    options: SimulationOptions = NO_OPTIONS,
  ): Promise<void> {
    const place = await simulationPlace(this.#parts, reference, options)
    await messageCall(this.#messageParts(request, place, options.timeoutMs, { tracer }))
  }

  async traceCalls(
    steps: readonly TracedCall[],
    reference: BlockReference,
    options: SimulationOptions = NO_OPTIONS,
  ): Promise<void> {
    const { timeoutMs = this.#parts.timeoutMs } = options
    const place = await simulationPlace(this.#parts, reference, options)
    const end = timeoutMs > 0 ? performance.now() + timeoutMs : undefined
    let { state } = place
    for (const { request, tracer } of steps) {
      const { after } = await messageCall({
        ...this.#messageParts(request, { env: place.env, state }, 0, { tracer }),
        ...(end !== undefined && { deadlineMs: Math.max(1, end - performance.now()) }),
      })
      state = after
    }
  }

  async traceSigned(transaction: Transaction, tracer: Tracer, timeoutMs?: number): Promise<void> {
    const { state, env } = await simulationPlace(this.#parts, { tag: 'latest' }, NO_OPTIONS)
    const traced = tracedState(new Overlay(state), tracer)
    try {
      const outcome = await applyTransaction({
        transaction,
        state: traced.state,
        env,
        vm: this.#parts.vm,
        gasAvailable: env.gasLimit,
        tracer,
        deadlineMs: this.#deadlineMs(timeoutMs),
      })
      traced.end(transaction.gasLimit, outcome)
    } catch (error) {
      if (!(error instanceof TransactionRejected)) throw error
      throw new NodeError('transaction-refused', error.message)
    }
  }

  /** Without spreads, which V8 copies by a slow path: a small call then took a sixth longer. */
  #messageParts(
    request: CallRequest,
    { state, env }: ExecutionPlace,
    timeoutMs: number | undefined,
    { named, tracer }: Pick<SimulationParts, 'named' | 'tracer'> = {},
  ): SimulationParts {
    const { vm, callGasCap } = this.#parts
    const gasCap = this.#gasCap(callGasCap)
    const deadlineMs = this.#deadlineMs(timeoutMs)
    return { request, state, env, vm, gasCap, named, deadlineMs, tracer }
  }

  #deadlineMs(timeoutMs = this.#parts.timeoutMs): number | undefined {
    return timeoutMs > 0 ? timeoutMs : undefined
  }

  #gasCap(cap: bigint): bigint {
    return raisedGasCap(cap, this.#parts.headerOverrides())
  }

  /** The output of a failed call. Throws `reverted` for a revert, and under strict calls for any failure. */
  #failedOutput(failure: Failure, call: Omit<FailedCall, 'error'>): Uint8Array {
    const { strictCalls, events, logger } = this.#parts
    if (failure.kind === 'reverted' || strictCalls) {
      const error = failureError(failure)
      events.emit('failedCall', { error, ...call })
      throw error
    }
    logger.warn(`a call failed and answered empty output: ${failure.reason}`, {
      to: call.request.to ?? ('0x' satisfies Hex),
    })
    return new Uint8Array(0)
  }

  async #emitConsole(calls: readonly Uint8Array[]): Promise<void> {
    this.#parts.events.emit('console', { texts: await consoleTexts(calls) })
  }
}
