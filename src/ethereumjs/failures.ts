/** Failures of the library as those of `evm/`, and the other way around. */
import { EVMError } from '@ethereumjs/evm'
import { EvmFailure, FAILURE } from '../evm/failure.ts'

/** How a precompiled contract of the chain failed, in the library's form. */
class PrecompileError extends EVMError {
  readonly failure: EvmFailure

  constructor(failure: EvmFailure) {
    const isOutOfGas = failure.reason === FAILURE.OUT_OF_GAS
    super(isOutOfGas ? FAILURE.OUT_OF_GAS : FAILURE.INTERNAL_ERROR)
    this.failure = failure
  }
}

/** The library's error for a failure. */
export function libraryError(failure: EvmFailure): EVMError {
  return new PrecompileError(failure)
}

/** A failure of the library, whose message of a bad jump ends with its place. */
export function evmFailure(error: EVMError): EvmFailure {
  if (error instanceof PrecompileError) return error.failure
  return new EvmFailure(error.error.startsWith(FAILURE.INVALID_JUMP) ? FAILURE.INVALID_JUMP : error.error)
}
