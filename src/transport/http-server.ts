/** The HTTP server under the doors, bare or in TLS, with its limits against those who dawdle. */
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Certificate } from './certificate.ts'

/** How long an idle connection is kept for the next request, and how often slow ones are looked for at least; milliseconds. */
const KEEP_ALIVE_MS = 65_000
const CHECK_MS = 5000

/** Against senders that drip, milliseconds. */
export interface SenderTimes {
  /** For the header, and before it for TLS. */
  readonly headerTimeoutMs: number
  /** For a whole request. */
  readonly transferTimeoutMs: number
}

/** A server and what depends on whether it speaks TLS. */
export interface BareServer {
  readonly server: HttpServer
  /** The event by which a connection arrives that can carry HTTP. */
  readonly arrival: 'connection' | 'secureConnection'
  /** `s` with TLS: what http and ws are called then. */
  readonly suffix: '' | 's'
  /** Cuts connections that have not come to speak TLS yet; nothing else counts them. */
  cutHandshakes(): void
}

/** What tells a connection from all others that are open. */
function nameOf(socket: Duplex): string {
  const { remoteAddress, remotePort } = socket as Socket
  return `${remoteAddress} ${remotePort}`
}

/** Makes the server; with a certificate it speaks TLS and nothing else. */
export function createHttpServer(
  certificate: Certificate | undefined,
  { headerTimeoutMs, transferTimeoutMs }: SenderTimes,
  listener: RequestListener,
): BareServer {
  const headersTimeout = Math.min(headerTimeoutMs, transferTimeoutMs)
  const limits = {
    headersTimeout,
    requestTimeout: transferTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(CHECK_MS, Math.ceil(headersTimeout / 2)),
  }
  if (certificate === undefined) {
    const server = createServer(limits, listener)
    return { server, arrival: 'connection', suffix: '', cutHandshakes() {} }
  }
  const server = createSecureServer(
    { ...limits, handshakeTimeout: headersTimeout, ...certificate.pair },
    listener,
  )
  certificate.onChange((pair) => server.setSecureContext(pair))
  /** The socket below a secure one is not to be had from it, but its other end has the same name. */
  const handshaking = new Map<string, Duplex>()
  server.on('connection', (socket) => {
    const name = nameOf(socket)
    handshaking.set(name, socket)
    socket.once('close', () => handshaking.delete(name))
  })
  server.on('secureConnection', (socket) => handshaking.delete(nameOf(socket)))
  return {
    server,
    arrival: 'secureConnection',
    suffix: 's',
    cutHandshakes() {
      for (const socket of handshaking.values()) socket.destroy()
    },
  }
}
