/** The types of call frames, and what the reference node shows of a transaction that runs no code (docs/internals/rpc-reference.md#68-flat-trace). */
import { z } from 'zod'
import type { CallFrame, FrameFailure, FrameKind } from '../../../evm/tracing/call-frame.ts'

/** The opcode that made a frame, as tracers name it. */
export const FrameType = z.enum([
  'CALL',
  'CALLCODE',
  'DELEGATECALL',
  'STATICCALL',
  'CREATE',
  'CREATE2',
  'SELFDESTRUCT',
] satisfies Uppercase<FrameKind>[])

function runsNoCode({ depth, ranCode }: CallFrame): boolean {
  return depth === 0 && !ranCode
}

/** Gas of a frame: 0 for a transaction that ran no code. */
export function shownGas(frame: CallFrame): bigint {
  return runsNoCode(frame) ? 0n : frame.gas
}

/**
 * Failure of a frame: none for a transaction that ran no code. When it calls a precompiled contract that fails, its
 * receipt has status 1 (docs/internals/protocol.md#failing-precompiles).
 */
export function shownFailure(frame: CallFrame): FrameFailure | undefined {
  return runsNoCode(frame) ? undefined : frame.failure
}
