/** The Express pages beside JSON-RPC: health, the OpenRPC document, preflights, and honest refusals. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler } from 'express'
import { openSession } from '../rpc/session.ts'
import { type HttpParts, refuse } from './http.ts'
import { BROKEN, MALFORMED, NO_SUCH_PAGE, RPC_VERBS, wrongVerb } from './refusal.ts'

const DISCOVER = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover","params":[]}'
const SESSION = openSession('http')
/** How long a browser may remember a preflight, seconds. */
const PREFLIGHT_SECONDS = '600'

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

  app.get(['/healthz', '/readyz'], (_request, response) => {
    response.status(parts.isClosing() ? 503 : 200).json({ status: parts.isClosing() ? 'closing' : 'ok' })
  })

  app.get('/openrpc.json', async (_request, response) => {
    const reply = JSON.parse((await parts.dispatcher.dispatchText(DISCOVER, SESSION)) ?? '{}')
    if (reply.result === undefined) refuse(response, NO_SUCH_PAGE)
    else response.json(reply.result)
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
