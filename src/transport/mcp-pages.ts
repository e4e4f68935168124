/**
 * The tools for agents at `/mcp`, at `/<key>/mcp` where keys are in use, and below `/c/<name>` for the chains of a pool: hosts,
 * origins, keys and limits are those of the policy.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isTooComplex } from '../encoding/json-complexity.ts'
import type { Logger } from '../logger.ts'
import type { AnsweringNode } from '../mcp/node-access.ts'
import { groupsAllowed } from '../options/mcp-settings.ts'
import type { ResolvedServeOptions } from '../options/options.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { SMALL_BYTES } from './byte-budget.ts'
import { decline } from './exchange.ts'
import { HttpExchange } from './http-exchange.ts'
import { pathOf } from './incoming-request.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { AgentAnswers } from './mcp-answers.ts'
import type { Policy } from './policy.ts'
import {
  BROKEN,
  BUSY,
  RPC_VERBS,
  refuse,
  spentLimit,
  TOO_COMPLEX_BODY,
  UNAUTHORIZED,
  WRONG_TYPE,
  wrongVerb,
} from './refusal.ts'
import { isJsonBody } from './rpc-handler.ts'
import type { TextDispatcher } from './text-dispatcher.ts'

const SESSION = openSession('mcp')
const PATH = /^((?:\/[^/]+)?)\/mcp$/
/** Lists and objects within each other, in one message. */
const MOST_DEPTH = 100

interface Parts {
  readonly node: AnsweringNode
  readonly policy: Policy
  /** The setting of that name. */
  readonly mcpAllow: readonly string[]
  readonly logger: Logger
}

/** The tools of a dispatcher, which has none without a list of methods. */
export function openMcp(
  dispatcher: TextDispatcher,
  policy: Policy,
  { mcpAllow }: Pick<ResolvedServeOptions, 'mcpAllow'>,
  logger: Logger,
): McpPages | undefined {
  const { methods } = dispatcher
  if (methods === undefined) return undefined
  const node: AnsweringNode = {
    methods,
    dispatchText: (text, session) => dispatcher.dispatchText(text, session),
  }
  return new McpPages({ node, policy, mcpAllow, logger })
}

/** What stands before `/mcp` in a path, a slash with a key or nothing; `undefined` for another path. */
export function mcpPath(path: string): string | undefined {
  return PATH.exec(path)?.[1]
}

/** Another node than that of the server: a chain of a pool, and the part of the path that names it. */
export interface McpPlace {
  readonly prefix: string
  readonly node: AnsweringNode
}

/** The tools of a server behind one policy. The code of the protocol is loaded with the first request. */
export class McpPages {
  readonly #parts: Parts
  #answers: Promise<AgentAnswers> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Answers a request to `/mcp` of a node; false when it is for another page, and for preflights. */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    { prefix, node }: McpPlace = { prefix: '', node: this.#parts.node },
  ): boolean {
    const before = mcpPath(pathOf(request.url).slice(prefix.length))
    const { authentication } = this.#parts.policy
    const isOther = before === undefined || (authentication === undefined && before !== '')
    if (isOther || request.method === 'OPTIONS') return false
    const client = authentication?.authenticate(before)
    if (authentication !== undefined && client === undefined) refuse(response, UNAUTHORIZED)
    else if (request.method !== 'POST') refuse(response, wrongVerb(RPC_VERBS))
    else this.#readBody(request, response, node, client)
    return true
  }

  #readBody(
    request: IncomingMessage,
    response: ServerResponse,
    node: AnsweringNode,
    client: ApiKeyClient | undefined,
  ): void {
    const exchange = new HttpExchange(request, response, this.#parts.policy, false)
    if (!isJsonBody(request.headers)) return void decline(exchange, WRONG_TYPE)
    exchange.readBody((body) => {
      // The key may have been revoked while the body was arriving.
      if (client?.key.isGood() === false) return void decline(exchange, UNAUTHORIZED)
      if (isTooComplex(body, MOST_DEPTH)) return void decline(exchange, TOO_COMPLEX_BODY)
      this.#answer(exchange, node, client, body).catch((error) => {
        this.#parts.logger.error('a request of an agent failed', { error, request: exchange.requestId })
        decline(exchange, BROKEN)
      })
    })
  }

  async #answer(
    exchange: HttpExchange,
    node: AnsweringNode,
    client: ApiKeyClient | undefined,
    body: string,
  ): Promise<void> {
    const spent = await client?.charge(1)
    if (spent !== undefined) return decline(exchange, spentLimit(spent.message, spent.retryAfterSeconds))
    const { policy } = this.#parts
    this.#answers ??= this.#load()
    const answers = await this.#answers
    const session = this.#session(exchange, client)
    const { status, text } = await answers.answer(node, session, exchange.headers, body)
    const length = Buffer.byteLength(text)
    if (exchange.isGone) return
    if (length > SMALL_BYTES && !policy.reserve(exchange, length)) return decline(exchange, BUSY)
    exchange.send(status, {}, text, length)
  }

  async #load(): Promise<AgentAnswers> {
    const { AgentAnswers } = await import('./mcp-answers.ts')
    const { mcpAllow, logger } = this.#parts
    return new AgentAnswers(groupsAllowed(mcpAllow), logger)
  }

  #session(exchange: HttpExchange, client: ApiKeyClient | undefined): Session {
    const { remote, requestId, headers } = exchange
    return {
      ...SESSION,
      entitlements: this.#parts.policy.entitlements,
      remote,
      requestId,
      userAgent: headers['user-agent'],
      carrier: headers,
      isGone: () => exchange.isGone,
      ...(client && sessionOf(client)),
    }
  }
}
