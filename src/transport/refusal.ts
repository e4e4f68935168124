/** What a door itself refuses, before any method is looked at: an HTTP status and a JSON-RPC error body. */
import { NodeError } from '../errors.ts'
import { toErrorObject } from '../rpc/error-codes.ts'
import { RETRY_SECONDS } from '../rpc/load.ts'

/** A refusal to send. */
export interface Refusal {
  readonly status: number
  readonly body: string
  /** Verbs that the page takes, when the verb was wrong. */
  readonly allow?: string
  /** Seconds after which it is worth trying again. */
  readonly retryAfter?: number
}

/** Verbs of the JSON-RPC address. */
export const RPC_VERBS = 'POST, OPTIONS'
/** Verbs of the reserved pages. */
export const PAGE_VERBS = 'GET, HEAD'

type DoorError = 'invalid-request' | 'unauthorized' | 'rate-limited' | 'overloaded'

function refusal(status: number, kind: DoorError, message: string): Refusal {
  const error = toErrorObject(new NodeError(kind, message))
  return { status, body: JSON.stringify({ jsonrpc: '2.0', id: null, error }) }
}

/** A foreign Host or Origin. */
export const forbidden = (message: string): Refusal => refusal(403, 'unauthorized', message)
/** No key, or none that is good: which of the two is nobody's business. */
export const UNAUTHORIZED = refusal(401, 'unauthorized', 'API key missing or not valid')
/** The limits of a key do not have what a message costs. */
export const spentLimit = (message: string, retryAfter: number): Refusal => ({
  ...refusal(429, 'rate-limited', message),
  retryAfter,
})
/** More bytes than the limit. */
export const tooLarge = (limit: number): Refusal =>
  refusal(413, 'invalid-request', `Body too large: the limit is ${limit} bytes`)
/** More bytes of all bodies together than the limit. */
export const BUSY: Refusal = {
  ...refusal(503, 'overloaded', `The node is busy, try again in ${RETRY_SECONDS} s`),
  retryAfter: RETRY_SECONDS,
}
/** A body that does not say it is JSON, or is compressed. */
export const WRONG_TYPE = refusal(
  415,
  'invalid-request',
  'Content-Type must be application/json or application/json-rpc, without Content-Encoding',
)
/** Another verb than the page takes. */
export const wrongVerb = (allow: string): Refusal => ({
  ...refusal(405, 'invalid-request', `Method not allowed: use ${allow.split(',')[0]}`),
  allow,
})
export const NO_SUCH_PAGE = refusal(404, 'invalid-request', 'No such page: JSON-RPC is served by POST')
/** Bytes that are not HTTP. */
export const MALFORMED = refusal(400, 'invalid-request', 'Malformed HTTP request')
/** Header lines beyond Node's limit. */
export const HEADERS_TOO_LARGE = refusal(431, 'invalid-request', 'Request headers too large')
/** A request that took too long to arrive. */
export const TOO_SLOW = refusal(408, 'invalid-request', 'Request took too long to arrive')
/** A bug of ours outside the dispatcher. */
export const BROKEN: Refusal = {
  status: 500,
  body: JSON.stringify({ jsonrpc: '2.0', id: null, error: toErrorObject(undefined) }),
}

/** A refusal as raw HTTP, for a socket that has no response object. It ends the connection. */
export function rawResponse({ status, body, retryAfter }: Refusal, statusText: string): string {
  const again = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`
  const headers = `${again}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`
  return `HTTP/1.1 ${status} ${statusText}\r\n${headers}\r\n\r\n${body}`
}
