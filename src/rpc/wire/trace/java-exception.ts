/** The reference node's exceptions for failures of a frame, byte for byte (docs/internals/rpc-reference.md#68-flat-trace). */
import type { Hex } from '../../../encoding/hex.ts'
import type { FailureCause } from '../../../evm/tracing/call-frame.ts'

/** A Java class and the message of its instance. */
export interface JavaException {
  readonly className: string
  readonly message: string
}

const RUNTIME_EXCEPTION = 'java.lang.RuntimeException'
const VM_EXCEPTION = 'org.ethereum.vm.exception.VMException'
/** The reference node's largest gas value. */
const MAX_GAS = '9223372036854775807'

function program(className: string, message: string): JavaException {
  return { className: `org.ethereum.vm.program.Program$${className}`, message }
}

/** `gas` is what the frame was given, `available` what it has left. */
function spendingFailed(
  purpose: string,
  required: bigint | number,
  available: bigint | number,
  gas: bigint,
  tx: Hex,
): JavaException {
  const used = gas - BigInt(available)
  return program(
    'OutOfGasException',
    `Not enough gas for '${purpose}' cause spending: invokeGas[${gas}], gas[${required}], usedGas[${used}], tx[${tx}]`,
  )
}

function outOfGas(cause: FailureCause & { kind: 'out-of-gas' }, gas: bigint, tx: Hex): JavaException {
  const { by, operation, required, available } = cause
  if (required === undefined) {
    return program(
      'OutOfGasException',
      `Not enough gas for '${operation}' operation executing: opGas[${MAX_GAS}], programGas[${available}], tx[${tx}]`,
    )
  }
  if (by !== 'call') return spendingFailed(operation, required, available, gas, tx)
  return program(
    'OutOfGasException',
    `Gas value overflow: actualGas[${available}], gasLimit[${required}], tx[${tx}]`,
  )
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0')

/** A jump target as Java's signed 32-bit integer; -1 for a target of more than four bytes. */
function jumpTarget(target: bigint): bigint {
  return target >> 32n === 0n ? BigInt.asIntN(32, target) : -1n
}

/** The exception for the failure of a frame that was given `gas`, in the transaction `tx`. */
export function javaException(cause: FailureCause, gas: bigint, tx: Hex): JavaException {
  switch (cause.kind) {
    case 'out-of-gas':
      return outOfGas(cause, gas, tx)
    case 'precompile-out-of-gas':
      return spendingFailed('precompiled contract', cause.gas, 0n, cause.gas, tx)
    case 'deposit-out-of-gas':
      return spendingFailed('No gas to return just created contract', cause.gas, 0n, cause.gas, tx)
    case 'return-data-bounds': {
      const { offset, size, available } = cause
      return {
        className: RUNTIME_EXCEPTION,
        message: `Illegal RETURNDATACOPY arguments: offset (${word(offset)}) + size (${word(size)}) > RETURNDATASIZE (${available})`,
      }
    }
    case 'initcode-size':
      return {
        className: RUNTIME_EXCEPTION,
        message: `Maximum initcode size allowed ${cause.limit} but actual was ${cause.size}, tx: ${tx}`,
      }
    case 'code-prefix':
      return {
        className: RUNTIME_EXCEPTION,
        message: `Contract code cannot start with 0xEF byte (RSKIP544/EIP-3541), tx: ${tx}`,
      }
    case 'invalid-opcode': {
      const digits = cause.opcode.toString(16).padStart(2, '0')
      return program('IllegalOperationException', `Invalid operation code: opcode[${digits}], tx[${tx}]`)
    }
    case 'invalid-jump':
      return program(
        'BadJumpDestinationException',
        `Operation with pc isn't 'JUMPDEST': PC[${jumpTarget(cause.target)}], tx[${tx}]`,
      )
    case 'stack-underflow':
      return program(
        'StackTooSmallException',
        `Expected stack size ${cause.required} but actual ${cause.available}, tx: ${tx}`,
      )
    case 'stack-overflow':
      return program('StackTooLargeException', `Expected: overflow ${cause.limit} elements stack limit`)
    case 'static-violation':
      return program(
        'StaticCallModificationException',
        `Attempt to call a state modifying opcode inside STATICCALL: tx[${tx}]`,
      )
    case 'other':
      return { className: VM_EXCEPTION, message: `${cause.message}, tx[${tx}]` }
  }
}

/** The reference node's text for the failure of a whole transaction: Java's `Class.toString()`, then the message. */
export function transactionException(cause: FailureCause, gas: bigint, tx: Hex): string {
  return `class ${frameException(cause, gas, tx)}`
}

/** The reference node's text for the failure of a frame below. */
export function frameException(cause: FailureCause, gas: bigint, tx: Hex): string {
  const { className, message } = javaException(cause, gas, tx)
  return `${className}: ${message}`
}
