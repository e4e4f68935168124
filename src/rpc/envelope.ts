/** The envelope of a message: its id, its parameters, and the number of its requests (JSON-RPC 2.0). */
import { isObject } from '../encoding/json-object.ts'
import { invalidParams, NodeError } from '../errors.ts'
import { isExactId } from './exact-ids.ts'
import type { AnyMethod } from './method.ts'
import type { Id } from './reply.ts'

/** The message is no request. */
export const INVALID_REQUEST = new NodeError('invalid-request', 'invalid request')
/** The message is nested too deeply, or has too many lists and objects. */
export const TOO_COMPLEX = new NodeError('invalid-request', 'Invalid request')
const NONE: readonly unknown[] = []

/** Can this be the id of a request? */
export function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number' || value === null || isExactId(value)
}

/** The id of a message that is refused as a whole. */
export function idOf(message: unknown): Id {
  return isObject(message) && isId(message.id) ? message.id : null
}

/**
 * Why an id is refused for a call about subscriptions; only these calls have such a rule
 * (docs/internals/rpc-reference.md#78-subscriptions).
 */
export function idRefusal(method: AnyMethod | undefined, id: Id): NodeError | undefined {
  if (method?.notifies !== true) return undefined
  if (typeof id === 'number' ? Number.isInteger(id) && id >= 0 : id !== null && id !== '') {
    if (!isExactId(id) || !id.toString().startsWith('-')) return undefined
  }
  const rule = 'JSON-RPC message id should be a String or a positive integer'
  return invalidParams(`${rule}, but was '${isExactId(id) ? id : JSON.stringify(id)}'.`)
}

/** Positional parameters; absent, null and the empty object are none (docs/internals/rpc-reference.md#24-parameters). */
export function positional(params: unknown): readonly unknown[] {
  if (Array.isArray(params)) return params
  if (params === undefined || params === null) return NONE
  if (!isObject(params)) throw INVALID_REQUEST
  if (Object.keys(params).length > 0) throw invalidParams('method parameters invalid')
  return NONE
}

/** How many requests a batch holds, those of nested batches included. Throws when it is nested too deeply. */
export function countRequests(batch: readonly unknown[], limit: number, depth = 1): number {
  if (depth > limit) throw TOO_COMPLEX
  let count = 0
  for (const entry of batch) {
    count += Array.isArray(entry) && entry.length > 0 ? countRequests(entry, limit, depth + 1) : 1
  }
  return count
}
