/** The reference node's exceptions for failures of a frame, byte for byte (docs/rpc-reference.md#68-flat-trace). */
import type { Hex } from '../../../encoding/hex.ts'
import type { FailureCause } from '../../../evm/tracing/call-frame.ts'

/** A Java class and the message of its instance. */
export interface JavaException {
  readonly className: string
  readonly message: string
}

const VM_EXCEPTION = 'org.ethereum.vm.exception.VMException'
/** The reference node's largest gas value. */
const MAX_GAS = '9223372036854775807'

function program(className: string, message: string): JavaException {
  return { className: `org.ethereum.vm.program.Program$${className}`, message }
}

function spendingFailed(purpose: string, gas: bigint, tx: Hex): JavaException {
  return program(
    'OutOfGasException',
    `Not enough gas for '${purpose}' cause spending: invokeGas[${gas}], gas[${gas}], usedGas[${gas}], tx[${tx}]`,
  )
}

/** The exception for a failure in the transaction `tx`. */
export function javaException(cause: FailureCause, tx: Hex): JavaException {
  switch (cause.kind) {
    case 'out-of-gas': {
      const { operation, required = MAX_GAS, available } = cause
      return program(
        'OutOfGasException',
        `Not enough gas for '${operation}' operation executing: opGas[${required}], programGas[${available}], tx[${tx}]`,
      )
    }
    case 'precompile-out-of-gas':
      return spendingFailed('precompiled contract', cause.gas, tx)
    case 'deposit-out-of-gas':
      return spendingFailed('No gas to return just created contract', cause.gas, tx)
    case 'return-data-bounds': {
      const { offset, size, available } = cause
      return program(
        'ReturnDataCopyIllegalBoundsException',
        `Illegal RETURNDATACOPY arguments: offset (${offset}) + size (${size}) > RETURNDATASIZE (${available}), tx[${tx}]`,
      )
    }
    case 'invalid-opcode': {
      const digits = cause.opcode.toString(16).padStart(2, '0')
      return program('IllegalOperationException', `Invalid operation code: opcode[${digits}], tx[${tx}]`)
    }
    case 'invalid-jump':
      return program(
        'BadJumpDestinationException',
        `Operation with pc isn't 'JUMPDEST': PC[${cause.target}], tx[${tx}]`,
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
export function transactionException(cause: FailureCause, tx: Hex): string {
  return `class ${frameException(cause, tx)}`
}

/** The reference node's text for the failure of a frame below. */
export function frameException(cause: FailureCause, tx: Hex): string {
  const { className, message } = javaException(cause, tx)
  return `${className}: ${message}`
}
