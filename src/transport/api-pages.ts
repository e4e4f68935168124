/** The HTTP APIs of explorers and verifiers on the port of JSON-RPC: hosts, origins, keys and limits are those of the policy. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { apiPath } from '../apis/http-apis.ts'
import type { ApiAnswers, ApiReply, ApiRequest } from '../apis/request.ts'
import type { Logger } from '../logger.ts'
import { EXPLORER_API } from '../rpc/permissions.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { pathOf } from './incoming-request.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { Policy } from './policy.ts'

/** The name that a key has to allow for these APIs. */
const PERMISSION = { name: EXPLORER_API, aliases: [] }
const SESSION = openSession('http')
const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'

interface Parts {
  readonly apis: ApiAnswers
  readonly policy: Policy
  readonly logger: Logger
}

/** Where a request goes: what stands before the API, a key if there is one, and the page of the API. */
interface ApiPlace {
  readonly prefix: string
  readonly before: string
  readonly page: string
}

function send(response: ServerResponse, { status, body, isText = false }: ApiReply): void {
  const text = isText ? String(body) : JSON.stringify(body)
  response.writeHead(status, {
    'Content-Type': isText ? TEXT_TYPE : JSON_TYPE,
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(text)
}

/** Is this POST JSON-RPC? Its address may be any path. */
function isJsonRpc(page: string, request: IncomingMessage): boolean {
  const isJson = String(request.headers['content-type'] ?? '').includes('json')
  return request.method === 'POST' && isJson && (page === '/api' || page === '/v2/api')
}

/** The APIs of one node behind one policy. */
export class ApiPages {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Answers a request to one of the APIs, below a prefix such as `/c/<name>`; false when it is for another page. */
  handle(request: IncomingMessage, response: ServerResponse, prefix = ''): boolean {
    const { method } = request
    const path = apiPath(pathOf(request.url).slice(prefix.length))
    const at = path && { ...path, prefix }
    if (at === undefined || (method !== 'GET' && method !== 'POST') || isJsonRpc(at.page, request))
      return false
    if (method === 'GET') this.#answer(request, response, at, '')
    else this.#readBody(request, response, at)
    return true
  }

  #readBody(request: IncomingMessage, response: ServerResponse, at: ApiPlace): void {
    const { policy, apis } = this.#parts
    const tooLarge = () => {
      response.setHeader('Connection', 'close')
      const message = `The request is larger than ${policy.maxBodyBytes} bytes`
      send(response, apis.refusal(at.page, 413, message))
      request.resume()
    }
    if (Number(request.headers['content-length'] ?? 0) > policy.maxBodyBytes) {
      tooLarge()
      return
    }
    policy.readBody(request, response, (body, unread) => {
      if (body !== undefined) this.#answer(request, response, at, body)
      else if (unread === 'no room')
        send(response, apis.refusal(at.page, 503, 'The node is busy: try again later'))
      else tooLarge()
    })
  }

  #answer(request: IncomingMessage, response: ServerResponse, at: ApiPlace, body: string): void {
    const { apis, logger } = this.#parts
    this.#reply(request, at, body).then(
      (reply) => send(response, reply),
      (error) => {
        logger.error('a request to an API failed', { error, path: at.page })
        send(response, apis.refusal(at.page, 500, 'Internal error'))
      },
    )
  }

  async #reply(
    request: IncomingMessage,
    { prefix, before, page }: ApiPlace,
    body: string,
  ): Promise<ApiReply> {
    const { apis, policy } = this.#parts
    const target = new URL(request.url?.startsWith('/') ? `http://node${request.url}` : (request.url ?? ''))
    const contentType = String(request.headers['content-type'] ?? '')
    const made: Omit<ApiRequest, 'session'> = {
      method: request.method === 'POST' ? 'POST' : 'GET',
      path: page,
      query: target.searchParams,
      contentType,
      body,
      origin: `http://${request.headers.host ?? 'localhost'}${prefix}`,
    }
    if (policy.authentication === undefined) {
      return before === ''
        ? apis.answer({ ...made, session: SESSION })
        : apis.refusal(page, 404, 'No such page')
    }
    const client = this.#client(before, made)
    if (client === undefined || !client.key.allows(PERMISSION))
      return apis.refusal(page, 401, 'Invalid API Key')
    const spent = await client.charge(1)
    if (spent !== undefined) return apis.refusal(page, 429, 'Max rate limit reached')
    return apis.answer({ ...made, session: apiSession(client) })
  }

  /** The client of the key in the path, or in the parameter `apikey` of the URL or of a form. */
  #client(
    before: string,
    { query, contentType, body }: Omit<ApiRequest, 'session'>,
  ): ApiKeyClient | undefined {
    const { authentication } = this.#parts.policy
    if (before !== '') return authentication?.authenticate(before)
    const inForm = contentType.includes('form-urlencoded') ? new URLSearchParams(body).get('apikey') : null
    return authentication?.authenticate(`/${query.get('apikey') ?? inForm ?? ''}`)
  }
}

function apiSession(client: ApiKeyClient): Session {
  const { owner, entitlements, allows } = sessionOf(client)
  return { ...SESSION, owner, entitlements, allows }
}
