/** The port: the `node:http` or `node:https` server below all transports, its connections, and the fast path in front. */
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { ServerOptions } from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from '../logger.ts'
import { createServer } from '../upstream/node-http.ts'
import type { Certificate } from './certificate.ts'
import { FastHttp, type FastHttpParts } from './fast-http.ts'
import { listen } from './listen.ts'
import { asksForWebSocket, withoutUpgrade } from './upgrade.ts'

/** How long an idle connection is kept open, and how often slow ones are checked at least; milliseconds. */
const KEEP_ALIVE_MS = 65_000
const CHECK_MS = 5000

/** What a port is made of. */
export interface HttpServerParts {
  /** With one, the port accepts TLS only. */
  readonly certificate?: Certificate | undefined
  /** For the header of a request, and before it for the TLS handshake; milliseconds. */
  readonly headerTimeoutMs: number
  /** For a whole request, milliseconds. */
  readonly transferTimeoutMs: number
  /** Further connections are closed at once. */
  readonly maxSockets: number
  readonly onRequest: RequestListener
  /** Called with requests for a WebSocket. */
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Called when a connection failed, or has sent no complete request for too long. */
  readonly onClientError: (error: NodeJS.ErrnoException, socket: Duplex) => void
  /** What the fast path answers by; absent where every request goes to `onRequest`, as with TLS. */
  readonly fast?: Pick<FastHttpParts, 'policy' | 'isRpcPath' | 'answer'> | undefined
  readonly logger: Logger
}

/** The peer's address and port, unique among open connections. */
function peerOf(socket: Duplex): string {
  return socket instanceof Socket ? `${socket.remoteAddress} ${socket.remotePort}` : ''
}

/** A port with its connections. */
export class HttpServer {
  /** `s` with TLS: the end of the schemes `https` and `wss`. */
  readonly schemeSuffix: '' | 's'
  readonly #server: Server
  readonly #fast: FastHttp | undefined
  readonly #connectionEvent: 'connection' | 'secureConnection'
  /** Connections that carry HTTP; those upgraded to WebSockets are released. */
  readonly #open = new Set<Duplex>()
  /** Those without a complete header yet; Node does not count them as idle when it closes. */
  readonly #headerless = new Set<Duplex>()
  /** Those whose TLS handshake is not complete, by peer: a TLS socket does not expose the socket below it. */
  readonly #handshakes = new Map<string, Duplex>()
  readonly #logger: Logger
  #dropped = 0

  constructor(parts: HttpServerParts) {
    const { certificate, transferTimeoutMs, onClientError } = parts
    const headersTimeout = Math.min(parts.headerTimeoutMs, transferTimeoutMs)
    const limits: ServerOptions = {
      headersTimeout,
      requestTimeout: transferTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(CHECK_MS, Math.ceil(headersTimeout / 2)),
    }
    this.#logger = parts.logger
    this.#connectionEvent = certificate === undefined ? 'connection' : 'secureConnection'
    this.schemeSuffix = certificate === undefined ? '' : 's'
    this.#server =
      certificate === undefined
        ? createServer(limits, parts.onRequest)
        : this.#secure(certificate, { ...limits, handshakeTimeout: headersTimeout }, parts.onRequest)
    this.#server.maxConnections = parts.maxSockets
    this.#server
      .on(this.#connectionEvent, this.#track)
      .on('clientError', onClientError)
      .on('drop', this.#onDrop)
      .on('upgrade', (request, socket, head) => {
        if (!asksForWebSocket(request)) return this.#adopt(socket, withoutUpgrade(request, head))
        this.#headerless.delete(socket)
        parts.onUpgrade(request, socket, head)
      })
    this.#fast =
      parts.fast &&
      new FastHttp({
        ...parts.fast,
        headersTimeout,
        keepAliveTimeout: KEEP_ALIVE_MS,
        maxConnections: parts.maxSockets,
        onConnection: this.#track,
        onDrop: this.#onDrop,
        onFirstRequest: (socket) => this.#headerless.delete(socket),
        onClientError,
        handOver: (socket, unread) => this.#adopt(socket, unread),
      })
  }

  /** Open connections that carry HTTP. */
  get openCount(): number {
    return this.#open.size
  }

  /** Connections closed at once, since too many were open. */
  get droppedCount(): number {
    return this.#dropped
  }

  /** Is this request the first of its connection? Asked once for each request. */
  isFirst({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#headerless.delete(socket)
  }

  /** Gives up a connection that carries HTTP no more. */
  release(socket: Duplex): void {
    this.#open.delete(socket)
  }

  /** Destroys the connections for which this is true. */
  disconnect(isUnwanted: (socket: Duplex) => boolean): void {
    for (const socket of this.#open) if (isUnwanted(socket)) socket.destroy()
  }

  /** Listens and returns the port. Throws `ListenError`. */
  async listen(host: string, port: number): Promise<number> {
    const bound = await listen(this.#server, host, port)
    this.#server.on('error', (error) => this.#logger.error('the server failed', { error }))
    // Both listen: Node applies `headersTimeout` and `closeIdleConnections` to connections of listening servers only.
    this.#fast?.listen(this.#server)
    return bound
  }

  /** Accepts no more connections, and ends idle ones; resolves when the last one is closed. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const fastClosed = this.#fast?.close()
    this.#server.closeIdleConnections()
    for (const socket of this.#headerless) socket.destroy()
    for (const socket of this.#handshakes.values()) socket.destroy()
    await Promise.all([closed, fastClosed])
  }

  /** Destroys all connections. */
  terminate(): void {
    this.#server.closeAllConnections()
    this.#fast?.terminate()
  }

  readonly #track = (socket: Duplex): void => {
    // A connection comes again when it is handed over, or its upgrade ignored.
    if (this.#open.has(socket)) return
    this.#headerless.add(socket)
    this.#open.add(socket)
    socket.once('close', () => {
      this.#headerless.delete(socket)
      this.#open.delete(socket)
    })
  }

  /** A new client gets the place of an idle connection. */
  readonly #onDrop = (): void => {
    this.#dropped++
    this.#server.closeIdleConnections()
    this.#fast?.closeIdle()
  }

  /** Has `node:http` serve a connection from here on, beginning with bytes that were read from it. */
  #adopt(socket: Duplex, unread: Uint8Array): void {
    socket.pause()
    socket.unshift(unread)
    this.#server.emit(this.#connectionEvent, socket)
    socket.resume()
  }

  #secure(certificate: Certificate, limits: ServerOptions, onRequest: RequestListener): Server {
    const server = certificate.createServer(limits, onRequest)
    server.on('connection', (socket: Duplex) => {
      const peer = peerOf(socket)
      this.#handshakes.set(peer, socket)
      socket.once('close', () => this.#handshakes.delete(peer))
    })
    server.on('secureConnection', (socket) => this.#handshakes.delete(peerOf(socket)))
    return server
  }
}
