/** The WebSockets of a server: accepts upgraded connections, pings them, and closes them. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import type { Logger } from '../logger.ts'
import { asksForCalm } from './exchange.ts'
import { requestIdOf } from './incoming-request.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { MessageConnectionParts } from './message-connection.ts'
import { DeliveryQueue } from './outbox.ts'
import type { Policy } from './policy.ts'
import type { TextDispatcher } from './text-dispatcher.ts'
import type { WebSocketConnection } from './websocket-connection.ts'

/** What the WebSocket listener is made of. */
export interface WebSocketParts {
  readonly policy: Policy
  /** Bytes that may wait for a peer that does not read. */
  readonly maxBufferBytes: number
  /** Milliseconds between pings; a peer that has not answered one by the next is disconnected. */
  readonly pingIntervalMs: number
  readonly logger: Logger
}

/** All sockets of a server. */
export class WebSocketListener {
  readonly #parts: WebSocketParts
  #server: WebSocketServer | undefined
  readonly #connections = new Set<WebSocketConnection>()
  readonly #deliveries = new DeliveryQueue()
  readonly #heartbeat: NodeJS.Timeout
  #accepted = 0
  #isClosing = false

  constructor(parts: WebSocketParts) {
    this.#parts = parts
    this.#heartbeat = setInterval(() => {
      for (const connection of this.#connections) connection.ping()
    }, parts.pingIntervalMs).unref()
  }

  /** How many are open. */
  get count(): number {
    return this.#connections.size
  }

  /** Takes over a connection whose upgrade request was accepted; `client` holds its key where keys are in use. */
  accept(
    request: IncomingMessage,
    stream: Duplex,
    head: Buffer,
    dispatcher: TextDispatcher,
    client?: ApiKeyClient,
  ): void {
    const { policy, logger } = this.#parts
    const caller = {
      label: `ws ${++this.#accepted}`,
      entitlements: policy.entitlements,
      remote: policy.remoteAddressOf(request),
      requestId: requestIdOf(request.headers),
      userAgent: request.headers['user-agent'],
      carrier: request.headers,
      isCalm: asksForCalm(request),
      ...(client !== undefined && sessionOf(client)),
    }
    this.#upgrade(request, stream, head, { caller, dispatcher }, client).catch((error) => {
      logger.error('WebSockets cannot be loaded', { error })
      stream.destroy()
    })
  }

  /** The code of WebSockets, and of TLS with it, is loaded with the first one. */
  async #upgrade(
    request: IncomingMessage,
    stream: Duplex,
    head: Buffer,
    session: Pick<MessageConnectionParts, 'caller' | 'dispatcher'>,
    client: ApiKeyClient | undefined,
  ): Promise<void> {
    const { policy, maxBufferBytes, logger } = this.#parts
    const { createWebSocketServer, WebSocketConnection } = await import('./websocket-connection.ts')
    this.#server ??= createWebSocketServer(policy.maxBodyBytes)
    this.#server.handleUpgrade(request, stream, head, (socket) => {
      const deliveries = this.#deliveries
      const parts = { ...session, deliveries, policy, maxBufferBytes, logger }
      const connection = new WebSocketConnection(socket, stream, parts)
      this.#connections.add(connection)
      const stopWatching = client?.key.onEnd(() => connection.forbid('API key not valid any more'))
      socket.on('close', () => {
        this.#connections.delete(connection)
        stopWatching?.()
      })
      if (this.#isClosing) connection.goAway('The node is closing')
    })
  }

  /** Closes the sockets of a dispatcher that ends (1001). */
  disconnectFrom(dispatcher: TextDispatcher): void {
    for (const connection of this.#connections) {
      if (connection.dispatcher === dispatcher) connection.goAway('The chain is dropped')
    }
  }

  /** Closes the sockets of callers whose address is banned now (1008). */
  disconnectBanned(isBanned: (address: string) => boolean): void {
    for (const connection of this.#connections) {
      if (isBanned(connection.remote)) connection.forbid('Address is banned')
    }
  }

  /** Lets running messages end, then closes every socket (1001). */
  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#heartbeat)
    await Promise.all(
      [...this.#connections].map((connection) => {
        const { closed } = connection
        void connection.finish().then(() => connection.goAway('The node is closing'))
        return closed
      }),
    )
  }

  /** Destroys the sockets that are still open. */
  terminate(): void {
    this.#deliveries.close()
    for (const connection of this.#connections) connection.terminate()
  }
}
