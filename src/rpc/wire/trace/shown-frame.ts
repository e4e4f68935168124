/** The types of call frames, and how the reference node shows a transaction that runs no code (docs/internals/rpc-reference.md#68-flat-trace). */
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
 * The failure of a frame; a transaction that ran no code has none: one that calls a failing precompiled contract has
 * status 1 in its receipt (docs/internals/protocol.md#failing-precompiles).
 */
export function shownFailure(frame: CallFrame): FrameFailure | undefined {
  return runsNoCode(frame) ? undefined : frame.failure
}
