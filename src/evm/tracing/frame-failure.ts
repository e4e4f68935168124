/** Why a frame failed, as numbers taken from the frame before it is gone. */
import { MAX_INITCODE_SIZE } from '../../chain/intrinsic-gas.ts'
import { opcodeAt } from '../code-analysis.ts'
import { EvmFailure, FAILURE } from '../failure.ts'
import { failureOf, revertReason } from '../failure-message.ts'
import type { Frame } from '../frame.ts'
import { isCall, type OpcodeTable, type Operation, STACK_LIMIT } from '../opcodes/operation.ts'
import type { FailureCause, FrameFailure } from './call-frame.ts'

/** A failure with its cause. */
class TracedFailure extends EvmFailure {
  readonly traced: FailureCause

  constructor(reason: string, cause: FailureCause) {
    super(reason)
    this.traced = cause
  }
}

/**
 * What the opcode at which a frame failed requires beyond its fee. It runs without gas: these opcodes pay before they do
 * anything, so nothing happens but the failure.
 */
function failureWithoutGas(frame: Frame, row: Operation): EvmFailure | undefined {
  if (!row.hasDynamicGas) return undefined
  frame.gas = -1
  try {
    row.run(frame)
  } catch (error) {
    if (error instanceof EvmFailure) return error
    throw error
  }
  return undefined
}

function outOfGas(frame: Frame, row: Operation): FailureCause {
  const { fee, name: operation } = row
  // `lacking` is 0 while the fee itself is unpaid; otherwise that fee is already deducted from the gas.
  const isFeePaid = frame.lacking > 0
  const available = frame.gas + (isFeePaid ? fee : 0)
  if (isFeePaid && isCall(row) && frame.lacking <= frame.gas) {
    return { kind: 'out-of-gas', by: 'stipend', operation, required: frame.lacking, available }
  }
  if (!isFeePaid && failureWithoutGas(frame, row)?.reason === FAILURE.STATIC_STATE_CHANGE) {
    return { kind: 'static-violation' }
  }
  const required = frame.lacking < Number.MAX_SAFE_INTEGER ? fee + frame.lacking : undefined
  return { kind: 'out-of-gas', by: isCall(row) ? 'call' : 'opcode', operation, required, available }
}

function causeIn(frame: Frame, reason: string, table: OpcodeTable): FailureCause | undefined {
  const { analysis, pc, sp, stack, leftOpcode } = frame
  const opcode = leftOpcode ?? opcodeAt(analysis.code, pc)
  const row = table[opcode]
  if (row === undefined) return { kind: 'invalid-opcode', opcode }
  switch (reason) {
    case FAILURE.OUT_OF_GAS:
      if (!frame.isOutOfBounds) return outOfGas(frame, row)
      return {
        kind: 'return-data-bounds',
        offset: stack[sp + 1] ?? 0n,
        size: stack[sp] ?? 0n,
        available: frame.returned.length,
      }
    case FAILURE.INVALID_JUMP:
      // The operands are popped and still readable above the stack pointer; the target was the top one.
      return { kind: 'invalid-jump', target: stack[sp + row.pops - 1] ?? 0n }
    case FAILURE.STACK_UNDERFLOW:
      return { kind: 'stack-underflow', required: row.pops, available: sp }
    case FAILURE.STACK_OVERFLOW:
      return { kind: 'stack-overflow', limit: STACK_LIMIT }
    case FAILURE.STATIC_STATE_CHANGE:
      return { kind: 'static-violation' }
    case FAILURE.INITCODE_SIZE_VIOLATION:
      // The third operand.
      return {
        kind: 'initcode-size',
        size: stack[sp + row.pops - 3] ?? 0n,
        limit: MAX_INITCODE_SIZE,
      }
    default:
      return undefined
  }
}

/** Two hex digits: the name of an opcode without one. */
export function opcodeDigits(opcode: number): string {
  return opcode.toString(16).padStart(2, '0')
}

/** The same failure with its cause, read from the frame as it stands. */
export function tracedFailure(frame: Frame, failure: EvmFailure, opcodes: OpcodeTable): EvmFailure {
  const cause = causeIn(frame, failure.reason, opcodes)
  return cause === undefined ? failure : new TracedFailure(failure.reason, cause)
}

/** The failure of a precompiled contract, with its message. */
export function precompileFailure(message: string): EvmFailure {
  return new TracedFailure(FAILURE.INTERNAL_ERROR, { kind: 'other', message })
}

/** The cause of a failure outside of code: in a precompiled contract, or after init code has run. */
function causeOutside(reason: string, gas: bigint, isPrecompile: boolean): FailureCause {
  if (reason === FAILURE.INVALID_BYTECODE_RESULT) return { kind: 'code-prefix' }
  if (reason !== FAILURE.OUT_OF_GAS) return { kind: 'other', message: reason }
  return { kind: isPrecompile ? 'precompile-out-of-gas' : 'deposit-out-of-gas', gas }
}

/** How a frame failed; `gas` is what it was given. */
export function frameFailure(
  failure: EvmFailure,
  output: Uint8Array,
  { gas, isPrecompile }: { readonly gas: bigint; readonly isPrecompile: boolean },
): FrameFailure {
  const status = failure.reason === FAILURE.REVERT ? 'reverted' : 'failed'
  const reason = failureOf({ status, failure: failure.reason, output })?.reason ?? failure.reason
  if (status === 'reverted') {
    const text = revertReason(output)
    return { kind: 'reverted', reason, ...(text !== undefined && { revertReason: text }) }
  }
  const cause =
    failure instanceof TracedFailure ? failure.traced : causeOutside(failure.reason, gas, isPrecompile)
  return { kind: 'failed', reason, cause }
}
