/** JSON-RPC over HTTP as one request handler: a route of the router of `serve`, and `rpcHandler` for the apps of others. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type Logger, silentLogger } from '../logger.ts'
import { type RpcHandlerOptions, resolveRpcHandlerOptions } from '../options/options.ts'
import type { Preset } from '../options/presets.ts'
import { REMOTE_ENTITLEMENTS } from '../rpc/session.ts'
import { BANNED, NO_SCORING, type PeerScoring } from './ban-check.ts'
import { decline } from './exchange.ts'
import { HttpExchange } from './http-exchange.ts'
import { pathOf } from './incoming-request.ts'
import { Policy } from './policy.ts'
import { NO_SUCH_PAGE, RPC_VERBS, refuse, UNAUTHORIZED, WRONG_TYPE, wrongVerb } from './refusal.ts'
import { RpcAnswers } from './rpc-exchange.ts'
import type { TextDispatcher } from './text-dispatcher.ts'

/** What the JSON-RPC handler is made of. */
export interface RpcHandlerParts {
  readonly policy: Policy
  /** What answers a request; it may reject with the `NodeError` of a request that it has no room for. */
  readonly dispatcherOf: (request: IncomingMessage) => TextDispatcher
  /** The verbs of its paths, for preflights and for the refusal of others. */
  readonly verbs: string
  /** Is the handler part of an app of the user's, whose middleware may change the header until the end of the response? */
  readonly isMounted: boolean
  readonly logger: Logger
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

/**
 * Makes the JSON-RPC handler, for requests that `Policy.admit` has let through: POST is a message, OPTIONS a preflight,
 * and no other verb is allowed.
 */
export function createRpcHandler(parts: RpcHandlerParts): RpcHandler {
  const { policy, dispatcherOf, verbs, isMounted } = parts
  const { authentication } = policy
  const answers = new RpcAnswers(policy, parts.logger)

  function answerPost(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new HttpExchange(request, response, policy, isMounted)
    const client = authentication?.authenticate(pathOf(request.url))
    if (authentication !== undefined && client === undefined) return void decline(exchange, UNAUTHORIZED)
    if (!isJsonBody(request.headers)) return void decline(exchange, WRONG_TYPE)
    exchange.readBody((body) => {
      // The key may have been revoked while the body was arriving.
      if (client?.key.isGood() === false) decline(exchange, UNAUTHORIZED)
      else answers.answer(exchange, dispatcherOf(request), body, client)
    })
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
  const policy = new Policy({
    ...options,
    // The address that the app listens on is not known here, so Host is checked as on loopback.
    bindAddress: '127.0.0.1',
    scoring: { ...NO_SCORING, isBanned: (address) => node.peers?.isBanned(address) ?? false },
    // Nor is it known who can reach the app.
    entitlements: REMOTE_ENTITLEMENTS,
  })
  const handle = createRpcHandler({
    policy,
    dispatcherOf: () => node.dispatcher,
    verbs: RPC_VERBS,
    isMounted: true,
    logger: node.options?.logger ?? silentLogger,
  })
  return (request, response) => {
    // A caller that disconnects in the middle is no error of the node.
    request.on('error', () => {})
    if (policy.bans.refusal(request) !== undefined) return refuse(response, BANNED)
    if (policy.admit(request, response)) handle(request, response)
  }
}
