/**
 * One HTTP request: a JSON-RPC POST goes straight to the dispatcher, everything else to the Express pages.
 * The short way exists because Express costs several times what a simple method does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { Logger } from '../logger.ts'
import { openSession, type Session } from '../rpc/session.ts'
import type { BodyReader } from './body.ts'
import { type ByteBudget, PACKED, SMALL_BYTES } from './byte-budget.ts'
import type { HostCheck } from './host-check.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import type { MonitoringPages } from './monitoring-pages.ts'
import {
  BROKEN,
  BUSY,
  forbidden,
  PAGE_VERBS,
  type Refusal,
  tooLarge,
  UNAUTHORIZED,
  WRONG_TYPE,
  wrongVerb,
} from './refusal.ts'
import type { RemoteAddressOf } from './remote-address.ts'
import { requestIdOf } from './request-id.ts'
import { dispatchLong, type LongReply, type TextDispatcher } from './text-dispatcher.ts'

/** What the HTTP door is made of. */
export interface HttpParts {
  readonly dispatcher: TextDispatcher
  readonly check: HostCheck
  readonly remoteAddressOf: RemoteAddressOf
  /** Absent where no keys are in use. */
  readonly gate: Authentication | undefined
  /** Bytes. */
  readonly maxBodyBytes: number
  readonly readBody: BodyReader
  /** Of requests and answers of all doors. */
  readonly budget: ByteBudget
  /** How long a caller may take nothing of a large answer, milliseconds. */
  readonly transferTimeoutMs: number
  readonly logger: Logger
  readonly watch: MonitoringPages
  /** Are the figures on this port? They are not when they have one of their own. */
  readonly showsMetrics: boolean
  /** While true, each response ends its connection. */
  isClosing(): boolean
}

/** Pages that are not JSON-RPC addresses, whatever the verb. */
export const RESERVED_PAGES: ReadonlySet<string> = new Set([
  '/healthz',
  '/readyz',
  '/metrics',
  '/openrpc.json',
])

/** How long a sender of a body that is too large may go on sending, so that it reads our answer; milliseconds. */
const LINGER_MS = 2000
const JSON_TYPE = /^\s*application\/json(-rpc)?\s*(;|$)/i
/** What the sessions of all requests have in common. */
const SESSION = openSession('http')

/** The path of a request target, without query; an absolute target (as a proxy's client sends) loses its origin. */
export function pathOf(url: string | undefined): string {
  const target = url?.startsWith('/') === false ? url.replace(/^[a-z]+:\/\/[^/]*/i, '') : (url ?? '')
  const end = target.search(/[?#]/)
  return (end === -1 ? target : target.slice(0, end)) || '/'
}

/** Sends a refusal. */
export function refuse(response: ServerResponse, { status, body, allow, retryAfter }: Refusal): void {
  if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter)
  if (allow !== undefined) response.setHeader('Allow', allow)
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Content-Length', Buffer.byteLength(body))
  response.statusCode = status
  response.end(body)
}

/** Refuses a body that is still coming: answers at once, and lets the sender finish for a moment before hanging up. */
function refuseUnread(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, retryAfter }: Refusal,
): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
  })
  response.write(body)
  const hangUp = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(hangUp, LINGER_MS)
  request.on('end', hangUp).on('close', hangUp).resume()
}

/** Sends a long body without joining it, a piece whenever the one before is on its way. */
function sendPieces(response: ServerResponse, reply: LongReply): void {
  response.setHeader('Content-Length', reply.length)
  // A caller that goes away in the middle is no error of ours.
  pipeline(Readable.from(reply.pieces(), { objectMode: false, highWaterMark: 1 }), response, () => {})
}

/** Makes the listener of the server's `request` event. `pages` answers everything that is no JSON-RPC POST. */
export function createHttpListener(
  parts: HttpParts,
  pages: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { dispatcher, check, maxBodyBytes, readBody, budget, logger, remoteAddressOf, gate } = parts

  /** The session of a key's holder; a message that its limits do not allow gets a status of its own. */
  function admitted(caller: Session, client: ApiKeyClient, response: ServerResponse): Session {
    const rights = sessionOf(client, ({ retryAfterSeconds }) => {
      response.statusCode = 429
      response.setHeader('Retry-After', retryAfterSeconds)
    })
    return { ...caller, ...rights }
  }

  /** The session of one request; a message that finds no room gets a status of its own. */
  function callerOf(request: IncomingMessage, response: ServerResponse, requestId: string): Session {
    return {
      label: SESSION.label,
      owner: SESSION.owner,
      entitlements: SESSION.entitlements,
      allows: SESSION.allows,
      remote: remoteAddressOf(request),
      requestId,
      shed(retrySeconds) {
        response.statusCode = 503
        response.setHeader('Retry-After', retrySeconds)
      },
    }
  }

  /** Makes room for an answer until it is taken; false when there is none. Who takes nothing for a while is hung up on. */
  function hold(response: ServerResponse, bytes: number): boolean {
    if (budget.isSpent) return false
    budget.take(bytes)
    response.once('close', () => budget.give(bytes))
    response.setTimeout(parts.transferTimeoutMs, () => response.destroy())
    return true
  }

  function answer(session: Session, response: ServerResponse, body: string): void {
    const { requestId } = session
    dispatchLong(dispatcher, body, session).then(
      (reply = '') => {
        if (parts.isClosing()) response.setHeader('Connection', 'close')
        response.setHeader('Content-Type', 'application/json')
        const isLong = typeof reply !== 'string'
        const length = isLong ? reply.length : Buffer.byteLength(reply)
        const held = isLong ? Math.ceil(length / PACKED) : length
        if (length > SMALL_BYTES && !hold(response, held)) return refuse(response, BUSY)
        if (isLong) return sendPieces(response, reply)
        response.setHeader('Content-Length', length)
        response.end(reply)
      },
      (error) => {
        logger.error('a request failed outside its method', { error, request: requestId })
        refuse(response, BROKEN)
      },
    )
  }

  return (request, response) => {
    // A caller that goes away in the middle is no error of ours.
    request.on('error', () => {})
    if (parts.isClosing()) response.setHeader('Connection', 'close')
    const { headers } = request
    const requestId = requestIdOf(headers)
    response.setHeader('X-Request-Id', requestId)
    const reason = check.refusal(headers)
    if (reason !== undefined) return refuse(response, forbidden(reason))
    const origin = check.corsOrigin(headers)
    if (origin !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', origin)
      response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
      if (origin !== '*') response.setHeader('Vary', 'Origin')
    }
    if (request.method !== 'POST') return pages(request, response)
    const path = pathOf(request.url)
    if (RESERVED_PAGES.has(path)) return refuse(response, wrongVerb(PAGE_VERBS))
    const client = gate?.admit(path)
    if (gate !== undefined && client === undefined) return refuse(response, UNAUTHORIZED)
    const encoding = headers['content-encoding'] ?? 'identity'
    if (!JSON_TYPE.test(headers['content-type'] ?? '') || encoding !== 'identity') {
      return refuse(response, WRONG_TYPE)
    }
    if (Number(headers['content-length'] ?? 0) > maxBodyBytes) {
      return refuseUnread(request, response, tooLarge(maxBodyBytes))
    }
    readBody(request, response, (body, unread) => {
      if (unread === 'no room') return refuseUnread(request, response, BUSY)
      if (body === undefined) return refuseUnread(request, response, tooLarge(maxBodyBytes))
      // A body may take its time, and the key may have been revoked meanwhile.
      if (client?.key.isGood() === false) return refuse(response, UNAUTHORIZED)
      const caller = callerOf(request, response, requestId)
      answer(client === undefined ? caller : admitted(caller, client, response), response, body)
    })
  }
}
