/** One port for HTTP and WebSocket: listens, hands each connection to its transport, and closes in order. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Logger, silentLogger } from '../logger.ts'
import { createLivePool } from '../node/pool.ts'
import { isLoopback } from '../options/addresses.ts'
import { type ResolvedServeOptions, resolveServeOptions, type ServeOptions } from '../options/options.ts'
import { ALL_ENTITLEMENTS, REMOTE_ENTITLEMENTS } from '../rpc/session.ts'
import { createAdmission, REQUEST_ID_HEADER } from './admission.ts'
import { createBanCheck, NO_SCORING, type PeerScoring } from './ban-check.ts'
import { createBodyReader } from './body.ts'
import { createByteBudget } from './byte-budget.ts'
import { type Certificate, openCertificate } from './certificate.ts'
import { createChains } from './chains.ts'
import { openExplorer } from './explorer.ts'
import { createHostCheck } from './host-check.ts'
import { createHttpServer } from './http-server.ts'
import { createRemoteAddressOf, pathOf, RESERVED_PATHS } from './incoming-request.ts'
import type { IpcServer } from './ipc.ts'
import type { Authentication } from './keys/authentication.ts'
import { callableHost, listen } from './listen.ts'
import { createMonitoringPages, type Monitored } from './monitoring-pages.ts'
import { type MonitoringServer, serveMonitoring } from './monitoring-server.ts'
import { BROKEN, HEADERS_TOO_LARGE, MALFORMED, RPC_VERBS, refuse, TOO_SLOW } from './refusal.ts'
import { createExchange } from './rpc-exchange.ts'
import { createRpcHandler, type RpcHandler } from './rpc-handler.ts'
import type { TextDispatcher } from './text-dispatcher.ts'
import { createUpgradeListener, refuseSocket } from './upgrade.ts'
import { createWebSocketListener } from './websocket.ts'

/** What can be served: a `Node`, or anything with a dispatcher. */
export interface Servable {
  readonly dispatcher: TextDispatcher
  readonly options?: { readonly logger?: Logger | undefined; readonly profile?: 'node' | 'hosted' }
  /** Banned addresses and the counts of callers; nobody is banned when it is absent. */
  readonly peers?: PeerScoring
  /** The node's own metrics; absent for a dispatcher without a chain. */
  readonly health?: Monitored['health']
}

/** A listening server. */
export interface Server {
  /** `http://host:port`, or `https://` with TLS, callable from this machine. */
  readonly url: string
  /** `ws://host:port`, or `wss://`. */
  readonly wsUrl: string
  readonly port: number
  /** The explorer, with `<key>` in the place of an API key; absent where it is turned off or not built. */
  readonly explorerUrl?: string
  /** The metrics page on a port of its own; absent without such a port. */
  readonly metricsUrl?: string
  /** The Unix socket; absent without one. */
  readonly ipcPath?: string
  /** Reads the certificate again now, not only when its files are next checked; absent without TLS. */
  reloadCertificate?(): void
  /**
   * Accepts no more connections, lets running requests end, closes sockets (1001); what is open after `graceMs`
   * (milliseconds, 6000 by default: longer than a request may take) is destroyed. Idempotent. The node stays open.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

const GRACE_MS = 6000

/** Opens the key file that the options name; without one the code of API keys is not loaded. */
async function authenticationOf(
  options: ResolvedServeOptions,
  logger: Logger,
): Promise<Authentication | undefined> {
  const { apiKeys, redis, maxSocketsPerKey } = options
  if (apiKeys === undefined) return undefined
  const { openAuthentication } = await import('./keys/authentication.ts')
  return openAuthentication({ apiKeys, redis, maxSocketsPerKey, logger })
}

function certificateOf({ tlsCert, tlsKey }: ResolvedServeOptions, logger: Logger): Certificate | undefined {
  return tlsCert === undefined || tlsKey === undefined ? undefined : openCertificate(tlsCert, tlsKey, logger)
}

/**
 * Serves a node over HTTP and WebSocket. Throws `NodeError` (`invalid-options`; also for the hosted profile without keys
 * and without `unsafeOpen`) and `ListenError`.
 */
export async function serve(node: Servable, given: ServeOptions = {}): Promise<Server> {
  const options = resolveServeOptions(given, node.options)
  const { dispatcher } = node
  const pool = options.pool === undefined ? undefined : createLivePool(options.pool, node)
  const logger = node.options?.logger ?? silentLogger
  const check = createHostCheck({ bindAddress: options.host, hosts: options.hosts, cors: options.cors })
  const remoteAddressOf = createRemoteAddressOf(options.trustedProxies)
  const { maxBodyBytes, transferTimeoutMs } = options
  const certificate = certificateOf(options, logger)
  const authentication = await authenticationOf(options, logger).catch((error) => {
    certificate?.close()
    throw error
  })
  const scoring = node.peers ?? NO_SCORING
  const bans = createBanCheck(scoring, remoteAddressOf)
  let closing: Promise<void> | undefined
  const isClosing = () => closing !== undefined
  const budget = createByteBudget(options.maxBufferedBytes)
  /** Connections that carry HTTP; those upgraded to WebSockets belong to `sockets`. */
  const open = new Set<Duplex>()
  let dropped = 0
  const monitoring = createMonitoringPages({
    dispatcher,
    health: node.health,
    isClosing,
    sockets: () => ({ http: open.size, websocket: sockets.count(), dropped }),
    overLimits: authentication?.refusals ?? new Map(),
  })
  const admit = createAdmission(check, isClosing)
  // A reverse proxy on this machine passes on callers that are on others.
  const isLocal = isLoopback(options.host) && options.trustedProxies.length === 0
  const entitlements = isLocal ? ALL_ENTITLEMENTS : REMOTE_ENTITLEMENTS
  const handlerParts = {
    remoteAddressOf,
    authentication,
    maxBodyBytes,
    readBody: createBodyReader(maxBodyBytes, budget),
    budget,
    transferTimeoutMs,
    entitlements,
    logger,
    isMounted: false,
    isClosing,
  }
  const handleRpc = createRpcHandler({ ...handlerParts, dispatcherOf: () => dispatcher, verbs: RPC_VERBS })

  const explorer = options.ui ? openExplorer() : undefined
  // Loading Express takes 170 ms of processor time, and most nodes serve no page.
  let app: Promise<RpcHandler> | undefined
  async function handleByApp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    app ??= import('./http-app.ts').then(({ createHttpApp }) =>
      createHttpApp({
        dispatcher,
        authentication,
        monitoring,
        explorer: authentication === undefined ? undefined : explorer,
        // The hosted profile shows metrics to keys, or on a port of their own.
        showsMetrics:
          options.metricsPort === undefined &&
          (authentication !== undefined || node.options?.profile !== 'hosted'),
        handleRpc,
        logger,
      }),
    )
    try {
      const handle = await app
      handle(request, response)
    } catch (error) {
      logger.error('the Express app cannot be loaded', { error })
      refuse(response, BROKEN)
    }
  }

  const sockets = createWebSocketListener({
    maxMessageBytes: maxBodyBytes,
    maxBufferBytes: options.maxSocketBuffer,
    budget,
    transferTimeoutMs,
    pingIntervalMs: options.pingIntervalMs,
    logger,
    remoteAddressOf,
    entitlements,
  })

  const chains =
    pool === undefined
      ? undefined
      : createChains({
          pool,
          base: dispatcher,
          authentication,
          logger,
          handlerParts,
          sockets,
          onOpen: monitoring.watch,
        })

  /** Connections without a complete header yet; Node does not count them as idle when it closes. */
  const headerless = new Set<Duplex>()
  const isRpcPath = (path: string) => !RESERVED_PATHS.has(path) && chains?.covers(path) !== true

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const isFirst = headerless.delete(request.socket)
    if (isFirst) bans.countFirstRequest(request, response)
    const banned = bans.refusal(request)
    if (banned !== undefined) {
      response.setHeader('Connection', 'close')
      refuse(response, banned)
      return
    }
    const requestId = admit(request, response)
    if (requestId === undefined) return
    const path = pathOf(request.url)
    // The handler that the app mounts, called without the app: nine interleaved pairs measured 72 µs of processor time
    // for eth_blockNumber this way and 265 µs through Express (1.9 and 2.5 ms for a transfer with its receipt).
    if (request.method === 'POST' && isRpcPath(path)) {
      handleRpc(request, response, requestId)
      return
    }
    response.setHeader(REQUEST_ID_HEADER, requestId)
    if (chains?.covers(path)) chains.handle(request, response, requestId)
    // Without keys to check, the explorer does not wait for the app to be loaded.
    else if (authentication !== undefined || explorer?.answer(request, response, path, path) !== true) {
      void handleByApp(request, response)
    }
  }

  const answer = createExchange(handlerParts)
  const http = createHttpServer(
    certificate,
    options,
    onRequest,
    // A key is a part of the path, and may be revoked while its connection is open.
    authentication === undefined
      ? {
          check,
          remoteAddressOf,
          maxBodyBytes,
          budget,
          isRpcPath,
          isBanned: bans.isBannedAddress,
          isClosing,
          onFirstRequest(socket, address) {
            headerless.delete(socket)
            bans.countAccepted(address)
          },
          answer: (exchange, body) => answer(exchange, dispatcher, body),
        }
      : undefined,
  )
  const { server } = http
  server.on(http.connectionEvent, (socket: Duplex) => {
    headerless.add(socket)
    open.add(socket)
    socket.once('close', () => {
      headerless.delete(socket)
      open.delete(socket)
    })
  })
  const onUpgrade = createUpgradeListener({
    http,
    check,
    bans,
    authentication,
    accept(request, socket, head, client) {
      open.delete(socket)
      bans.countUpgrade(request, true)
      if (chains?.covers(pathOf(request.url))) chains.accept(request, socket, head, client)
      else sockets.accept(request, socket, head, dispatcher, client)
    },
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    headerless.delete(socket)
    onUpgrade(request, socket, head)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    bans.countClientError(socket, isSlow ? 'timeoutMessages' : 'invalidMessages')
    if (error.code === 'HPE_HEADER_OVERFLOW') {
      refuseSocket(socket, HEADERS_TOO_LARGE, 'Request Header Fields Too Large')
    } else if (isSlow) {
      refuseSocket(socket, TOO_SLOW, 'Request Timeout')
    } else {
      refuseSocket(socket, MALFORMED, 'Bad Request')
    }
  })

  server.maxConnections = options.maxSockets
  // A new client gets the place of an idle connection.
  server.on('drop', () => {
    dropped++
    http.closeIdle()
  })

  const { metricsHost = '127.0.0.1', metricsPort } = options
  let port: number
  let monitoringServer: MonitoringServer | undefined
  let ipc: IpcServer | undefined
  try {
    if (metricsPort !== undefined) {
      monitoringServer = await serveMonitoring({
        host: metricsHost,
        port: metricsPort,
        monitoring,
        check: createHostCheck({ bindAddress: metricsHost, hosts: options.hosts, cors: [] }),
        logger,
      })
    }
    if (options.ipc !== undefined) {
      const { serveIpc } = await import('./ipc.ts')
      ipc = await serveIpc({
        dispatcher,
        path: options.ipc,
        maxMessageBytes: maxBodyBytes,
        maxBufferBytes: options.maxSocketBuffer,
        budget,
        transferTimeoutMs,
        logger,
      })
    }
    port = await listen(server, options.host, options.port)
  } catch (error) {
    monitoring.close()
    certificate?.close()
    await Promise.all([authentication?.close(), monitoringServer?.close(), ipc?.close()])
    throw error
  }
  server.on('error', (error) => logger.error('the server failed', { error }))

  const stopListening = scoring.onBan(() => {
    for (const socket of open) if (bans.isBanned(socket)) socket.destroy()
    sockets.disconnectBanned(scoring.isBanned)
  })

  async function shut(graceMs: number): Promise<void> {
    stopListening()
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    http.closeIdle()
    for (const socket of headerless) socket.destroy()
    http.destroyHandshakes()
    const timer = setTimeout(() => {
      sockets.terminate()
      ipc?.terminate()
      http.closeAll()
    }, graceMs)
    await Promise.all([stopped, sockets.close(), ipc?.close()])
    clearTimeout(timer)
    await chains?.close()
    monitoring.close()
    certificate?.close()
    await Promise.all([authentication?.close(), monitoringServer?.close()])
  }

  const address = `${callableHost(options.host)}:${port}`
  return {
    url: `http${http.schemeSuffix}://${address}`,
    wsUrl: `ws${http.schemeSuffix}://${address}`,
    port,
    ...(explorer !== undefined && {
      explorerUrl: `http${http.schemeSuffix}://${address}/${authentication === undefined ? '' : '<key>/'}`,
    }),
    ...(monitoringServer !== undefined && {
      metricsUrl: `http://${callableHost(metricsHost)}:${monitoringServer.port}/metrics`,
    }),
    ...(options.ipc !== undefined && { ipcPath: options.ipc }),
    ...(certificate !== undefined && { reloadCertificate: certificate.reload }),
    close({ graceMs = GRACE_MS } = {}) {
      closing ??= shut(graceMs)
      return closing
    },
  }
}
