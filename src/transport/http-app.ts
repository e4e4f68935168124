/** The Express app of `serve`: health and metrics pages, the explorer, the OpenRPC document, and JSON-RPC on every other path. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import type { Logger } from '../logger.ts'
import { METRICS_PAGE } from '../rpc/permissions.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { REQUEST_ID_HEADER } from './admission.ts'
import { assetPath, type Explorer } from './explorer.ts'
import { pathOf, RESERVED_PATHS } from './incoming-request.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import { type MonitoringPages, sendPage } from './monitoring-pages.ts'
import { BROKEN, NO_SUCH_PAGE, PAGE_VERBS, refuse, spentLimit, UNAUTHORIZED, wrongVerb } from './refusal.ts'
import type { AdmittedHandler } from './rpc-handler.ts'
import type { TextDispatcher } from './text-dispatcher.ts'

/** What the app is made of. */
export interface HttpAppParts {
  readonly dispatcher: TextDispatcher
  /** Absent where no API keys are in use. */
  readonly authentication: Authentication | undefined
  readonly monitoring: MonitoringPages
  /** Absent where it is turned off, and where no keys are in use: the server answers it itself there. */
  readonly explorer: Explorer | undefined
  /** False when the metrics page has a port of its own. */
  readonly showsMetrics: boolean
  /** JSON-RPC. */
  readonly handleRpc: AdmittedHandler
  readonly logger: Logger
}

const DISCOVER = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover","params":[]}'
const SESSION = openSession('http')
/** Pages that need no API key: load balancers and probes have none. */
const OPEN_PAGES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])
/** The name that a key has to allow for the metrics page, which shows the calls of all keys. */
const METRICS = { name: METRICS_PAGE, aliases: [] }

/** The client whose key is the last segment of a path, or the one before the page: `/<key>`, `/<key>/<page>` and `/<key>/ui/<file>`. */
function clientAt(
  path: string,
  authentication: Authentication,
): { readonly client: ApiKeyClient | undefined; readonly page: string } {
  const asset = assetPath(path)
  if (asset !== undefined) return { client: authentication.authenticate(asset.before), page: asset.page }
  const end = path.lastIndexOf('/')
  const [own, parent] = [authentication.authenticate(path), authentication.authenticate(path.slice(0, end))]
  return own === undefined ? { client: parent, page: path.slice(end) } : { client: own, page: '/' }
}

/** Asks for a key on every page but those of health. JSON-RPC itself authenticates in its handler. */
function requireKey(authentication: Authentication): RequestHandler {
  return async (request, response, next) => {
    const { method, path } = request
    if (method === 'POST' || method === 'OPTIONS' || OPEN_PAGES.has(path)) return next()
    const { client, page } = clientAt(path, authentication)
    if (client === undefined) return refuse(response, UNAUTHORIZED)
    const spent = await client.charge(1)
    if (spent !== undefined) return refuse(response, spentLimit(spent.message, spent.retryAfterSeconds))
    if (page === `/${METRICS_PAGE}` && !client.key.allows(METRICS)) return refuse(response, NO_SUCH_PAGE)
    const { owner, entitlements, allows } = sessionOf(client)
    response.locals.session = { ...SESSION, owner, entitlements, allows } satisfies Session
    request.url = page
    next()
  }
}

/** Makes the app, for requests that have passed `createAdmission` and whose responses have their IDs. */
export function createHttpApp(
  parts: HttpAppParts,
): (request: IncomingMessage, response: ServerResponse) => void {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')

  if (parts.authentication !== undefined) app.use(requireKey(parts.authentication))

  app.get(['/healthz', '/readyz', '/metrics'], async ({ path }, response, next) => {
    const page = path === '/metrics' && !parts.showsMetrics ? undefined : await parts.monitoring.page(path)
    if (page === undefined) next()
    else sendPage(response, page)
  })

  const { explorer } = parts
  if (explorer !== undefined) {
    app.use((request, response, next) => {
      if (!explorer.answer(request, response, request.path, pathOf(request.originalUrl))) next()
    })
  }

  app.get('/openrpc.json', async (_request, response) => {
    const session: Session = response.locals.session ?? SESSION
    const reply = JSON.parse((await parts.dispatcher.dispatchText(DISCOVER, session)) ?? '{}')
    if (reply.result === undefined) refuse(response, NO_SUCH_PAGE)
    else response.json(reply.result)
  })

  app.use(({ method, path }, response, next) => {
    const isAllowed = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
    if (isAllowed || !RESERVED_PATHS.has(path)) next()
    else refuse(response, wrongVerb(PAGE_VERBS))
  })

  app.use((request, response) => {
    parts.handleRpc(request, response, String(response.getHeader(REQUEST_ID_HEADER)))
  })

  // Express recognises an error handler by its four parameters.
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    parts.logger.error('a page failed', { error })
    refuse(response, BROKEN)
  }
  app.use(onError)

  return app
}
