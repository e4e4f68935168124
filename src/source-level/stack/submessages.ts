/** Failures after a message that the code sent: passed on, caught, or because of what it returned. */
import { equal } from '../../encoding/bytes.ts'
import type { RecordedMessage, SentMessage } from '../message-recorder.ts'
import type { FunctionModel } from '../source-file.ts'
import { isOutOfGas } from './failure-frame.ts'
import { type CodeOf, isRefused, lastSent, type MessageRun, OP } from './message-run.ts'
import { placeOf, type StackFrame } from './stack-frame.ts'

/** Did the code revert at the call site, with nothing in between? */
export function failsAtCallSite(run: MessageRun, { after }: SentMessage): boolean {
  const range = run.at(after - 1)?.range
  const opcode = run.last?.opcode
  // The first compilers used INVALID for their checks.
  const isCheck = opcode === OP.REVERT || opcode === OP.INVALID
  return range !== undefined && isCheck && run.staysAt(range, after)
}

/**
 * Has a message the data of one that it sent? The creator of a contract does not see why the creation failed
 * (docs/internals/protocol.md#63-calls-and-creations), and has no data to pass on.
 */
export function hasDataOf({ output }: RecordedMessage, sent: RecordedMessage): boolean {
  const isCreation = sent.kind === 'create' || sent.kind === 'create2'
  return equal(output, sent.output) || (isCreation && output.length === 0)
}

/** Does the account that a message called have code, or is it a precompiled contract? */
export function hasCode({ code, isPrecompile }: RecordedMessage): boolean {
  return code !== undefined || isPrecompile
}

/** Instructions that may run with the gas that is left when a message took all that was left. */
const MOST_WITHOUT_GAS = 4

/**
 * Did the message take all gas, of which a call of this chain passes on all that is left, since it failed by INVALID or another
 * fault (docs/internals/protocol.md#63-calls-and-creations)?
 */
function leftNoGas(run: MessageRun, { after, message: { failure } }: SentMessage): boolean {
  const isFault = failure !== undefined && failure.kind !== 'reverted' && failure.kind !== 'refused'
  return isFault && run.length - after <= MOST_WITHOUT_GAS
}

/** Did the code fail because the message failed, with the same data? */
export function isPassedOn(run: MessageRun, sent: SentMessage): boolean {
  const { message } = run
  if (!hasDataOf(message, sent.message)) return false
  if (isOutOfGas(message.failure) && isOutOfGas(sent.message.failure)) return true
  if (isOutOfGas(message.failure) && leftNoGas(run, sent)) return true
  return message.output.length > 0 || failsAtCallSite(run, sent)
}

/** Instructions by which a compiler passes on what a message returned: RETURNDATASIZE, RETURNDATACOPY, REVERT. */
const FORWARDING = 10

/** Did the code end with passing on what the message returned? */
export function forwards(run: MessageRun, { after, message }: SentMessage): boolean {
  if (!run.hasReverted || run.last?.opcode !== OP.REVERT || !hasDataOf(run.message, message)) return false
  for (let index = Math.max(after, run.length - FORWARDING); index < run.length; index++) {
    if (run.at(index)?.opcode === OP.RETURNDATACOPY) return true
  }
  return false
}

/** Is it a proxy, whose assembly passes on the failure of the implementation? */
export function isPassedOnByProxy(run: MessageRun, sent: SentMessage, codeOf: CodeOf): boolean {
  if (run.isCreation || run.at(sent.after - 1)?.opcode !== OP.DELEGATECALL) return false
  const code = codeOf(sent.message)
  if (code === undefined || code.contract?.isLibrary === true) return false
  if (!equal(run.message.output, sent.message.output) || run.last?.opcode !== OP.REVERT) return false
  for (let index = sent.after; index < run.length; index++) {
    const instruction = run.at(index)
    if (instruction?.range === undefined || instruction.jump !== 'none') return false
  }
  return true
}

/** Did the code revert without data because the called contract ran out of gas? */
export function failedByGasOfCallee(run: MessageRun, sent: SentMessage): boolean {
  const { message } = run
  if (!run.hasReverted || message.output.length > 0 || !isOutOfGas(sent.message.failure)) return false
  return failsAtCallSite(run, sent)
}

/** A message that could not start, where the code reverted at its call site. */
export function refusedCall(run: MessageRun, active: FunctionModel | undefined): StackFrame | undefined {
  const sent = run.message.sent.at(-1)
  if (sent === undefined || !isRefused(sent.message) || (lastSent(run.message)?.after ?? 0) > sent.after) {
    return undefined
  }
  const range = run.at(sent.after - 1)?.range
  if (range === undefined) return undefined
  const isOptimized = run.code.isOptimized && forwards(run, sent) && run.leavesOnly(range, sent.after, active)
  if (!isOptimized && !run.staysAt(range, sent.after - 1)) return undefined
  return { kind: 'call-refused', place: placeOf(run.code, range), text: sent.message.failure?.reason ?? '' }
}
