/** The `node:http` or `node:https` server below all transports, with its limits against slow clients. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Certificate } from './certificate.ts'

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
}

/** The peer's address and port, unique among open connections. */
function peerOf(socket: Duplex): string {
  const { remoteAddress, remotePort } = socket as Socket
  return `${remoteAddress} ${remotePort}`
}

/** Makes the server; with a certificate it accepts TLS only. */
export function createHttpServer(
  certificate: Certificate | undefined,
  { headerTimeoutMs, transferTimeoutMs }: SenderTimeouts,
  listener: RequestListener,
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
    return { server, connectionEvent: 'connection', schemeSuffix: '', destroyHandshakes() {} }
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
  }
}
