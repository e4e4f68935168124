/**
 * The chains of a pool by path: `/c/<name>`, and `/c/<name>/<key>` where API keys are in use. Below are the explorer of each,
 * its APIs of explorers and verifiers, and its tools for agents.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ApiAnswers } from '../apis/request.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { AnsweringNode } from '../mcp/node-access.ts'
import type { Node } from '../node/node.ts'
import type { LivePool } from '../node/pool.ts'
import { ApiPages } from './api-pages.ts'
import type { Explorer } from './explorer.ts'
import { pathOf } from './incoming-request.ts'
import type { ApiKeyClient } from './keys/api-key-client.ts'
import type { McpPages } from './mcp-pages.ts'
import { clientAt } from './page-key.ts'
import type { Policy } from './policy.ts'
import {
  BROKEN,
  CHAIN_VERBS,
  full,
  NO_SUCH_CHAIN,
  NOT_OPEN,
  refuse,
  refuseSocket,
  spentLimit,
  UNAUTHORIZED,
  wrongVerb,
} from './refusal.ts'
import { createRpcHandler, type RpcHandler } from './rpc-handler.ts'
import { dispatchLong, type TextDispatcher } from './text-dispatcher.ts'
import type { WebSocketListener } from './websocket.ts'

/** What the chains are served by. */
export interface ChainsParts {
  readonly pool: LivePool
  /** The dispatcher of the node that chains begin as a copy of. */
  readonly base: TextDispatcher
  readonly policy: Policy
  /** Absent where it is turned off. */
  readonly explorer: Explorer | undefined
  /** The APIs of the base, by which requests to those of chains are refused; absent where they are turned off. */
  readonly apis: ApiAnswers | undefined
  /** The tools for agents; absent unless they are turned on. */
  readonly mcp: McpPages | undefined
  readonly sockets: Pick<WebSocketListener, 'accept' | 'disconnectFrom'>
  readonly logger: Logger
  /** Called with the dispatcher of each new chain. */
  onOpen(dispatcher: TextDispatcher): void
}

const PREFIX = '/c'
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/
/** A key that allows this method may drop chains. */
const RESET = 'evm_reset'

/** Does a path belong to the chains? */
export function isChainPath(path: string): boolean {
  return path.startsWith(`${PREFIX}/`) || path === PREFIX
}

/** The chains of one server. */
export class Chains {
  readonly #parts: ChainsParts
  readonly #reset: NonNullable<TextDispatcher['methods']>[number] | undefined
  readonly #handleRpc: RpcHandler

  constructor(parts: ChainsParts) {
    this.#parts = parts
    this.#reset = parts.base.methods?.find(({ name }) => name === RESET)
    this.#handleRpc = createRpcHandler({
      policy: parts.policy,
      verbs: CHAIN_VERBS,
      isMounted: false,
      logger: parts.logger,
      // Called after the checks of the request: a chain is made for a message that is dispatched, and for no other.
      dispatcherOf: (request) => {
        const name = this.#nameIn(pathOf(request.url)) ?? ''
        return {
          dispatchText: async (text, session) => (await this.#dispatcherOf(name)).dispatchText(text, session),
          dispatchPieces: async (text, session) =>
            dispatchLong(await this.#dispatcherOf(name), text, session),
        }
      },
    })
  }

  /** Answers a request that `Policy.admit` has let through; the first POST to a name makes its chain, DELETE drops it. */
  readonly handle: RpcHandler = (request, response) => {
    const { authentication } = this.#parts.policy
    const path = pathOf(request.url)
    if (this.#handleApi(request, response, path) || this.#handleAgent(request, response, path)) return
    if (this.#handleExplorer(request, response, path)) return
    const needsKey = request.method !== 'OPTIONS' && authentication !== undefined
    if (needsKey && authentication.authenticate(path) === undefined) return refuse(response, UNAUTHORIZED)
    const name = this.#nameIn(path)
    if (name === undefined) return refuse(response, NO_SUCH_CHAIN)
    if (request.method !== 'DELETE') return this.#handleRpc(request, response)
    this.#drop(name, path, response).catch((error) => {
      this.#parts.logger.error('a chain was not dropped', { error, name })
      refuse(response, BROKEN)
    })
  }

  /** Takes over a connection whose upgrade request was accepted. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, client?: ApiKeyClient): void {
    const name = this.#nameIn(pathOf(request.url))
    if (name === undefined) return void refuseSocket(socket, NO_SUCH_CHAIN)
    this.#dispatcherOf(name).then(
      (dispatcher) => this.#parts.sockets.accept(request, socket, head, dispatcher, client),
      (error) => {
        if (error instanceof NodeError) return refuseSocket(socket, full(error.message))
        this.#parts.logger.error('a chain was not made', { error, name })
        refuseSocket(socket, BROKEN)
      },
    )
  }

  close(): Promise<void> {
    return this.#parts.pool.close()
  }

  /** The name that a path begins with, and what follows it; `undefined` for a path without one. */
  #placeIn(
    path: string,
  ): { readonly name: string; readonly prefix: string; readonly rest: string } | undefined {
    const [name = ''] = path.slice(PREFIX.length + 1).split('/')
    const prefix = `${PREFIX}/${name}`
    return NAME.test(name) ? { name, prefix, rest: path.slice(prefix.length) } : undefined
  }

  /** Answers a request to the APIs of a chain, which it makes; false for other pages. */
  #handleApi(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    const { apis, policy, logger } = this.#parts
    const place = this.#placeIn(path)
    if (apis === undefined || place === undefined) return false
    const own: ApiAnswers = {
      answer: async (asked) => {
        const chain = await this.#chainOf(place.name).catch((error) => {
          if (error instanceof NodeError) return error
          throw error
        })
        return chain instanceof NodeError
          ? apis.refusal(asked.path, 503, chain.message)
          : chain.apis.answer(asked)
      },
      refusal: (...given) => apis.refusal(...given),
    }
    return new ApiPages({ apis: own, policy, logger }).handle(request, response, place.prefix)
  }

  /** Answers an agent about a chain, which its first call of a method makes; false for other pages. */
  #handleAgent(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    const { mcp, base } = this.#parts
    const place = this.#placeIn(path)
    if (mcp === undefined || place === undefined) return false
    const node: AnsweringNode = {
      methods: base.methods ?? [],
      dispatchText: async (text, session) =>
        (await this.#dispatcherOf(place.name)).dispatchText(text, session),
    }
    return mcp.handle(request, response, { prefix: place.prefix, node })
  }

  /** Sends the explorer of a chain, which is made by its first call; false for other pages. */
  #handleExplorer(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    const { explorer, policy } = this.#parts
    const place = request.method === 'GET' ? this.#placeIn(path) : undefined
    if (explorer === undefined || place === undefined) return false
    const own = place.rest === '' ? '/' : place.rest
    if (policy.authentication === undefined) return explorer.answer(request, response, own, path)
    const { client, page } = clientAt(own, policy.authentication)
    if (client === undefined) return false
    client.charge(1).then(
      (spent) => {
        if (spent !== undefined) refuse(response, spentLimit(spent.message, spent.retryAfterSeconds))
        else if (!explorer.answer(request, response, page, path)) refuse(response, NO_SUCH_CHAIN)
      },
      (error) => {
        this.#parts.logger.error('a page of a chain failed', { error })
        refuse(response, BROKEN)
      },
    )
    return true
  }

  /** The name in a path: its second segment, which a key follows where keys are in use. */
  #nameIn(path: string): string | undefined {
    const [name = '', ...rest] = path.slice(PREFIX.length + 1).split('/')
    const isWhole = rest.length === (this.#parts.policy.authentication === undefined ? 0 : 1)
    return isWhole && NAME.test(name) ? name : undefined
  }

  async #dispatcherOf(name: string): Promise<TextDispatcher> {
    return (await this.#chainOf(name)).dispatcher
  }

  async #chainOf(name: string): Promise<Node> {
    const { pool, onOpen } = this.#parts
    const isNew = pool.get(name) === undefined
    try {
      const chain = await pool.chain(name)
      if (isNew) onOpen(chain.dispatcher)
      return chain
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind !== 'too-many') throw error
      throw new NodeError('too-many', `${error.message}: drop one with DELETE /c/<name>`)
    }
  }

  async #drop(name: string, path: string, response: ServerResponse): Promise<void> {
    const { pool, policy, sockets } = this.#parts
    const client = policy.authentication?.authenticate(path)
    const spent = await client?.charge(1)
    if (spent !== undefined) return refuse(response, spentLimit(spent.message, spent.retryAfterSeconds))
    const isAllowed = this.#reset !== undefined && client?.key.allows(this.#reset) !== false
    if (!isAllowed) return refuse(response, wrongVerb('POST, OPTIONS'))
    const chain = await pool.get(name)
    if (chain === undefined) return refuse(response, NOT_OPEN)
    sockets.disconnectFrom(chain.dispatcher)
    await chain.close()
    response.statusCode = 204
    response.end()
  }
}
