/** The stack of failed code in the error of a reply. */
import type { SourceFrame } from '../errors.ts'
import { stackLines } from '../source-level/stack/shown-frame.ts'
import type { ErrorObject } from './error-codes.ts'
import type { RpcOptions } from './rpc-options.ts'

/** Where replies have the stack. */
export type StackTracePlace = RpcOptions['stackTraces']

/**
 * An error with the stack in its data, an object as Hardhat's node sends it: clients that know that one find the revert
 * data in `data.data`. The stack is behind the message too, if it is to be.
 */
export function explainedError(
  error: ErrorObject,
  frames: readonly SourceFrame[] | undefined,
  place: StackTracePlace,
): ErrorObject {
  if (frames === undefined || place === 'off') return error
  const stack = stackLines(frames).join('\n')
  const { message, data } = error
  const known = typeof data === 'object' ? data : { message, ...(data !== undefined && { data }) }
  return {
    ...error,
    message: place === 'message' ? `${message}\n${stack}` : message,
    data: { ...known, stack, stackTrace: frames },
  }
}
