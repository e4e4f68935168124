/** Starts and ends of frames, from messages to the calls of a tracer. */
import { EMPTY } from '../../encoding/bytes.ts'
import {
  type CallMessage,
  childCall,
  childCreation,
  type FrameMessage,
  type FrameResult,
} from '../call-message.ts'
import { FAILURE } from '../failure.ts'
import type { ChildRequest, Frame, Session } from '../frame.ts'
import { bytesOf } from '../memory-range.ts'
import { frameFailure } from './frame-failure.ts'
import type { FrameStart } from './tracer.ts'

/** A call or creation that is about to run. */
export function frameStart(message: FrameMessage, session: Session): FrameStart {
  const { kind, depth, value } = message
  const gas = BigInt(message.gas)
  if ('target' in message) {
    const { target: to } = message
    const input = bytesOf(message.input)
    const isPrecompile = session.precompiles.has(to)
    const runsCode = !isPrecompile && session.journal.codeOf(to).length > 0
    return { kind, depth, from: callerOf(message), to, value, gas, input, isPrecompile, runsCode }
  }
  const { caller: from, initcode: input } = message
  const runsCode = input.length > 0
  return { kind, depth, from, to: undefined, value, gas, input, isPrecompile: false, runsCode }
}

/** The account whose code calls. */
function callerOf({ kind, address, caller }: CallMessage): FrameStart['from'] {
  return kind === 'delegatecall' || kind === 'callcode' ? address : caller
}

/** Reports a start to the tracer, which leaves the run when it is done. */
export function reportStart(session: Session, start: FrameStart): void {
  session.tracer?.enter?.(start)
  if (session.tracer?.isDone === true) session.tracer = undefined
}

/** Reports the end of a frame to the tracer; `start` is what was reported of its start. */
export function reportEnd({ tracer }: Session, start: FrameStart, result: FrameResult): void {
  const { failure, created } = result
  const output = bytesOf(result.output)
  const keepsOutput = failure === undefined || failure.reason === FAILURE.REVERT
  tracer?.exit?.({
    gasUsed: BigInt(result.gasUsed),
    output: keepsOutput ? output : EMPTY,
    ...(failure && { failure: frameFailure(failure, output, start) }),
    ...(created !== undefined && { created }),
  })
}

/** Reports a call that is not made: too deep, or without the balance for its value. */
export function reportRefusal(frame: Frame, child: ChildRequest, maxDepth: number): void {
  const { session, depth } = frame
  const message = 'initcode' in child ? childCreation(frame, child) : childCall(frame, child)
  const isTooDeep = depth >= maxDepth
  const reason = isTooDeep ? 'max call depth exceeded' : 'insufficient balance for transfer'
  reportStart(session, { ...frameStart(message, session), runsCode: false })
  session.tracer?.exit?.({ gasUsed: 0n, output: EMPTY, failure: { kind: 'refused', reason } })
}
