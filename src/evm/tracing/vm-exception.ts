/** The exceptions of the chain's node, in its words, for failures of a frame (docs/rpc-reference.md#68-flat-trace). */
import { EVMError } from '@ethereumjs/evm'
import { failureOf } from '../failure-message.ts'
import { FAILURE, type Frame } from '../frame.ts'
import { type OpcodeTable, STACK_LIMIT } from '../opcodes/table.ts'
import type { FrameFailure, VmException } from './call-frame.ts'

const PROGRAM = 'org.ethereum.vm.program.Program$'
/** The node's word for more gas than it counts. */
const BEYOND_COUNTING = '9223372036854775807'
const JUMPI = 0x57
const RETURNDATACOPY = 0x3e

/** A failure with the exception that the node would have thrown. */
class TracedFailure extends EVMError {
  readonly exception: VmException

  constructor(failure: EVMError['error'], exception: VmException) {
    super(failure)
    this.exception = exception
  }
}

function outOfGas(frame: Frame, name: string, fee: number): VmException {
  // Once the fee is paid it is off the gas, and what came after it was too much.
  const paid = frame.lacking === 0 ? 0 : fee
  const asked = frame.lacking === 0 ? fee : fee + frame.lacking
  const had = frame.gas + paid
  const opGas = frame.lacking < Number.MAX_SAFE_INTEGER ? asked : BEYOND_COUNTING
  return {
    name: `${PROGRAM}OutOfGasException`,
    message: `Not enough gas for '${name}' operation executing: opGas[${opGas}], programGas[${had}], tx[{tx}]`,
  }
}

function exceptionIn(
  frame: Frame,
  failure: EVMError['error'],
  { names, fees, needs }: OpcodeTable,
): VmException | undefined {
  const { analysis, pc, sp, stack } = frame
  const opcode = analysis.code[pc] ?? 0
  const opcodeText = opcode.toString(16).padStart(2, '0')
  const name = names[opcode] ?? opcodeText
  switch (failure) {
    case FAILURE.OUT_OF_GAS:
      if (opcode === RETURNDATACOPY && frame.lacking === 0 && frame.gas >= (fees[opcode] as number)) {
        return {
          name: `${PROGRAM}ReturnDataCopyIllegalBoundsException`,
          message: `Illegal RETURNDATACOPY arguments: offset (${stack[sp + 1]}) + size (${stack[sp]}) > RETURNDATASIZE (${frame.returned.length}), tx[{tx}]`,
        }
      }
      return outOfGas(frame, name, Math.max(0, fees[opcode] as number))
    case FAILURE.INVALID_OPCODE:
      return {
        name: `${PROGRAM}IllegalOperationException`,
        message: `Invalid operation code: opcode[${opcodeText}], tx[{tx}]`,
      }
    case FAILURE.INVALID_JUMP: {
      // Both operands of a JUMPI are off the stack, and still there above it.
      const target = stack[opcode === JUMPI ? sp + 1 : sp] ?? 0n
      return {
        name: `${PROGRAM}BadJumpDestinationException`,
        message: `Operation with pc isn't 'JUMPDEST': PC[${target}], tx[{tx}]`,
      }
    }
    case FAILURE.STACK_UNDERFLOW:
      return {
        name: `${PROGRAM}StackTooSmallException`,
        message: `Expected stack size ${needs[opcode]} but actual ${sp}, tx: {tx}`,
      }
    case FAILURE.STACK_OVERFLOW:
      return {
        name: `${PROGRAM}StackTooLargeException`,
        message: `Expected: overflow ${STACK_LIMIT} elements stack limit`,
      }
    case FAILURE.STATIC_STATE_CHANGE:
      return {
        name: `${PROGRAM}StaticCallModificationException`,
        message: 'Attempt to call a state modifying opcode inside STATICCALL: tx[{tx}]',
      }
    default:
      return undefined
  }
}

/** The same failure, with the words that only the frame, as it stands, can give. */
export function tracedFailure(frame: Frame, failure: EVMError, opcodes: OpcodeTable): EVMError {
  const exception = exceptionIn(frame, failure.error, opcodes)
  return exception === undefined ? failure : new TracedFailure(failure.error, exception)
}

/** The failure of a native contract, with its own words for a trace. */
export function precompileFailure(words: string): EVMError {
  const name = 'org.ethereum.vm.exception.VMException'
  return new TracedFailure(FAILURE.INTERNAL_ERROR, { name, message: `${words}, tx[{tx}]` })
}

/** Of a failure outside of code: a native contract, or what follows a creation. */
function exceptionOutside(failure: EVMError['error'], gas: bigint, isPrecompile: boolean): VmException {
  if (failure === FAILURE.OUT_OF_GAS) {
    const cause = isPrecompile ? 'precompiled contract' : 'No gas to return just created contract'
    return {
      name: `${PROGRAM}OutOfGasException`,
      message: `Not enough gas for '${cause}' cause spending: invokeGas[${gas}], gas[${gas}], usedGas[${gas}], tx[{tx}]`,
    }
  }
  return { name: 'org.ethereum.vm.exception.VMException', message: `${failure}, tx[{tx}]` }
}

/** How a frame failed, for its trace; `gas` is what it came with. */
export function frameFailure(
  failure: EVMError,
  output: Uint8Array,
  { gas, isPrecompile }: { readonly gas: bigint; readonly isPrecompile: boolean },
): FrameFailure {
  const { error } = failure
  const status = error === FAILURE.REVERT ? 'reverted' : 'failed'
  const reason = failureOf({ status, failure: error, output })?.reason ?? error
  if (status === 'reverted') return { kind: 'reverted', reason }
  const exception =
    failure instanceof TracedFailure ? failure.exception : exceptionOutside(error, gas, isPrecompile)
  return { kind: 'failed', reason, exception }
}
