/** A port for a Bitcoin node: Bitcoin Core's JSON-RPC behind a user and a password, and REST interfaces without. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type NextFunction, Router } from 'express'
import { type BitcoinReply, type BitcoinRequest, walletIn } from '../../bitcoin-rpc/requests.ts'
import { NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { createServer } from '../../upstream/node-http.ts'
import { callableHost, listen } from '../listen.ts'

/** What a port needs. */
export interface BitcoinRpcOptions {
  readonly host: string
  /** 0: the system chooses one. */
  readonly port: number
  readonly user: string
  readonly password: string
  readonly logger: Logger
}

/** Answers a request; `undefined` for a path of no interface. Throws a `NodeError` where no node can answer it now. */
export type AnswerRequest = (
  request: BitcoinRequest,
  isGone: () => boolean,
) => Promise<BitcoinReply | undefined>

/** A listening port. */
export interface BitcoinRpcServer {
  readonly port: number
  readonly url: string
  /** Ends connections and calls. */
  close(): Promise<void>
}

/** Bytes of the largest request: a block in hex digits, and a bit more. */
const MAX_BODY = 9_000_000
/** For a whole request, milliseconds. */
const REQUEST_TIMEOUT = 60_000
/** Middleware of a router without an app: Express extends requests and responses in apps only. */
type Middleware = (request: IncomingMessage, response: ServerResponse, next: NextFunction) => unknown

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Has the request the user and password? Takes the same time for all wrong ones. */
function authorization(user: string, password: string): (request: IncomingMessage) => boolean {
  const expected = digest(`${user}:${password}`)
  return ({ headers }) => {
    const [, credentials = ''] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? '') ?? []
    return timingSafeEqual(digest(Buffer.from(credentials, 'base64').toString()), expected)
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

/** The body as a text; `undefined` when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue
    length += chunk.length
    if (length > MAX_BODY) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length).toString()
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/'
}

/** Refuses what is not a call of the JSON-RPC at `/` and `/wallet/<name>`, or has not its user and password. */
function guard(isAuthorized: (request: IncomingMessage) => boolean): Middleware {
  return (request, response, next) => {
    if (walletIn(pathOf(request)) === undefined) return next()
    if (request.method !== 'POST')
      return send(response, 405, 'text/plain', 'JSONRPC server handles only POST requests')
    if (isAuthorized(request)) return next()
    response.setHeader('WWW-Authenticate', 'Basic realm="jsonrpc"')
    response.setHeader('Connection', 'close')
    return send(response, 401, 'text/plain', '')
  }
}

function tooLarge(response: ServerResponse): void {
  response.setHeader('Connection', 'close')
  send(response, 413, 'text/plain', 'The request is too large')
}

function answered(answer: AnswerRequest, isClosed: () => boolean): Middleware {
  return async (request, response) => {
    const body = await bodyOf(request)
    if (body === undefined) return tooLarge(response)
    const given = { verb: request.method ?? 'GET', path: pathOf(request), body }
    try {
      const reply = await answer(given, () => isClosed() || response.destroyed)
      if (reply === undefined) return send(response, 404, 'text/plain', 'Not found')
      send(response, reply.status, reply.type, reply.body)
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      send(response, 503, 'text/plain', error.message)
    }
  }
}

/** Opens the port. Throws `ListenError`. */
export async function serveBitcoinRpc(
  answer: AnswerRequest,
  options: BitcoinRpcOptions,
): Promise<BitcoinRpcServer> {
  const { host, user, password, logger } = options
  let isClosed = false
  const report = (error: unknown) => logger.error('a request of the Bitcoin node failed', { error })
  const router = Router()
  router.use(guard(authorization(user, password)))
  router.use(answered(answer, () => isClosed))
  const mounted: { handle(request: IncomingMessage, response: ServerResponse, next: NextFunction): void } = {
    handle: router,
  }
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT }, (request, response) => {
    mounted.handle(request, response, (error?: unknown) => {
      if (error !== undefined) report(error)
      if (!response.headersSent) send(response, 500, 'text/plain', 'Internal error')
    })
  })
  const port = await listen(server, host, options.port)
  server.on('error', (error) => logger.error('the port of the Bitcoin node failed', { error }))
  return {
    port,
    url: `http://${callableHost(host)}:${port}`,
    close() {
      isClosed = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
}
