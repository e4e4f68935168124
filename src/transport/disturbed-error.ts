/** The error of JSON-RPC for a message that chaos keeps from the node: the same on every transport. */
import type { MessageFault } from '../chaos/decisions.ts'
import { STATUS_CODES } from '../upstream/node-http.ts'

/** `rate limited` of providers, and what JSON-RPC 2.0 has for requests that are refused and servers that fail. */
const LIMIT_EXCEEDED = -32005
const INVALID_REQUEST = -32600
const INTERNAL = -32603

/** `undefined` for a message that the node answers, or nobody. */
export function errorOf(
  fault: MessageFault | undefined,
): { readonly code: number; readonly message: string } | undefined {
  switch (fault?.kind) {
    case 'status':
      return {
        code: fault.status === 429 ? LIMIT_EXCEEDED : INTERNAL,
        message: STATUS_CODES[fault.status] ?? '',
      }
    case 'too-large':
      return {
        code: INVALID_REQUEST,
        message: `request too large: this endpoint takes at most ${fault.limit} bytes`,
      }
    case 'batch-limit':
      return {
        code: INVALID_REQUEST,
        message: `batch too large: this endpoint takes at most ${fault.limit} calls`,
      }
    default:
      return undefined
  }
}
