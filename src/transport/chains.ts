/** The chains of a pool by path: `/c/<name>`, and `/c/<name>/<key>` where API keys are in use. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { LivePool } from '../node/pool.ts'
import { pathOf } from './incoming-request.ts'
import type { ApiKeyClient } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import {
  BROKEN,
  CHAIN_VERBS,
  full,
  NO_SUCH_CHAIN,
  NOT_OPEN,
  refuse,
  spentLimit,
  UNAUTHORIZED,
  wrongVerb,
} from './refusal.ts'
import { type AdmittedHandler, createRpcHandler, type RpcHandlerParts } from './rpc-handler.ts'
import { dispatchLong, type TextDispatcher } from './text-dispatcher.ts'
import { refuseSocket } from './upgrade.ts'
import type { WebSocketListener } from './websocket.ts'

/** What the chains are served by. */
export interface ChainsParts extends Pick<RpcHandlerParts, 'authentication' | 'logger'> {
  readonly pool: LivePool
  /** The dispatcher of the node that chains begin as a copy of. */
  readonly base: TextDispatcher
  readonly authentication: Authentication | undefined
  readonly logger: Logger
  /** Those of the handler of the base's own JSON-RPC. */
  readonly handlerParts: Omit<RpcHandlerParts, 'dispatcherOf' | 'verbs'>
  readonly sockets: Pick<WebSocketListener, 'accept' | 'disconnectFrom'>
  /** Called with the dispatcher of each new chain. */
  onOpen(dispatcher: TextDispatcher): void
}

/** The chains of one server. */
export interface Chains {
  /** Does a path belong to the chains? */
  covers(path: string): boolean
  /** Answers a request that has passed `createAdmission`, and whose response has its ID; the first POST to a name makes its chain, DELETE drops it. */
  readonly handle: AdmittedHandler
  /** Takes over a connection whose upgrade request was accepted. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, client?: ApiKeyClient): void
  close(): Promise<void>
}

const PREFIX = '/c'
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/
/** Who may call this method may drop chains. */
const RESET = 'evm_reset'

/** Makes the chains. */
export function createChains(parts: ChainsParts): Chains {
  const { pool, base, authentication, logger, sockets } = parts
  const reset = base.methods?.find(({ name }) => name === RESET)

  /** The name in a path: its second segment, which a key follows where keys are in use. */
  function nameIn(path: string): string | undefined {
    const [name = '', ...rest] = path.slice(PREFIX.length + 1).split('/')
    const isWhole = rest.length === (authentication === undefined ? 0 : 1)
    return isWhole && NAME.test(name) ? name : undefined
  }

  async function dispatcherOf(name: string): Promise<TextDispatcher> {
    const isNew = pool.get(name) === undefined
    try {
      const { dispatcher } = await pool.chain(name)
      if (isNew) parts.onOpen(dispatcher)
      return dispatcher
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind !== 'too-many') throw error
      throw new NodeError('too-many', `${error.message}: drop one with DELETE /c/<name>`)
    }
  }

  const handleRpc = createRpcHandler({
    ...parts.handlerParts,
    verbs: CHAIN_VERBS,
    // Called after the checks of the request: a chain is made for a message that is dispatched, and for no other.
    dispatcherOf(request) {
      const name = nameIn(pathOf(request.url)) as string
      return {
        dispatchText: async (text, session) => (await dispatcherOf(name)).dispatchText(text, session),
        dispatchPieces: async (text, session) => dispatchLong(await dispatcherOf(name), text, session),
      }
    },
  })

  async function drop(name: string, path: string, response: ServerResponse): Promise<void> {
    const client = authentication?.authenticate(path)
    const spent = await client?.charge(1)
    if (spent !== undefined) return refuse(response, spentLimit(spent.message, spent.retryAfterSeconds))
    const isAllowed = reset !== undefined && client?.key.allows(reset) !== false
    if (!isAllowed) return refuse(response, wrongVerb('POST, OPTIONS'))
    const chain = await pool.get(name)
    if (chain === undefined) return refuse(response, NOT_OPEN)
    sockets.disconnectFrom(chain.dispatcher)
    await chain.close()
    response.statusCode = 204
    response.end()
  }

  return {
    covers: (path) => path.startsWith(`${PREFIX}/`) || path === PREFIX,

    handle(request, response, requestId) {
      const path = pathOf(request.url)
      const needsKey = request.method !== 'OPTIONS' && authentication !== undefined
      if (needsKey && authentication.authenticate(path) === undefined) return refuse(response, UNAUTHORIZED)
      const name = nameIn(path)
      if (name === undefined) return refuse(response, NO_SUCH_CHAIN)
      if (request.method !== 'DELETE') return handleRpc(request, response, requestId)
      drop(name, path, response).catch((error) => {
        logger.error('a chain was not dropped', { error, name })
        refuse(response, BROKEN)
      })
    },

    accept(request, socket, head, client) {
      const name = nameIn(pathOf(request.url))
      if (name === undefined) return refuseSocket(socket, NO_SUCH_CHAIN, 'Not Found')
      dispatcherOf(name).then(
        (dispatcher) => sockets.accept(request, socket, head, dispatcher, client),
        (error) => {
          if (error instanceof NodeError)
            return refuseSocket(socket, full(error.message), 'Service Unavailable')
          logger.error('a chain was not made', { error, name })
          refuseSocket(socket, BROKEN, 'Internal Server Error')
        },
      )
    },

    close: () => pool.close(),
  }
}
