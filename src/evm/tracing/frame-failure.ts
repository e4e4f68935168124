/** Why a frame failed, as numbers taken from the frame before it is gone. */
import { EVMError } from '@ethereumjs/evm'
import { failureOf, revertReason } from '../failure-message.ts'
import { FAILURE, type Frame } from '../frame.ts'
import type { OpcodeTable } from '../opcodes/table.ts'
import type { FailureCause, FrameFailure } from './call-frame.ts'

const JUMPI = 0x57
const RETURNDATACOPY = 0x3e
const STACK_LIMIT = 1024

/** A failure with its cause. */
class TracedFailure extends EVMError {
  readonly traced: FailureCause

  constructor(failure: EVMError['error'], cause: FailureCause) {
    super(failure)
    this.traced = cause
  }
}

function outOfGas(frame: Frame, operation: string, fee: number): FailureCause {
  // `lacking` is 0 while the constant fee itself is unpaid; otherwise that fee is already deducted from the gas.
  const paid = frame.lacking === 0 ? 0 : fee
  const required = fee + frame.lacking
  return {
    kind: 'out-of-gas',
    operation,
    required: frame.lacking < Number.MAX_SAFE_INTEGER ? required : undefined,
    available: frame.gas + paid,
  }
}

function causeIn(
  frame: Frame,
  failure: EVMError['error'],
  { names, fees, needs }: OpcodeTable,
): FailureCause | undefined {
  const { analysis, pc, sp, stack } = frame
  const opcode = analysis.code[pc] ?? 0
  switch (failure) {
    case FAILURE.OUT_OF_GAS:
      if (opcode === RETURNDATACOPY && frame.lacking === 0 && frame.gas >= (fees[opcode] as number)) {
        return {
          kind: 'return-data-bounds',
          offset: stack[sp + 1] ?? 0n,
          size: stack[sp] ?? 0n,
          available: frame.returned.length,
        }
      }
      return outOfGas(frame, names[opcode] ?? opcodeDigits(opcode), Math.max(0, fees[opcode] as number))
    case FAILURE.INVALID_OPCODE:
      return { kind: 'invalid-opcode', opcode }
    case FAILURE.INVALID_JUMP:
      // The operands of a JUMPI are popped and still readable above the stack pointer.
      return { kind: 'invalid-jump', target: stack[opcode === JUMPI ? sp + 1 : sp] ?? 0n }
    case FAILURE.STACK_UNDERFLOW:
      return { kind: 'stack-underflow', required: needs[opcode] ?? 0, available: sp }
    case FAILURE.STACK_OVERFLOW:
      return { kind: 'stack-overflow', limit: STACK_LIMIT }
    case FAILURE.STATIC_STATE_CHANGE:
      return { kind: 'static-violation' }
    default:
      return undefined
  }
}

/** Two hex digits: the name of an opcode without one. */
export function opcodeDigits(opcode: number): string {
  return opcode.toString(16).padStart(2, '0')
}

/** The same failure with its cause, read from the frame as it stands. */
export function tracedFailure(frame: Frame, failure: EVMError, opcodes: OpcodeTable): EVMError {
  const cause = causeIn(frame, failure.error, opcodes)
  return cause === undefined ? failure : new TracedFailure(failure.error, cause)
}

/** The failure of a precompiled contract, with its message. */
export function precompileFailure(message: string): EVMError {
  return new TracedFailure(FAILURE.INTERNAL_ERROR, { kind: 'other', message })
}

/** The cause of a failure outside of code: in a precompiled contract, or after init code has run. */
function causeOutside(failure: EVMError['error'], gas: bigint, isPrecompile: boolean): FailureCause {
  if (failure !== FAILURE.OUT_OF_GAS) return { kind: 'other', message: failure }
  return { kind: isPrecompile ? 'precompile-out-of-gas' : 'deposit-out-of-gas', gas }
}

/** How a frame failed; `gas` is what it was given. */
export function frameFailure(
  failure: EVMError,
  output: Uint8Array,
  { gas, isPrecompile }: { readonly gas: bigint; readonly isPrecompile: boolean },
): FrameFailure {
  const { error } = failure
  const status = error === FAILURE.REVERT ? 'reverted' : 'failed'
  const reason = failureOf({ status, failure: error, output })?.reason ?? error
  if (status === 'reverted') {
    const text = revertReason(output)
    return { kind: 'reverted', reason, ...(text !== undefined && { revertReason: text }) }
  }
  const cause = failure instanceof TracedFailure ? failure.traced : causeOutside(error, gas, isPrecompile)
  return { kind: 'failed', reason, cause }
}
