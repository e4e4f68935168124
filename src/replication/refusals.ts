/** What callers are told of changes that a cluster did not make, or may not have made. */
import { NodeError } from '../errors.ts'
import { AppendError } from './log.ts'

/** An error after which the caller tries again. */
export function tryAgain(message: string): NodeError {
  return new NodeError('overloaded', `${message}; try again`)
}

/** The error of a change that is in the log, and that this node could not write to its tables. */
export function unwritten(error: unknown): unknown {
  if (!(error instanceof NodeError) || error.kind !== 'storage') return error
  return tryAgain(
    "The leader cannot write to its disk, and the change is in the cluster's log: the next leader has it; look for it",
  )
}

/** What the caller is told of a change that was not appended. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof AppendError)) return error
  if (error.failure === 'unanswered') {
    return tryAgain(
      "The cluster's log does not answer: whether the change was made is not known; look for it",
    )
  }
  const reasons = {
    full: "The cluster's log is full",
    away: "The cluster's log cannot be reached",
    fenced: 'Another node leads the cluster now',
  }
  return tryAgain(`${reasons[error.failure]}: the change was not made`)
}

/** Did the log refuse a record because it is full? */
export function isOutOfRoom(error: unknown): boolean {
  return error instanceof AppendError && error.failure === 'full'
}
