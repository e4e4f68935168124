/** Frames in EDR's terms, to compare them with those that its cases expect. */
import { toHex } from '../../src/encoding/hex.ts'
import { revertReason } from '../../src/evm/failure-message.ts'
import type { StackFrame, StackFrameKind } from '../../src/source-level/stack/stack-frame.ts'
import type { CaseRun, ExpectedFrame } from './stack-trace-cases.ts'

const TYPES: Readonly<Record<StackFrameKind, string>> = {
  call: 'CALLSTACK_ENTRY',
  'internal-call': 'INTERNAL_FUNCTION_CALLSTACK_ENTRY',
  revert: 'REVERT_ERROR',
  'custom-error': 'CUSTOM_ERROR',
  panic: 'PANIC_ERROR',
  'invalid-opcode': 'REVERT_ERROR',
  'function-not-payable': 'FUNCTION_NOT_PAYABLE_ERROR',
  'fallback-not-payable': 'FALLBACK_NOT_PAYABLE_ERROR',
  'fallback-not-payable-no-receive': 'FALLBACK_NOT_PAYABLE_AND_NO_RECEIVE_ERROR',
  'unknown-function': 'UNRECOGNIZED_FUNCTION_WITHOUT_FALLBACK_ERROR',
  'no-fallback-or-receive': 'MISSING_FALLBACK_OR_RECEIVE_ERROR',
  'invalid-arguments': 'INVALID_PARAMS_ERROR',
  'return-data-size': 'RETURNDATA_SIZE_ERROR',
  'account-without-code': 'NONCONTRACT_ACCOUNT_CALLED_ERROR',
  'call-refused': 'CALL_FAILED_ERROR',
  'library-called-directly': 'DIRECT_LIBRARY_CALL_ERROR',
  precompile: 'PRECOMPILE_ERROR',
  'code-too-large': 'CONTRACT_TOO_LARGE_ERROR',
  'out-of-gas': 'OTHER_EXECUTION_ERROR',
  'callee-out-of-gas': 'CONTRACT_CALL_RUN_OUT_OF_GAS_ERROR',
  failure: 'OTHER_EXECUTION_ERROR',
}

/** How the cases of a compiler are compared. */
export interface Comparison {
  /** Call sites are not compared, and any revert is as good as another failure. */
  readonly isViaIR: boolean
  /** Lines are not compared. */
  readonly isOptimized: boolean
}

function typeOf({ kind, unknown, isNearest }: StackFrame): string {
  if (unknown !== undefined) {
    const what = unknown.isCreation ? 'CREATE' : 'CONTRACT'
    return `UNRECOGNIZED_${what}_${kind === 'call' ? 'CALLSTACK_ENTRY' : 'ERROR'}`
  }
  return isNearest ? 'UNMAPPED_SOLC_0_6_3_REVERT_ERROR' : TYPES[kind]
}

function messageOf({ kind, text, output }: StackFrame): string | undefined {
  if (kind === 'custom-error') {
    return (
      text ?? `reverted with an unrecognized custom error (return data: ${toHex(output ?? new Uint8Array())})`
    )
  }
  return output === undefined ? undefined : revertReason(output)
}

function toExpected(frame: StackFrame): ExpectedFrame {
  const { place, value, panic } = frame
  const message = messageOf(frame)
  return {
    type: typeOf(frame),
    ...(place && {
      sourceReference: {
        file: place.range.file.path,
        line: place.range.file.positionOf(place.at ?? place.range.start).line,
        ...(place.contract !== undefined && { contract: place.contract }),
        ...(place.function !== undefined && { function: place.function }),
      },
    }),
    ...(message !== undefined && message !== '' && { message }),
    ...(value !== undefined && { value: String(value) }),
    ...(panic !== undefined && { errorCode: panic.toString(16) }),
  }
}

/** Under via-ir a plain revert, wherever it is, is as good as the kind that a case expects, as in EDR's own comparison. */
const ANY_REVERT: ReadonlySet<string> = new Set(['REVERT_ERROR', 'OTHER_EXECUTION_ERROR'])

function comparable(frames: readonly ExpectedFrame[], { isViaIR, isOptimized }: Comparison): object[] {
  const kept = isViaIR ? frames.filter(({ type }) => type !== 'CALLSTACK_ENTRY') : frames
  return kept.map(({ type, sourceReference, message, value, errorCode }) => {
    const { file, line, contract, function: name } = sourceReference ?? {}
    return {
      type,
      // A `receive` function that fails in its modifier has no name there.
      ...(sourceReference && {
        place: [file, contract, name === '' ? '<receive>' : name, ...(isOptimized ? [] : [line])],
      }),
      message,
      value: value === undefined ? undefined : String(value),
      errorCode,
    }
  })
}

/** What a case expects and what was found, in a form in which they are equal when the case holds. */
export function comparedFrames(
  run: CaseRun,
  comparison: Comparison,
): { expected: object[]; found: object[] } {
  const expected = comparable(run.expected, comparison)
  const found = comparable(run.frames.map(toExpected), comparison)
  if (!comparison.isViaIR) return { expected, found }
  return {
    expected: expected.map((frame, index) => {
      const type = (found[index] as ExpectedFrame | undefined)?.type
      return type !== undefined && ANY_REVERT.has(type) ? (found[index] as object) : frame
    }),
    found,
  }
}
