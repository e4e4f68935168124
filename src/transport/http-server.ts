/** The `node:http` or `node:https` server below all transports, with its limits against slow clients. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Certificate } from './certificate.ts'
import { createPlainHttp, type PlainHttpParts } from './plain-http.ts'

/** How long an idle connection is kept open, and how often slow ones are checked at least; milliseconds. */
const KEEP_ALIVE_MS = 65_000
const CHECK_MS = 5000

/** Limits against slow senders, milliseconds. */
export interface SenderTimeouts {
  /** For the header, and before it for the TLS handshake. */
  readonly headerTimeoutMs: number
  /** For a whole request. */
  readonly transferTimeoutMs: number
}

/** A server and what depends on whether it has TLS. */
export interface HttpServer {
  readonly server: Server
  /** The event of a connection that can carry HTTP. */
  readonly connectionEvent: 'connection' | 'secureConnection'
  /** `s` with TLS: the end of the schemes `https` and `wss`. */
  readonly schemeSuffix: '' | 's'
  /** Destroys connections whose TLS handshake is not complete; no other list holds them. */
  destroyHandshakes(): void
  /** Destroys connections that wait for a further request. */
  closeIdle(): void
  /** Destroys all connections. */
  closeAll(): void
}

/** What connections are served by that are not left to `node:http`. */
export type PlainRequests = Omit<
  PlainHttpParts,
  'headersTimeout' | 'keepAliveTimeout' | 'onClientError' | 'handOver'
>

/** The peer's address and port, unique among open connections. */
function peerOf(socket: Duplex): string {
  const { remoteAddress, remotePort } = socket as Socket
  return `${remoteAddress} ${remotePort}`
}

/**
 * Has plain requests answered without `node:http`, whose own `connection` listener is called for a connection that is
 * handed over. A second server that does not listen cannot take them: Node applies `headersTimeout` and
 * `closeIdleConnections` to the connections of listening servers only.
 */
function servePlain(server: Server, requests: PlainRequests, headersTimeout: number) {
  const [adopt] = server.listeners('connection')
  if (adopt === undefined) throw new Error('the HTTP server does not listen for connections')
  server.removeAllListeners('connection')
  const plain = createPlainHttp({
    ...requests,
    headersTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    onClientError: (error, socket) => server.emit('clientError', error, socket),
    handOver(socket, unread) {
      socket.pause()
      socket.unshift(unread)
      adopt.call(server, socket)
      socket.resume()
    },
  })
  server.on('connection', plain.accept)
  return plain
}

/**
 * Makes the server; with a certificate it accepts TLS only.
 * @param plain of a server without TLS; absent where every request needs `listener`
 */
export function createHttpServer(
  certificate: Certificate | undefined,
  { headerTimeoutMs, transferTimeoutMs }: SenderTimeouts,
  listener: RequestListener,
  plain?: PlainRequests,
): HttpServer {
  const headersTimeout = Math.min(headerTimeoutMs, transferTimeoutMs)
  const limits = {
    headersTimeout,
    requestTimeout: transferTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(CHECK_MS, Math.ceil(headersTimeout / 2)),
  }
  if (certificate === undefined) {
    const server = createServer(limits, listener)
    const connections = plain && servePlain(server, plain, headersTimeout)
    return {
      server,
      connectionEvent: 'connection',
      schemeSuffix: '',
      destroyHandshakes() {},
      closeIdle() {
        server.closeIdleConnections()
        connections?.closeIdle()
      },
      closeAll() {
        server.closeAllConnections()
        connections?.closeAll()
      },
    }
  }
  const server = createSecureServer(
    { ...limits, handshakeTimeout: headersTimeout, ...certificate.pair },
    listener,
  )
  certificate.onChange((pair) => server.setSecureContext(pair))
  /** A TLS socket does not expose the socket below it, but both have the same peer. */
  const handshaking = new Map<string, Duplex>()
  server.on('connection', (socket) => {
    const peer = peerOf(socket)
    handshaking.set(peer, socket)
    socket.once('close', () => handshaking.delete(peer))
  })
  server.on('secureConnection', (socket) => handshaking.delete(peerOf(socket)))
  return {
    server,
    connectionEvent: 'secureConnection',
    schemeSuffix: 's',
    destroyHandshakes() {
      for (const socket of handshaking.values()) socket.destroy()
    },
    closeIdle: () => server.closeIdleConnections(),
    closeAll: () => server.closeAllConnections(),
  }
}
