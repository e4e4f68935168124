/** Failures of messages that did not make the transaction fail: code caught them, or ignored them. */
import type { SourceFrame } from '../../errors.ts'
import type { RecordedMessage } from '../message-recorder.ts'
import { isRefused, lastSent } from './message-run.ts'
import { shownFrame } from './shown-frame.ts'
import type { StackTracer } from './stack-trace.ts'

/** Failures that are explained. */
const MOST_FAILURES = 100

/** A failure that was caught. */
export interface CaughtFailure {
  /** Indexes from the transaction's own message to that of the failure, as in flat traces. */
  readonly traceAddress: readonly number[]
  readonly frames: readonly SourceFrame[]
}

/** The caught failures of a run, in the order of their messages; at most 100. */
export function caughtFailures(root: RecordedMessage, tracer: StackTracer): CaughtFailure[] {
  const found: CaughtFailure[] = []
  /** `isExplained`: are the failure's frames part of those of its sender? */
  function visit(message: RecordedMessage, traceAddress: readonly number[], isExplained: boolean): void {
    if (found.length >= MOST_FAILURES) return
    const hasFailed = message.failure !== undefined && !isRefused(message)
    const frames = tracer.trace(message)
    if (hasFailed && !isExplained) found.push({ traceAddress, frames: frames.map(shownFrame) })
    const last = lastSent(message)?.message
    // A failure that is passed on is the end of both traces.
    const end = last && tracer.trace(last).at(-1)
    const passesOn =
      end !== undefined && (frames.at(-1) === end || frames.at(-1)?.kind === 'callee-out-of-gas')
    for (const [index, sent] of message.sent.entries()) {
      visit(sent.message, [...traceAddress, index], sent.message === last && passesOn)
    }
  }
  visit(root, [], true)
  return found
}
