/** JSON-RPC over HTTP as one request handler: `serve` mounts it on its own Express app, `rpcHandler` makes it for others. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { NodeError } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import { type RpcHandlerOptions, resolveRpcHandlerOptions } from '../options/options.ts'
import type { Preset } from '../options/presets.ts'
import type { LogProgress } from '../rpc/cluster-routes.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { BANNED, NO_SCORING, type PeerScoring } from './ban-check.ts'
import { type BodyReader, createBodyReader } from './body.ts'
import { type ByteBudget, createByteBudget, PACKED, SMALL_BYTES } from './byte-budget.ts'
import { createHostCheck, type HostCheck } from './host-check.ts'
import { createRemoteAddressOf, pathOf, type RemoteAddressOf, requestIdOf } from './incoming-request.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import {
  BEHIND,
  BODY_CONSUMED,
  BROKEN,
  BUSY,
  forbidden,
  full,
  NO_SUCH_PAGE,
  type Refusal,
  RPC_VERBS,
  refuse,
  tooLarge,
  UNAUTHORIZED,
  WRONG_TYPE,
  wrongVerb,
} from './refusal.ts'
import { dispatchLong, type LongReply, type TextDispatcher } from './text-dispatcher.ts'

/** What the JSON-RPC handler is made of. */
export interface RpcHandlerParts {
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
  /** Of requests and answers of all transports. */
  readonly budget: ByteBudget
  /** How long a caller may read nothing of a large answer, milliseconds. */
  readonly transferTimeoutMs: number
  readonly logger: Logger
  /** While true, each response ends its connection. */
  isClosing(): boolean
}

/** Answers one request; fits Express 4 and 5 and a plain `node:http` server. */
export type RpcHandler = (request: IncomingMessage, response: ServerResponse) => void

/** A node that `rpcHandler` can answer for: a `Node`, or anything with a dispatcher. */
export interface RpcHandlerNode {
  readonly dispatcher: TextDispatcher
  readonly options?: { readonly logger?: Logger | undefined; readonly preset?: Preset | undefined }
  /** Banned addresses; none when it is absent. */
  readonly peers?: Pick<PeerScoring, 'isBanned'>
}

/** How long the sender of a body that is too large may go on sending, so that it reads our answer; milliseconds. */
const LINGER_MS = 2000
/**
 * In a cluster: how much of the log was applied before a reply. A caller that sends it with a request to another node
 * sees there what it has seen here.
 */
const SEQUENCE_HEADER = 'x-tandem-sequence'
/** Longest wait for a node to catch up with that, milliseconds. */
const CATCH_UP_MS = 4_000
/** How long a browser may cache a preflight, seconds. */
const PREFLIGHT_SECONDS = '600'
const JSON_TYPE = /^\s*application\/json(-rpc)?\s*(;|$)/i
/** What the sessions of all requests have in common. */
const SESSION = openSession('http')

/** Refuses a body that is still arriving: answers at once, and lets the sender finish for a moment before the end. */
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
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  request.on('end', end).on('close', end).resume()
}

/** Sends a long body without joining it, each piece after the one before has been taken. */
function sendPieces(response: ServerResponse, reply: LongReply): void {
  response.setHeader('Content-Length', reply.length)
  // A caller that disconnects in the middle is not an error of the node.
  pipeline(Readable.from(reply.pieces(), { objectMode: false, highWaterMark: 1 }), response, () => {})
}

/**
 * Makes the checks that every HTTP request passes first, whatever its path and verb: they set its ID, refuse a foreign
 * Host or Origin, and set the CORS headers. False when the request has been refused.
 */
export function createAdmission(
  check: HostCheck,
  isClosing: () => boolean,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    // A caller that disconnects in the middle is not an error of the node.
    request.on('error', () => {})
    if (isClosing()) response.setHeader('Connection', 'close')
    const { headers } = request
    response.setHeader('X-Request-Id', requestIdOf(headers))
    const reason = check.refusal(headers)
    if (reason !== undefined) {
      refuse(response, forbidden(reason))
      return false
    }
    const origin = check.corsOrigin(headers)
    if (origin !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', origin)
      response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
      if (origin !== '*') response.setHeader('Vary', 'Origin')
    }
    return true
  }
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

/**
 * Makes the JSON-RPC handler, for requests that have passed `createAdmission`: POST is a message, OPTIONS a preflight,
 * and no other verb is allowed.
 */
export function createRpcHandler(parts: RpcHandlerParts): RpcHandler {
  const { dispatcherOf, verbs, maxBodyBytes, readBody, budget, logger, remoteAddressOf, authentication } =
    parts

  /** The session of an API key's client; a message beyond the key's limits gets status 429. */
  function clientSession(session: Session, client: ApiKeyClient, response: ServerResponse): Session {
    const rights = sessionOf(client, ({ retryAfterSeconds }) => {
      response.statusCode = 429
      response.setHeader('Retry-After', retryAfterSeconds)
    })
    return { ...session, ...rights }
  }

  /** The session of one request; a message that the node is too busy for gets status 503. */
  function requestSession(request: IncomingMessage, response: ServerResponse): Session {
    return {
      label: SESSION.label,
      owner: SESSION.owner,
      entitlements: SESSION.entitlements,
      allows: SESSION.allows,
      remote: remoteAddressOf(request),
      requestId: response.getHeader('X-Request-Id') as string,
      userAgent: request.headers['user-agent'],
      shed(retrySeconds) {
        response.statusCode = 503
        response.setHeader('Retry-After', retrySeconds)
      },
    }
  }

  /** Takes bytes from the budget until the answer is sent; false when it is spent. Disconnects a caller that reads nothing. */
  function reserve(response: ServerResponse, bytes: number): boolean {
    if (budget.isSpent) return false
    budget.take(bytes)
    response.once('close', () => budget.give(bytes))
    response.setTimeout(parts.transferTimeoutMs, () => response.destroy())
    return true
  }

  /**
   * Waits until this node of a cluster has applied what its caller has seen on another one. False when that takes too
   * long; the request is refused then.
   */
  async function catchUp(progress: LogProgress, seen: string, response: ServerResponse): Promise<boolean> {
    const isReached = /^\d{1,15}$/.test(seen) && (await progress.reached(Number(seen), CATCH_UP_MS))
    if (!isReached) refuse(response, BEHIND)
    return isReached
  }

  function answer(request: IncomingMessage, session: Session, response: ServerResponse, body: string): void {
    const dispatcher = dispatcherOf(request)
    const progress = dispatcher.position?.()
    const seen = progress && request.headers[SEQUENCE_HEADER]
    if (progress === undefined || typeof seen !== 'string') {
      answerNow(dispatcher, session, response, body)
      return
    }
    void catchUp(progress, seen, response).then((isReached) => {
      if (isReached) answerNow(dispatcher, session, response, body)
    })
  }

  function answerNow(
    dispatcher: TextDispatcher,
    session: Session,
    response: ServerResponse,
    body: string,
  ): void {
    const send = (reply: string | LongReply = '') => {
      if (parts.isClosing()) response.setHeader('Connection', 'close')
      response.setHeader('Content-Type', 'application/json')
      const progress = dispatcher.position?.()
      if (progress !== undefined) response.setHeader(SEQUENCE_HEADER, progress.sequence)
      const isLong = typeof reply !== 'string'
      const length = isLong ? reply.length : Buffer.byteLength(reply)
      const held = isLong ? Math.ceil(length / PACKED) : length
      if (length > SMALL_BYTES && !reserve(response, held)) return refuse(response, BUSY)
      if (isLong) return sendPieces(response, reply)
      response.setHeader('Content-Length', length)
      response.end(reply)
    }
    const fail = (error: unknown) => {
      if (error instanceof NodeError) return refuse(response, full(error.message))
      logger.error('a request failed outside its method', { error, request: session.requestId })
      refuse(response, BROKEN)
    }
    try {
      const reply = dispatchLong(dispatcher, body, session)
      if (reply instanceof Promise) reply.then(send, fail)
      else send(reply)
    } catch (error) {
      fail(error)
    }
  }

  /** Calls back with the body once it is there; refuses one that is too large, or that nothing is left of. */
  function withBody(request: IncomingMessage, response: ServerResponse, done: (body: string) => void): void {
    if (request.readableDidRead || request.readableEnded) {
      const body = parsedBody(request)
      if (body === undefined) refuse(response, BODY_CONSUMED)
      else done(body)
      return
    }
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
      refuseUnread(request, response, tooLarge(maxBodyBytes))
      return
    }
    readBody(request, response, (body, unread) => {
      if (unread === 'no room') refuseUnread(request, response, BUSY)
      else if (body === undefined) refuseUnread(request, response, tooLarge(maxBodyBytes))
      else done(body)
    })
  }

  function answerPost(request: IncomingMessage, response: ServerResponse): void {
    const client = authentication?.authenticate(pathOf(request.url))
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
    if (authentication !== undefined && client === undefined) refuse(response, UNAUTHORIZED)
    else if (!JSON_TYPE.test(type) || encoding !== 'identity') refuse(response, WRONG_TYPE)
    else {
      withBody(request, response, (body) => {
        const session = requestSession(request, response)
        if (client === undefined) answer(request, session, response, body)
        // The key may have been revoked while the body was arriving.
        else if (client.key.isGood())
          answer(request, clientSession(session, client, response), response, body)
        else refuse(response, UNAUTHORIZED)
      })
    }
  }

  return (request, response) => {
    const { method } = request
    if (method === 'POST') return answerPost(request, response)
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
    logger: node.options?.logger ?? silentLogger,
    isClosing,
  })
  return (request, response) => {
    if (peers.isBanned(remoteAddressOf(request))) refuse(response, BANNED)
    else if (admit(request, response)) handle(request, response)
  }
}
