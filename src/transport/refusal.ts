/** What the transport itself refuses, before any method runs: an HTTP status and a JSON-RPC error body. */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { NodeError } from '../errors.ts'
import { toErrorObject } from '../rpc/error-codes.ts'
import { RETRY_SECONDS } from '../rpc/load.ts'
import { STATUS_CODES } from '../upstream/node-http.ts'

/** A refusal to send. */
export interface Refusal {
  readonly status: number
  readonly body: string
  /** Verbs that the page allows, when the verb was wrong. */
  readonly allow?: string
  /** Seconds after which to try again. */
  readonly retryAfter?: number
}

/** Verbs of the JSON-RPC address. */
export const RPC_VERBS = 'POST, OPTIONS'
/** Verbs of the reserved pages. */
export const PAGE_VERBS = 'GET, HEAD'

type RefusalKind =
  | 'invalid-request'
  | 'too-many'
  | 'unauthorized'
  | 'rate-limited'
  | 'overloaded'
  | 'internal'

function refusal(status: number, kind: RefusalKind, message: string): Refusal {
  const error = toErrorObject(new NodeError(kind, message))
  return { status, body: JSON.stringify({ jsonrpc: '2.0', id: null, error }) }
}

/** A foreign Host or Origin, or a banned address. */
export const forbidden = (message: string): Refusal => refusal(403, 'unauthorized', message)
/** No key, or none that is valid: the answer does not reveal which of the two. */
export const UNAUTHORIZED = refusal(401, 'unauthorized', 'API key missing or not valid')
/** A message costs more than is left of a key's limits. */
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
/** A node of a cluster that lacks what its caller has seen on another one. */
export const BEHIND: Refusal = {
  ...refusal(503, 'overloaded', 'This node has not caught up with what the caller has seen; try again'),
  retryAfter: RETRY_SECONDS,
}
/** A body of another type than JSON, or a compressed one. */
export const WRONG_TYPE = refusal(
  415,
  'invalid-request',
  'Content-Type must be application/json or application/json-rpc, without Content-Encoding',
)
/** A body that is nested too deeply, or of more lists and objects than data has. */
export const TOO_COMPLEX_BODY = refusal(400, 'invalid-request', 'The message is too complex')
/** A body that a middleware in front of `rpcHandler` has read without leaving it in `request.body`. */
export const BODY_CONSUMED = refusal(
  500,
  'internal',
  'The request body was read before it reached rpcHandler: mount rpcHandler first, or a parser that sets request.body',
)
/** Another verb than the page allows. */
export const wrongVerb = (allow: string): Refusal => ({
  ...refusal(405, 'invalid-request', `Method not allowed: use ${allow.split(',')[0]}`),
  allow,
})
/** Verbs of a chain of the pool. */
export const CHAIN_VERBS = 'POST, DELETE, OPTIONS'
/** A path below `/c` that names no chain. */
export const NO_SUCH_CHAIN = refusal(
  404,
  'invalid-request',
  'No such chain: the path is /c/<name>, a name has 1 to 64 letters, digits, dots, hyphens and underscores and begins with a letter or digit',
)
/** A chain that does not exist cannot be dropped. */
export const NOT_OPEN = refusal(404, 'invalid-request', 'No such chain: it has not been made, or is dropped')
/** The pool has as many chains as it may. */
export const full = (message: string): Refusal => refusal(503, 'too-many', message)
export const NO_SUCH_PAGE = refusal(404, 'invalid-request', 'No such page: JSON-RPC is served by POST')
/** Bytes that are not HTTP. */
export const MALFORMED = refusal(400, 'invalid-request', 'Malformed HTTP request')
/** Header lines beyond Node's limit. */
export const HEADERS_TOO_LARGE = refusal(431, 'invalid-request', 'Request headers too large')
/** A request that took too long to arrive. */
export const TOO_SLOW = refusal(408, 'invalid-request', 'Request took too long to arrive')
/** An internal error outside the dispatcher. */
export const BROKEN: Refusal = {
  status: 500,
  body: JSON.stringify({ jsonrpc: '2.0', id: null, error: toErrorObject(undefined) }),
}

/** The header fields of a refusal. */
export function refusalFields({
  body,
  allow,
  retryAfter,
}: Refusal): Readonly<Record<string, string | number>> {
  return {
    ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
    ...(allow !== undefined && { Allow: allow }),
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  }
}

/** Sends a refusal. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  for (const [name, value] of Object.entries(refusalFields(refusal))) response.setHeader(name, value)
  response.statusCode = refusal.status
  response.end(refusal.body)
}

/** Sends a refusal as raw HTTP to a connection that has no response object, and ends the connection. */
export function refuseSocket(socket: Duplex, refusal: Refusal): void {
  if (!socket.writable) return void socket.destroy()
  const { status, body } = refusal
  const fields = { ...refusalFields(refusal), Connection: 'close' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
}
