/** Starts and ends of frames, from the library's messages to the calls of a tracer. */
import type { EVMResult, Message as LibraryMessage } from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import { EMPTY } from '../../encoding/bytes.ts'
import { childMessage } from '../child-message.ts'
import { type ChildRequest, FAILURE, type Frame, type Session } from '../frame.ts'
import { frameFailure } from './frame-failure.ts'
import type { FrameStart } from './tracer.ts'

type CalledMessage = LibraryMessage & { readonly to: Address }

/** The kind of a call, as far as its message shows it; a CALL within a static frame looks like a STATICCALL. */
function kindOf(message: CalledMessage): FrameStart['kind'] {
  if (message.delegatecall) return 'delegatecall'
  if (message.codeAddress.toString() !== message.to.toString()) return 'callcode'
  return message.isStatic ? 'staticcall' : 'call'
}

/** A call that is about to run; `asked` is the kind that the calling frame requested. */
export function callStart(
  message: CalledMessage,
  session: Session,
  asked: FrameStart['kind'] | undefined,
): FrameStart {
  const target = message.codeAddress.toString()
  const kind = asked ?? kindOf(message)
  const borrows = kind === 'delegatecall' || kind === 'callcode'
  const isPrecompile = session.precompiles.has(target)
  return {
    kind,
    depth: message.depth,
    from: borrows ? message.to.toString() : message.caller.toString(),
    to: target,
    value: message.value,
    gas: message.gasLimit,
    input: message.data,
    isPrecompile,
    runsCode: !isPrecompile && session.journal.codeOf(target).length > 0,
  }
}

/** A creation that is about to run. */
export function creationStart(message: LibraryMessage): FrameStart {
  return {
    kind: message.salt === undefined ? 'create' : 'create2',
    depth: message.depth,
    from: message.caller.toString(),
    to: undefined,
    value: message.value,
    gas: message.gasLimit,
    input: message.data,
    isPrecompile: false,
    runsCode: message.data.length > 0,
  }
}

/** Reports the end of a frame to the tracer; `start` is what was reported of its start. */
export function reportEnd(
  { tracer }: Session,
  start: FrameStart,
  { execResult, createdAddress }: EVMResult,
): void {
  const failure = execResult.exceptionError
  const keepsOutput = failure === undefined || failure.error === FAILURE.REVERT
  tracer?.exit?.({
    gasUsed: execResult.executionGasUsed,
    output: keepsOutput ? execResult.returnValue : EMPTY,
    ...(failure && { failure: frameFailure(failure, execResult.returnValue, start) }),
    ...(start.to === undefined && createdAddress && { created: createdAddress.toString() }),
  })
}

/** Reports a call that is not made: too deep, or without the balance for its value. */
export function reportRefusal(frame: Frame, child: ChildRequest, maxDepth: number): void {
  const { session, depth } = frame
  const { tracer } = session
  const message = childMessage(frame, child)
  const start =
    message.to === undefined
      ? creationStart(message)
      : callStart(message as CalledMessage, session, child.kind)
  const isTooDeep = depth >= maxDepth
  const reason = isTooDeep ? 'max call depth exceeded' : 'insufficient balance for transfer'
  tracer?.enter?.({ ...start, runsCode: false })
  tracer?.exit?.({ gasUsed: 0n, output: EMPTY, failure: { kind: 'refused', reason } })
}
