/** JSON-RPC over HTTP as one request handler: `serve` mounts it on its own Express app, `rpcHandler` makes it for others. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { type Logger, silentLogger } from '../logger.ts'
import { type RpcHandlerOptions, resolveRpcHandlerOptions } from '../options/options.ts'
import type { Preset } from '../options/presets.ts'
import { REMOTE_ENTITLEMENTS } from '../rpc/session.ts'
import { createAdmission, REQUEST_ID_HEADER } from './admission.ts'
import { BANNED, NO_SCORING, type PeerScoring } from './ban-check.ts'
import { type BodyReader, createBodyReader } from './body.ts'
import { createByteBudget } from './byte-budget.ts'
import { createHostCheck } from './host-check.ts'
import { createRemoteAddressOf, pathOf, type RemoteAddressOf } from './incoming-request.ts'
import type { Authentication } from './keys/authentication.ts'
import {
  BODY_CONSUMED,
  BUSY,
  NO_SUCH_PAGE,
  type Refusal,
  RPC_VERBS,
  refuse,
  tooLarge,
  UNAUTHORIZED,
  WRONG_TYPE,
  wrongVerb,
} from './refusal.ts'
import {
  createExchange,
  decline,
  type ReplyFields,
  type RpcExchange,
  type RpcExchangeParts,
} from './rpc-exchange.ts'
import type { LongReply, TextDispatcher } from './text-dispatcher.ts'

/** What the JSON-RPC handler is made of. */
export interface RpcHandlerParts extends RpcExchangeParts {
  /** What answers a request; it may reject with the `NodeError` of a request that it has no room for. */
  readonly dispatcherOf: (request: IncomingMessage) => TextDispatcher
  /** The verbs of its paths, for preflights and for the refusal of others. */
  readonly verbs: string
  readonly remoteAddressOf: RemoteAddressOf
  /** Absent where no API keys are in use. */
  readonly authentication: Authentication | undefined
  /** Bytes. */
  readonly maxBodyBytes: number
  readonly readBody: BodyReader
  /** Is the handler a part of somebody's app, whose middleware may change the header until the end of the response? */
  readonly isMounted: boolean
  /** While true, each response ends its connection. */
  isClosing(): boolean
}

/** Answers one request; fits Express 4 and 5 and a plain `node:http` server. */
export type RpcHandler = (request: IncomingMessage, response: ServerResponse) => void

/** The same for a request that has passed `createAdmission`, which gave it its ID. */
export type AdmittedHandler = (request: IncomingMessage, response: ServerResponse, requestId: string) => void

/** A node that `rpcHandler` can answer for: a `Node`, or anything with a dispatcher. */
export interface RpcHandlerNode {
  readonly dispatcher: TextDispatcher
  readonly options?: { readonly logger?: Logger | undefined; readonly preset?: Preset | undefined }
  /** Banned addresses; none when it is absent. */
  readonly peers?: Pick<PeerScoring, 'isBanned'>
}

/** How long the sender of a body that is too large may go on sending, so that it reads our answer; milliseconds. */
const LINGER_MS = 2000
/** How long a browser may cache a preflight, seconds. */
const PREFLIGHT_SECONDS = '600'
const JSON_TYPE = /^\s*application\/json(-rpc)?\s*(;|$)/i
const isJson = (type: string) => type === 'application/json' || JSON_TYPE.test(type)

/** Is a body of this type and encoding one that is read? */
export function isJsonBody({
  'content-type': type = '',
  'content-encoding': encoding = 'identity',
}: IncomingHttpHeaders): boolean {
  return isJson(type) && encoding === 'identity'
}

/** Sends a long body, whose header is there, without joining it: each piece after the one before has been taken. */
function sendPieces(response: ServerResponse, reply: LongReply): void {
  // A caller that disconnects in the middle is not an error of the node.
  pipeline(Readable.from(reply.pieces(), { objectMode: false, highWaterMark: 1 }), response, () => {})
}

/** Answers OPTIONS: a CORS preflight when the origin is allowed, else the verbs alone. */
function answerPreflight({ headers }: IncomingMessage, response: ServerResponse, verbs: string): void {
  if (response.hasHeader('Access-Control-Allow-Origin')) {
    response.setHeader('Access-Control-Allow-Methods', verbs.replace(/, OPTIONS$/, ''))
    response.setHeader(
      'Access-Control-Allow-Headers',
      headers['access-control-request-headers'] ?? 'Content-Type',
    )
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS)
    if (headers['access-control-request-private-network'] === 'true') {
      response.setHeader('Access-Control-Allow-Private-Network', 'true')
    }
  }
  response.setHeader('Allow', verbs)
  response.statusCode = 204
  response.end()
}

/** The body that a middleware such as `express.json()` has read and parsed; `undefined` when it left none. */
function parsedBody(request: IncomingMessage): string | undefined {
  const body: unknown = 'body' in request ? request.body : undefined
  if (body === undefined || typeof body === 'string') return body
  return body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body)
}

/** A POST that has passed `createAdmission`. */
interface HttpExchange extends RpcExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Refuses a body that is still arriving: answers at once, and lets the sender finish for a moment before the end. */
function declineUnread(
  { request, response, requestId }: HttpExchange,
  { status, body, retryAfter }: Refusal,
): void {
  response.writeHead(status, {
    [REQUEST_ID_HEADER]: requestId,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
  })
  response.write(body)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  request.on('end', end).on('close', end).resume()
}

/**
 * Makes the JSON-RPC handler, for requests that have passed `createAdmission`: POST is a message, OPTIONS a preflight,
 * and no other verb is allowed.
 */
export function createRpcHandler(parts: RpcHandlerParts): AdmittedHandler {
  const { dispatcherOf, verbs, maxBodyBytes, readBody, remoteAddressOf, authentication } = parts
  const answer = createExchange(parts)

  function exchangeOf(request: IncomingMessage, response: ServerResponse, requestId: string): HttpExchange {
    return {
      request,
      response,
      requestId,
      headers: request.headers,
      remote: remoteAddressOf(request),
      get isGone() {
        return response.destroyed
      },
      hold(timeoutMs, release) {
        response.once('close', release)
        response.setTimeout(timeoutMs, () => response.destroy())
      },
      send(status, fields, body, length) {
        if (parts.isClosing()) response.setHeader('Connection', 'close')
        writeHeader(response, status, {
          [REQUEST_ID_HEADER]: requestId,
          ...fields,
          'Content-Type': 'application/json',
          'Content-Length': length,
        })
        if (typeof body !== 'string') sendPieces(response, body)
        // Of ASCII alone, which takes no conversion.
        else if (length === body.length) response.end(body, 'latin1')
        else response.end(body)
      },
    }
  }

  /** At once where nothing may change the header any more, since Node checks and keeps each header that is set alone. */
  function writeHeader(response: ServerResponse, status: number, fields: ReplyFields): void {
    if (!parts.isMounted) {
      response.writeHead(status, fields)
      return
    }
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
    response.statusCode = status
  }

  /** Calls back with the body once it is there; refuses one that is too large, or that nothing is left of. */
  function withBody(exchange: HttpExchange, done: (body: string) => void): void {
    const { request, response } = exchange
    if (request.readableDidRead || request.readableEnded) {
      const body = parsedBody(request)
      if (body === undefined) decline(exchange, BODY_CONSUMED)
      else done(body)
      return
    }
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
      declineUnread(exchange, tooLarge(maxBodyBytes))
      return
    }
    readBody(request, response, (body, unread) => {
      if (unread === 'no room') declineUnread(exchange, BUSY)
      else if (body === undefined) declineUnread(exchange, tooLarge(maxBodyBytes))
      else done(body)
    })
  }

  function answerPost(exchange: HttpExchange): void {
    const { request } = exchange
    const client = authentication?.authenticate(pathOf(request.url))
    if (authentication !== undefined && client === undefined) decline(exchange, UNAUTHORIZED)
    else if (!isJsonBody(request.headers)) decline(exchange, WRONG_TYPE)
    else {
      withBody(exchange, (body) => {
        // The key may have been revoked while the body was arriving.
        if (client?.key.isGood() === false) decline(exchange, UNAUTHORIZED)
        else answer(exchange, dispatcherOf(request), body, client)
      })
    }
  }

  return (request, response, requestId) => {
    const { method } = request
    if (method === 'POST') return answerPost(exchangeOf(request, response, requestId))
    response.setHeader(REQUEST_ID_HEADER, requestId)
    if (method === 'OPTIONS') return answerPreflight(request, response, verbs)
    const isUnknownPage = (method === 'GET' || method === 'HEAD') && pathOf(request.url) !== '/'
    refuse(response, isUnknownPage ? NO_SUCH_PAGE : wrongVerb(verbs))
  }
}

/**
 * Makes a handler that answers JSON-RPC for a node, to be mounted in an app of your own:
 * `app.use('/rpc', rpcHandler(node))`. Every path below the mount point is the JSON-RPC address.
 *
 * Mount it before `express.json()`: it then reads the body itself, within `maxBodyBytes`, and passes the text on
 * unchanged. Behind a body parser it answers from `request.body`, within that parser's limit, and numbers above 2^53
 * have lost digits there; a body that was read and not left in `request.body` is refused with status 500.
 *
 * It checks Host (`localhost`, IP addresses and `hosts`), Origin (same origin and `cors`) and banned addresses as
 * `serve` does, and authenticates nobody: API keys, TLS and WebSockets belong to `serve`, so an app that others can
 * reach needs an authentication of its own in front. Closing the node is left to the caller.
 * Throws `NodeError` (`invalid-options`).
 */
export function rpcHandler(node: RpcHandlerNode, given: RpcHandlerOptions = {}): RpcHandler {
  const options = resolveRpcHandlerOptions(given, node.options)
  const { hosts, cors, maxBodyBytes, transferTimeoutMs } = options
  const remoteAddressOf = createRemoteAddressOf(options.trustedProxies)
  const budget = createByteBudget(options.maxBufferedBytes)
  const isClosing = () => false
  // The address that the app listens on is not known here, so Host is checked as on loopback.
  const admit = createAdmission(createHostCheck({ bindAddress: '127.0.0.1', hosts, cors }), isClosing)
  const { peers = NO_SCORING } = node
  const handle = createRpcHandler({
    dispatcherOf: () => node.dispatcher,
    verbs: RPC_VERBS,
    remoteAddressOf,
    authentication: undefined,
    maxBodyBytes,
    readBody: createBodyReader(maxBodyBytes, budget),
    budget,
    transferTimeoutMs,
    // Nor who reaches it.
    entitlements: REMOTE_ENTITLEMENTS,
    logger: node.options?.logger ?? silentLogger,
    isMounted: true,
    isClosing,
  })
  return (request, response) => {
    if (peers.isBanned(remoteAddressOf(request))) return refuse(response, BANNED)
    const requestId = admit(request, response)
    if (requestId === undefined) return
    response.setHeader(REQUEST_ID_HEADER, requestId)
    handle(request, response, requestId)
  }
}
