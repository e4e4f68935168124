/** The Express pages beside JSON-RPC: health and figures, the OpenRPC document, preflights, and honest refusals. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { METRICS_PAGE } from '../rpc/permissions.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { type HttpParts, RESERVED_PAGES, refuse } from './http.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import { sendPage } from './monitoring-pages.ts'
import {
  BROKEN,
  MALFORMED,
  NO_SUCH_PAGE,
  PAGE_VERBS,
  RPC_VERBS,
  spentLimit,
  UNAUTHORIZED,
  wrongVerb,
} from './refusal.ts'

const DISCOVER = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover","params":[]}'
const SESSION = openSession('http')
/** Pages that answer everybody, keys or not: what watches over a service has none. */
const OPEN_PAGES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])
/** What a key has to name to see figures of all callers. */
const METRICS = { name: METRICS_PAGE, aliases: [] }
/** How long a browser may remember a preflight, seconds. */
const PREFLIGHT_SECONDS = '600'

/** Whose key stands last in a path, or before the page that is asked for: `/<key>` and `/<key>/<page>`. */
function clientAt(
  path: string,
  gate: Authentication,
): { readonly client: ApiKeyClient | undefined; readonly page: string } {
  const end = path.lastIndexOf('/')
  const [own, parent] = [gate.admit(path), gate.admit(path.slice(0, end))]
  return own === undefined ? { client: parent, page: path.slice(end) } : { client: own, page: '/' }
}

/** With keys in use, shows pages but those of health below a key only, and each what that key opens. */
function behindKeys(gate: Authentication): RequestHandler {
  return async (request, response, next) => {
    if (request.method === 'OPTIONS' || OPEN_PAGES.has(request.path)) return next()
    const { client, page } = clientAt(request.path, gate)
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

/** Makes the pages; Host and Origin are checked before. */
export function createPages(parts: HttpParts): (request: IncomingMessage, response: ServerResponse) => void {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')

  app.options('/{*path}', (request, response) => {
    if (response.hasHeader('Access-Control-Allow-Origin')) {
      response.setHeader('Access-Control-Allow-Methods', 'POST')
      const asked = request.headers['access-control-request-headers']
      response.setHeader('Access-Control-Allow-Headers', asked ?? 'Content-Type')
      response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS)
      if (request.headers['access-control-request-private-network'] === 'true') {
        response.setHeader('Access-Control-Allow-Private-Network', 'true')
      }
    }
    response.setHeader('Allow', RPC_VERBS)
    response.status(204).end()
  })

  if (parts.gate !== undefined) app.use(behindKeys(parts.gate))

  app.get(['/healthz', '/readyz', '/metrics'], async ({ path }, response, next) => {
    const page = path === '/metrics' && !parts.showsMetrics ? undefined : await parts.watch.page(path)
    if (page === undefined) next()
    else sendPage(response, page)
  })

  app.get('/openrpc.json', async (_request, response) => {
    const session: Session = response.locals.session ?? SESSION
    const reply = JSON.parse((await parts.dispatcher.dispatchText(DISCOVER, session)) ?? '{}')
    if (reply.result === undefined) refuse(response, NO_SUCH_PAGE)
    else response.json(reply.result)
  })

  app.all([...RESERVED_PAGES], ({ method }, response, next) => {
    if (method === 'GET' || method === 'HEAD') next()
    else refuse(response, wrongVerb(PAGE_VERBS))
  })

  app.get('/{*path}', (request, response) => {
    refuse(response, request.path === '/' ? wrongVerb(RPC_VERBS) : NO_SUCH_PAGE)
  })

  app.use((_request, response) => {
    refuse(response, wrongVerb(RPC_VERBS))
  })

  // Express knows an error handler by its four parameters.
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    if (error instanceof URIError) return refuse(response, MALFORMED)
    parts.logger.error('a page failed', { error })
    refuse(response, BROKEN)
  }
  app.use(onError)

  return app
}
