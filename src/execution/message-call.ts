/**
 * An unsigned message on the state of a block: only gas is checked, and nothing is written
 * (docs/internals/rpc-reference.md#74-calls-and-estimates).
 */
import { EMPTY_ACCOUNT, withNonce, ZERO_ADDRESS } from '../chain/account.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import { type Failure, failureOf } from '../evm/failure-message.ts'
import type { BlockEnvironment, MessageResult } from '../evm/message.ts'
import type { Vm } from '../evm/rules.ts'
import type { Tracer } from '../evm/tracing/tracer.ts'
import { andThen } from '../maybe-promise.ts'
import type { StateReader } from '../state/model.ts'
import { Overlay } from '../state/overlay.ts'
import { applyAuthorizations } from './authorizations.ts'
import type { CallRequest } from './request.ts'

/** What simulating needs. */
export interface SimulationParts {
  readonly request: CallRequest
  readonly state: StateReader
  readonly env: BlockEnvironment
  readonly vm: Vm
  /** Gas of requests without gas; requests with more are reduced to it. */
  readonly gasCap: bigint
  /** Adds names to a failure of a message to this address. */
  readonly named?: ((failure: Failure, to: Hex | null) => Failure) | undefined
  /** Milliseconds of wall clock; `limit-exceeded` beyond. */
  readonly deadlineMs?: number | undefined
  readonly tracer?: Tracer | undefined
  /**
   * Leave the sender's nonce as it is, for messages on the state that others left. That of a creation is raised, since
   * the address of the next one depends on it.
   */
  readonly keepsNonce?: boolean | undefined
}

/** The result of a simulated message. Gas includes the intrinsic gas. */
export interface Simulation {
  /** Absent when it succeeded. */
  readonly failure?: Failure | undefined
  /** Returned bytes or revert payload. */
  readonly output: Uint8Array
  /** Before any refund. */
  readonly gasUsed: bigint
  /** Not yet capped. */
  readonly refund: bigint
  readonly valueCallSeen: boolean
  /** Call data to the console contract; absent when there is none. */
  readonly consoleCalls?: readonly Uint8Array[] | undefined
  /** The changes that the message makes of the given state. */
  readonly after: Overlay
}

/** Gas of a request within the cap. */
export function cappedGas(request: CallRequest, gasCap: bigint): bigint {
  return request.gas === undefined || request.gas > gasCap ? gasCap : request.gas
}

/** Gas after the refund, which is at most half of it (docs/internals/protocol.md#62-gas-schedule). */
function netGas(used: bigint, refund: bigint): bigint {
  return used - (refund < used / 2n ? refund : used / 2n)
}

/** Takes back what running a message raised, unless it destroyed the account. */
function lowerNonce(state: Overlay, address: Hex): void {
  const account = state.account(address)
  if (account !== undefined) state.putAccount(address, withNonce(account, account.nonce - 1n))
}

/**
 * Runs the message: the result, or a promise of it when the run has to wait. Throws or rejects with `limit-exceeded`;
 * failures of the code are results.
 */
export function messageCall(parts: SimulationParts): Simulation | Promise<Simulation> {
  const { request, state, env, vm, gasCap, deadlineMs, tracer } = parts
  const rules = vm.rulesAt(env.number)
  const { from = ZERO_ADDRESS, to = null, value = 0n, gasPrice = 0n, data = EMPTY } = request
  const given = new Overlay(state)
  const watched = tracer?.wrapState?.(given)
  const overlay = watched === undefined ? given : new Overlay(watched)

  const gas = cappedGas(request, gasCap)
  const intrinsic = rules.intrinsicGas({ to, data, typed: request.typed })
  if (intrinsic > gas) {
    if (tracer !== undefined) throw invalidParams(`gas: ${gas} is below the intrinsic gas ${intrinsic}`)
    const failure: Failure = { kind: 'failed', reason: 'out of gas', output: EMPTY }
    return { failure, output: EMPTY, gasUsed: gas, refund: 0n, valueCallSeen: false, after: overlay }
  }
  const sender = overlay.account(from) ?? EMPTY_ACCOUNT
  overlay.putAccount(from, {
    ...sender,
    nonce: sender.nonce + 1n,
    // The reference node lets a balance go below zero here.
    balance: sender.balance < value ? value : sender.balance,
  })
  const delegated = applyAuthorizations(overlay, request.typed?.authorizations, vm.chainId)
  const message = { from, to, value, data, gas: gas - intrinsic, gasPrice, origin: from }
  const finish = (result: MessageResult): Simulation => {
    const plain = failureOf(result)
    const failure = plain && (parts.named?.(plain, to) ?? plain)
    for (const address of result.destroyed) overlay.deleteAccount(address)
    if (parts.keepsNonce === true && to !== null) lowerNonce(overlay, from)
    tracer?.finish?.({
      gasLimit: gas,
      gasUsed: netGas(intrinsic + result.gasUsed, result.refund + delegated),
      succeeded: failure === undefined,
      output: result.output,
      after: overlay,
    })
    return {
      failure,
      output: result.output,
      gasUsed: intrinsic + result.gasUsed,
      refund: result.refund + delegated,
      valueCallSeen: result.valueCallSeen,
      consoleCalls: result.consoleCalls,
      after: overlay,
    }
  }
  const result = vm.run(message, overlay, env, { deadlineMs, isLocal: true, tracer })
  return andThen(result, finish)
}
