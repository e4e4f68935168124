/** JSON-RPC over HTTP as one request handler: `serve` mounts it on its own Express app, `rpcHandler` makes it for others. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { NodeError } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import { type RpcHandlerOptions, resolveRpcHandlerOptions } from '../options/options.ts'
import type { Preset } from '../options/presets.ts'
import type { LogProgress } from '../rpc/cluster-routes.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { createAdmission, REQUEST_ID_HEADER } from './admission.ts'
import { BANNED, NO_SCORING, type PeerScoring } from './ban-check.ts'
import { type BodyReader, createBodyReader } from './body.ts'
import { type ByteBudget, createByteBudget, PACKED, SMALL_BYTES } from './byte-budget.ts'
import { createHostCheck } from './host-check.ts'
import { createRemoteAddressOf, pathOf, type RemoteAddressOf, withLast } from './incoming-request.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import {
  BEHIND,
  BODY_CONSUMED,
  BROKEN,
  BUSY,
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
const isJson = withLast((type) => JSON_TYPE.test(type))
/** What the sessions of all requests have in common. */
const SESSION = openSession('http')

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
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
}

/** Refuses a POST, before its response has begun. */
function decline({ response, requestId }: Exchange, refusal: Refusal): void {
  response.setHeader(REQUEST_ID_HEADER, requestId)
  refuse(response, refusal)
}

/** Refuses a body that is still arriving: answers at once, and lets the sender finish for a moment before the end. */
function declineUnread(
  { request, response, requestId }: Exchange,
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
  function requestSession({ request, response, requestId }: Exchange): Session {
    return {
      label: SESSION.label,
      owner: SESSION.owner,
      entitlements: SESSION.entitlements,
      allows: SESSION.allows,
      remote: remoteAddressOf(request),
      requestId,
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
  async function catchUp(progress: LogProgress, seen: string, exchange: Exchange): Promise<boolean> {
    const isReached = /^\d{1,15}$/.test(seen) && (await progress.reached(Number(seen), CATCH_UP_MS))
    if (!isReached) decline(exchange, BEHIND)
    return isReached
  }

  function answer(exchange: Exchange, session: Session, body: string): void {
    const { request } = exchange
    const dispatcher = dispatcherOf(request)
    const progress = dispatcher.position?.()
    const seen = progress && request.headers[SEQUENCE_HEADER]
    if (progress === undefined || typeof seen !== 'string') {
      answerNow(exchange, dispatcher, session, body)
      return
    }
    void catchUp(progress, seen, exchange).then((isReached) => {
      if (isReached) answerNow(exchange, dispatcher, session, body)
    })
  }

  function answerNow(exchange: Exchange, dispatcher: TextDispatcher, session: Session, body: string): void {
    const send = (reply: string | LongReply = '') => {
      const { response, requestId } = exchange
      const isLong = typeof reply !== 'string'
      const length = isLong ? reply.length : Buffer.byteLength(reply)
      const held = isLong ? Math.ceil(length / PACKED) : length
      if (parts.isClosing()) response.setHeader('Connection', 'close')
      const progress = dispatcher.position?.()
      if (progress !== undefined) response.setHeader(SEQUENCE_HEADER, progress.sequence)
      if (length > SMALL_BYTES && !reserve(response, held)) return decline(exchange, BUSY)
      writeHeader(response, {
        [REQUEST_ID_HEADER]: requestId,
        'Content-Type': 'application/json',
        'Content-Length': length,
      })
      if (isLong) sendPieces(response, reply)
      // Of ASCII alone, which takes no conversion.
      else if (length === reply.length) response.end(reply, 'latin1')
      else response.end(reply)
    }
    const fail = (error: unknown) => {
      if (error instanceof NodeError) return decline(exchange, full(error.message))
      logger.error('a request failed outside its method', { error, request: session.requestId })
      decline(exchange, BROKEN)
    }
    try {
      const reply = dispatchLong(dispatcher, body, session)
      if (reply instanceof Promise) reply.then(send, fail)
      else send(reply)
    } catch (error) {
      fail(error)
    }
  }

  /** At once where nothing may change the header any more, since Node checks and keeps each header that is set alone. */
  function writeHeader(response: ServerResponse, headers: Readonly<Record<string, string | number>>): void {
    if (!parts.isMounted) response.writeHead(response.statusCode, headers)
    else for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  }

  /** Calls back with the body once it is there; refuses one that is too large, or that nothing is left of. */
  function withBody(exchange: Exchange, done: (body: string) => void): void {
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

  function answerPost(exchange: Exchange): void {
    const { request, response } = exchange
    const client = authentication?.authenticate(pathOf(request.url))
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
    if (authentication !== undefined && client === undefined) decline(exchange, UNAUTHORIZED)
    else if (!isJson(type) || encoding !== 'identity') decline(exchange, WRONG_TYPE)
    else {
      withBody(exchange, (body) => {
        const session = requestSession(exchange)
        if (client === undefined) answer(exchange, session, body)
        // The key may have been revoked while the body was arriving.
        else if (client.key.isGood()) answer(exchange, clientSession(session, client, response), body)
        else decline(exchange, UNAUTHORIZED)
      })
    }
  }

  return (request, response, requestId) => {
    const { method } = request
    if (method === 'POST') return answerPost({ request, response, requestId })
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
