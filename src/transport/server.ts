/** One port for HTTP and WebSocket: listen, hand each connection to its door, close in order. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Logger, silentLogger } from '../logger.ts'
import { type ResolvedServeOptions, resolveServeOptions, type ServeOptions } from '../options/options.ts'
import { type CallerLedger, createBanCheck, NO_LEDGER } from './ban-check.ts'
import { createBodyReader } from './body.ts'
import { createByteBudget } from './byte-budget.ts'
import { type Certificate, openCertificate } from './certificate.ts'
import { createHostCheck } from './host-check.ts'
import { createHttpListener, pathOf, refuse } from './http.ts'
import { type BareServer, createHttpServer } from './http-server.ts'
import type { ApiKeyClient } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import { callableHost, listen } from './listen.ts'
import { createMonitoringPages, type Monitored } from './monitoring-pages.ts'
import { type MonitoringServer, serveMonitoring } from './monitoring-server.ts'
import {
  BROKEN,
  forbidden,
  HEADERS_TOO_LARGE,
  MALFORMED,
  type Refusal,
  rawResponse,
  spentLimit,
  TOO_SLOW,
  UNAUTHORIZED,
} from './refusal.ts'
import { createRemoteAddressOf } from './remote-address.ts'
import type { TextDispatcher } from './text-dispatcher.ts'
import { createWebSocketListener } from './websocket.ts'

/** What can be served: a `Node`, or anything with its entrance. */
export interface Servable {
  readonly dispatcher: TextDispatcher
  readonly options?: { readonly logger?: Logger | undefined; readonly profile?: 'node' | 'hosted' }
  /** Who may not come in, and how those behave who do; everybody may when it is absent. */
  readonly peers?: CallerLedger
  /** The node's own figures; a door without a chain behind it has none. */
  readonly health?: Monitored['health']
}

/** A listening server. */
export interface Server {
  /** `http://host:port`, or `https://` with TLS, callable from this machine. */
  readonly url: string
  /** `ws://host:port`, or `wss://`. */
  readonly wsUrl: string
  readonly port: number
  /** Where health and figures are shown apart from the rest; absent without such a port. */
  readonly metricsUrl?: string
  /** Reads the certificate again now, and not only when its files are next looked at; absent without TLS. */
  reloadCertificate?(): void
  /**
   * Takes no more connections, lets running requests end, closes sockets (1001); what is open after `graceMs`
   * (milliseconds, 6000 by default: longer than a request may take) is cut. Idempotent. The node stays open.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

const GRACE_MS = 6000
/** Ends a connection that has no response object. */
function refuseSocket(socket: Duplex, refusal: Refusal, statusText: string): void {
  if (!socket.writable) return void socket.destroy()
  socket.end(rawResponse(refusal, statusText))
}

/**
 * Gives a request for another protocol back to the HTTP server without that wish, as RFC 9110 allows: some HTTP/2
 * clients ask for `h2c` with every request, and Node hands all upgrades over once it hears of any.
 */
function ignoreUpgrade(bare: BareServer, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] as string
    if (!/^(upgrade|connection|http2-settings)$/i.test(name))
      lines.push(`${name}: ${request.rawHeaders[i + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  bare.server.emit(bare.arrival, socket)
}

/** The gate that the settings ask for; without keys its code is not even loaded. */
async function gateOf(options: ResolvedServeOptions, logger: Logger): Promise<Authentication | undefined> {
  const { apiKeys, redis, maxSocketsPerKey } = options
  if (apiKeys === undefined) return undefined
  const { openAuthentication } = await import('./keys/authentication.ts')
  return openAuthentication({ apiKeys, redis, maxSocketsPerKey, logger })
}

function certificateOf({ tlsCert, tlsKey }: ResolvedServeOptions, logger: Logger): Certificate | undefined {
  return tlsCert === undefined || tlsKey === undefined ? undefined : openCertificate(tlsCert, tlsKey, logger)
}

/**
 * Serves a node over HTTP and WebSocket. Throws `NodeError` (`invalid-options`; so is the hosted profile without keys,
 * unless it is said to be open) and `ListenError`.
 */
export async function serve(node: Servable, given: ServeOptions = {}): Promise<Server> {
  const options = resolveServeOptions(given, node.options?.profile)
  const { dispatcher } = node
  const logger = node.options?.logger ?? silentLogger
  const check = createHostCheck({ bindAddress: options.host, hosts: options.hosts, cors: options.cors })
  const remoteAddressOf = createRemoteAddressOf(options.trustedProxies)
  const { maxBodyBytes } = options
  const certificate = certificateOf(options, logger)
  const gate = await gateOf(options, logger).catch((error) => {
    certificate?.close()
    throw error
  })
  const ledger = node.peers ?? NO_LEDGER
  const banCheck = createBanCheck(ledger, remoteAddressOf)
  let closing: Promise<void> | undefined

  // Express takes longer to load than all the rest of the server, and most nodes never serve a page.
  let pages: Promise<(request: IncomingMessage, response: ServerResponse) => void> | undefined
  const isClosing = () => closing !== undefined
  const budget = createByteBudget(options.maxBufferedBytes)
  const readBody = createBodyReader(maxBodyBytes, budget)
  /** Connections that carry HTTP; those that went on to be WebSockets are their door's. */
  const open = new Set<Duplex>()
  let dropped = 0
  const watch = createMonitoringPages({
    dispatcher,
    health: node.health,
    isClosing,
    sockets: () => ({ http: open.size, websocket: sockets.count(), dropped }),
    overLimits: gate?.refusals ?? new Map(),
  })
  const parts = {
    dispatcher,
    check,
    remoteAddressOf,
    gate,
    maxBodyBytes,
    readBody,
    budget,
    transferTimeoutMs: options.transferTimeoutMs,
    logger,
    isClosing,
    watch,
    // The hosted profile shows them to keys, or on a port of their own.
    showsMetrics:
      options.metricsPort === undefined && (gate !== undefined || node.options?.profile !== 'hosted'),
  }
  const listener = createHttpListener(parts, async (request, response) => {
    pages ??= import('./pages.ts').then(({ createPages }) => createPages(parts))
    try {
      const show = await pages
      show(request, response)
    } catch (error) {
      logger.error('the pages cannot be shown', { error })
      refuse(response, BROKEN)
    }
  })
  const sockets = createWebSocketListener({
    dispatcher,
    maxMessageBytes: maxBodyBytes,
    maxBufferBytes: options.maxSocketBuffer,
    budget,
    transferTimeoutMs: options.transferTimeoutMs,
    pingIntervalMs: options.pingIntervalMs,
    logger,
    remoteAddressOf,
  })

  /** Connections that have not sent a whole header yet; Node does not count them as idle when it closes. */
  const silent = new Set<Duplex>()
  const bare = createHttpServer(certificate, options, (request, response) => {
    const isFirst = silent.delete(request.socket)
    if (isFirst) banCheck.watch(request, response)
    const banned = banCheck.refusal(request)
    if (banned === undefined) return listener(request, response)
    response.setHeader('Connection', 'close')
    refuse(response, banned)
  })
  const { server } = bare
  server.on(bare.arrival, (socket: Duplex) => {
    silent.add(socket)
    open.add(socket)
    socket.once('close', () => {
      silent.delete(socket)
      open.delete(socket)
    })
  })
  function accept(request: IncomingMessage, socket: Duplex, head: Buffer, client?: ApiKeyClient): void {
    open.delete(socket)
    banCheck.accepted(request, true)
    sockets.accept(request, socket, head, client)
  }
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    silent.delete(socket)
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      return ignoreUpgrade(bare, request, socket, head)
    }
    // Until ws takes over, a connection that breaks must not take the process with it.
    socket.on('error', () => {})
    const reason = check.refusal(request.headers)
    const refused = banCheck.refusal(request) ?? (reason === undefined ? undefined : forbidden(reason))
    const turnAway = (refusal: Refusal, statusText: string) => {
      banCheck.accepted(request, false)
      refuseSocket(socket, refusal, statusText)
    }
    if (refused !== undefined) return turnAway(refused, 'Forbidden')
    if (gate === undefined) return accept(request, socket, head)
    const client = gate.admit(pathOf(request.url))
    if (client === undefined) return turnAway(UNAUTHORIZED, 'Unauthorized')
    void client.openSocket(socket).then((spent) => {
      if (spent === undefined) return accept(request, socket, head, client)
      turnAway(spentLimit(spent.message, spent.retryAfterSeconds), 'Too Many Requests')
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    banCheck.stumbled(socket, isSlow ? 'timeoutMessages' : 'invalidMessages')
    if (error.code === 'HPE_HEADER_OVERFLOW') {
      refuseSocket(socket, HEADERS_TOO_LARGE, 'Request Header Fields Too Large')
    } else if (isSlow) {
      refuseSocket(socket, TOO_SLOW, 'Request Timeout')
    } else {
      refuseSocket(socket, MALFORMED, 'Bad Request')
    }
  })

  server.maxConnections = options.maxSockets
  // Whoever waits at a full door may have the place of one who only keeps it.
  server.on('drop', () => {
    dropped++
    server.closeIdleConnections()
  })

  const { metricsHost = '127.0.0.1', metricsPort } = options
  let port: number
  let monitoringServer: MonitoringServer | undefined
  try {
    if (metricsPort !== undefined) {
      const checks = createHostCheck({ bindAddress: metricsHost, hosts: options.hosts, cors: [] })
      monitoringServer = await serveMonitoring({
        host: metricsHost,
        port: metricsPort,
        watch,
        check: checks,
        logger,
      })
    }
    port = await listen(server, options.host, options.port)
  } catch (error) {
    watch.close()
    certificate?.close()
    await Promise.all([gate?.close(), monitoringServer?.close()])
    throw error
  }
  server.on('error', (error) => logger.error('the server failed', { error }))

  const stopListening = ledger.onBan(() => {
    for (const socket of open) if (banCheck.isBanned(socket)) socket.destroy()
    sockets.turnOut(ledger.isBanned)
  })

  async function shut(graceMs: number): Promise<void> {
    stopListening()
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    for (const socket of silent) socket.destroy()
    bare.cutHandshakes()
    const timer = setTimeout(() => {
      sockets.terminate()
      server.closeAllConnections()
    }, graceMs)
    await Promise.all([stopped, sockets.close()])
    clearTimeout(timer)
    watch.close()
    certificate?.close()
    await Promise.all([gate?.close(), monitoringServer?.close()])
  }

  const address = `${callableHost(options.host)}:${port}`
  return {
    url: `http${bare.suffix}://${address}`,
    wsUrl: `ws${bare.suffix}://${address}`,
    port,
    ...(monitoringServer !== undefined && {
      metricsUrl: `http://${callableHost(metricsHost)}:${monitoringServer.port}/metrics`,
    }),
    ...(certificate !== undefined && { reloadCertificate: certificate.reload }),
    close({ graceMs = GRACE_MS } = {}) {
      closing ??= shut(graceMs)
      return closing
    },
  }
}
