/** How the run of a message fails. */

/**
 * Why code fails, in the words of `@ethereumjs/evm`, so that results of both EVMs compare as they are;
 * `failure-message.ts` has those for users.
 */
export const FAILURE = {
  OUT_OF_GAS: 'out of gas',
  STACK_UNDERFLOW: 'stack underflow',
  STACK_OVERFLOW: 'stack overflow',
  INVALID_JUMP: 'invalid JUMP',
  INVALID_OPCODE: 'invalid opcode',
  REVERT: 'revert',
  STATIC_STATE_CHANGE: 'static state change',
  /** A precompiled contract fails. */
  INTERNAL_ERROR: 'internal error',
  CREATE_COLLISION: 'create collision',
  INITCODE_SIZE_VIOLATION: 'initcode exceeds max initcode size',
  /** New code is too long. */
  CODESIZE_EXCEEDS_MAXIMUM: 'code size to deposit exceeds maximum code size',
  /** New code begins with 0xef. */
  INVALID_BYTECODE_RESULT: 'invalid bytecode deployed',
  /** A balance does not fit a word. */
  VALUE_OVERFLOW: 'value overflow',
} as const

/** One of `FAILURE`. */
export type FailureReason = (typeof FAILURE)[keyof typeof FAILURE]

/** Ends a frame. No `Error`: a stack trace would take longer than most calls. */
export class EvmFailure {
  /** One of `FAILURE`, or another message of the library where that ran the message. */
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** Ends the frame with a failure. */
export function fail(reason: FailureReason): never {
  throw new EvmFailure(reason)
}
