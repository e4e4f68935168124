/** The frame of a failure that the EVM itself reports. */
import { panicCode } from '../../abi/panic.ts'
import { FAILURE } from '../../evm/failure.ts'
import { revertReason } from '../../evm/failure-message.ts'
import type { FrameFailure } from '../../evm/tracing/call-frame.ts'
import type { RecordedMessage } from '../message-recorder.ts'
import { contains, type FunctionModel, isSameRange } from '../source-file.ts'
import { type MessageRun, OP } from './message-run.ts'
import type { Place, StackFrame } from './stack-frame.ts'

/** Did the message run out of gas? */
export function isOutOfGas(failure: FrameFailure | undefined): boolean {
  switch (failure?.cause?.kind) {
    case 'out-of-gas':
    case 'precompile-out-of-gas':
    case 'deposit-out-of-gas':
      return true
    default:
      return false
  }
}

/** How a message failed, as the EVM reports it. */
export function failureFrame({ failure, output }: RecordedMessage, place: Place | undefined): StackFrame {
  if (failure?.kind === 'reverted') return { kind: 'revert', place, output }
  if (isOutOfGas(failure)) return { kind: 'out-of-gas', place }
  const { cause, reason = 'unknown failure' } = failure ?? {}
  if (reason === FAILURE.CODESIZE_EXCEEDS_MAXIMUM) return { kind: 'code-too-large', place }
  if (cause?.kind === 'invalid-opcode') return { kind: 'invalid-opcode', place, text: reason }
  return { kind: 'failure', place, text: reason }
}

/** REVERT or INVALID at a place of the code. */
export function revertFrame(run: MessageRun, place: Place | undefined): StackFrame {
  const { output } = run.message
  return run.last?.opcode === OP.INVALID
    ? { kind: 'invalid-opcode', place }
    : { kind: 'revert', place, output }
}

/**
 * The place of a failure in code that the compiler shares between functions: where only a statement or the function is known, and
 * the last call site is in that, it is the call of that code.
 */
export function atCallSite(
  frames: readonly StackFrame[],
  place: Place | undefined,
): { readonly frames: readonly StackFrame[]; readonly place: Place | undefined } {
  const site = frames.at(-1)
  const isInside =
    site?.kind === 'call' &&
    site.place !== undefined &&
    place !== undefined &&
    contains(place.range, site.place.range) &&
    !isSameRange(place.range, site.place.range)
  return isInside ? { frames: frames.slice(0, -1), place: site.place } : { frames, place }
}

/** A panic; replaces the frames of the function of the compiler that made it. */
export function withPanic(
  run: MessageRun,
  frames: readonly StackFrame[],
  found: Place | undefined,
  active: FunctionModel | undefined,
): StackFrame[] | undefined {
  const panic = panicCode(run.message.output)
  if (panic === undefined) return undefined
  const kept = frames.at(-1)?.kind === 'internal-call' ? frames.slice(0, -1) : frames
  // A call of a function that was never set is the call site itself.
  const outer = panic === 0x51n ? kept.slice(0, -1) : kept
  const { place, frames: around } = atCallSite(outer, found ?? run.lastPlace(active))
  return [...around, { kind: 'panic', place, panic, output: run.message.output }]
}

/** The text of a custom error with its arguments; `undefined` when it is not known. */
export type ErrorText = (run: MessageRun) => string | undefined

/** A custom error, known or not. */
export function customErrorFrame(
  run: MessageRun,
  found: Place | undefined,
  errorText: ErrorText,
): StackFrame | undefined {
  const { output } = run.message
  if (output.length < 4 || revertReason(output) !== undefined) return undefined
  const text = errorText(run)
  return {
    kind: 'custom-error',
    place: found,
    output,
    ...(text !== undefined && { text }),
  }
}
