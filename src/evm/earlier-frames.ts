/** Ends of calls and creations at heights at which not every rule is in force (docs/internals/protocol.md#75-activation). */
import { EMPTY } from '../encoding/bytes.ts'
import type { FrameResult } from './call-message.ts'
import type { CallRequest, Frame } from './frame.ts'
import { bytesOf } from './memory-range.ts'
import type { PrecompileRun } from './precompile-call.ts'
import type { VmRules } from './rules.ts'

/**
 * What the end of a call changes at earlier heights in the frame that made it. `before` is the return data that the
 * frame had. Throws the failure of a precompiled contract where that fails the frame (RSKIP-197).
 */
export function endEarlierCall(
  { rules, failedPrecompile, session }: PrecompileRun & { readonly rules: VmRules },
  frame: Frame,
  child: CallRequest,
  before: Uint8Array,
  { failure, output }: FrameResult,
): void {
  const { frames } = rules
  const { target } = child
  if (!session.precompiles.has(target)) {
    const isEmpty = session.journal.codeOf(target).length === 0
    if (!frames.clearsReturnData && isEmpty) frame.returned = before
    return
  }
  if (failure !== undefined) {
    if (!frames.catchesPrecompileFailure && failure === failedPrecompile) throw failure
    if (!frames.clearsReturnData) frame.returned = before
    return
  }
  if (!frames.cutsPrecompileOutput && output.length > 0)
    frame.writeBeyond(bytesOf(output), child.outputOffset)
  if (!frames.returnsPrecompileOutput) frame.returned = before
}

/**
 * A creation as it ended before RSKIP-453: when the constructor, which ended as `constructed`, succeeded and only its
 * code could not be stored, the contract stays without code and the price of the code is not paid.
 */
export function withoutUnstoredCode(result: FrameResult, constructed: FrameResult): FrameResult {
  if (result.failure === undefined || constructed.failure !== undefined) return result
  return { gasUsed: constructed.gasUsed, output: EMPTY, failure: undefined, created: result.created }
}
