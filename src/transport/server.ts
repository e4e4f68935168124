/** Serves a node: one port for HTTP and WebSocket, a port for metrics and a Unix socket where they are asked for. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { apiPath } from '../apis/http-apis.ts'
import type { ApiAnswers } from '../apis/request.ts'
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { NodeError } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import { createLivePool, type LivePool } from '../node/pool.ts'
import { isLoopback } from '../options/addresses.ts'
import { type ResolvedServeOptions, resolveServeOptions, type ServeOptions } from '../options/options.ts'
import { ALL_ENTITLEMENTS, REMOTE_ENTITLEMENTS } from '../rpc/session.ts'
import { ApiPages } from './api-pages.ts'
import { NO_SCORING, type PeerScoring } from './ban-check.ts'
import type { AnswerRequest } from './bitcoin/server.ts'
import type { Certificate } from './certificate.ts'
import { Chains, isChainPath } from './chains.ts'
import { type Explorer, openExplorer } from './explorer.ts'
import { HttpServer } from './http-server.ts'
import { pathOf, RESERVED_PATHS } from './incoming-request.ts'
import type { ApiKeyClient } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import { callableHost } from './listen.ts'
import { type McpPages, mcpPath, openMcp } from './mcp-pages.ts'
import { type Monitored, MonitoringPages } from './monitoring-pages.ts'
import { Policy } from './policy.ts'
import { BROKEN, HEADERS_TOO_LARGE, MALFORMED, RPC_VERBS, refuse, refuseSocket, TOO_SLOW } from './refusal.ts'
import { RpcAnswers } from './rpc-exchange.ts'
import { createRpcHandler, type RpcHandler } from './rpc-handler.ts'
import { SidePorts } from './side-ports.ts'
import type { TextDispatcher } from './text-dispatcher.ts'
import { admitUpgrade } from './upgrade.ts'
import { WebSocketListener } from './websocket.ts'

/** What can be served: a `Node`, or anything with a dispatcher. */
export interface Servable {
  readonly dispatcher: TextDispatcher
  readonly options?: { readonly logger?: Logger | undefined; readonly profile?: 'node' | 'hosted' }
  /** Banned addresses and the counts of callers; nobody is banned when it is absent. */
  readonly peers?: PeerScoring
  /** The Bitcoin chain of the node, where it has one. */
  readonly bitcoin?:
    | {
        readonly origin: string | undefined
        readonly simulated: Bitcoin | undefined
        readonly answer: AnswerRequest
      }
    | undefined
  /** The APIs of explorers and verifiers; absent for a dispatcher without a chain. */
  readonly apis?: ApiAnswers
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
  /** Bitcoin Core's JSON-RPC; absent without a port for it. */
  readonly bitcoinRpcUrl?: string
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

/** What is opened before a server, and closed with it. */
interface Opened {
  readonly certificate: Certificate | undefined
  readonly authentication: Authentication | undefined
  readonly pool: LivePool | undefined
}

/** Opens the key file that the options name; without one the code of API keys is not loaded. */
async function authenticationOf(
  { apiKeys, redis, maxSocketsPerKey }: ResolvedServeOptions,
  logger: Logger,
): Promise<Authentication | undefined> {
  if (apiKeys === undefined) return undefined
  const { openAuthentication } = await import('./keys/authentication.ts')
  return openAuthentication({ apiKeys, redis, maxSocketsPerKey, logger })
}

/** Opens the certificate that the options name; without one the code of TLS is not loaded. */
async function certificateOf(
  { tlsCert, tlsKey }: ResolvedServeOptions,
  logger: Logger,
): Promise<Certificate | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  const { openCertificate } = await import('./certificate.ts')
  return openCertificate(tlsCert, tlsKey, logger)
}

/** The server of one node, from its parts to its end. */
class NodeServer {
  readonly #node: Servable
  readonly #options: ResolvedServeOptions
  readonly #opened: Opened
  readonly #logger: Logger
  readonly #policy: Policy
  readonly #http: HttpServer
  readonly #sockets: WebSocketListener
  readonly #monitoring: MonitoringPages
  readonly #handleRpc: RpcHandler
  readonly #explorer: Explorer | undefined
  readonly #apis: ApiPages | undefined
  readonly #mcp: McpPages | undefined
  readonly #chains: Chains | undefined
  readonly #sidePorts: SidePorts
  #router: Promise<RpcHandler> | undefined
  #stopDisconnecting = () => {}
  #closing: Promise<void> | undefined

  constructor(node: Servable, options: ResolvedServeOptions, opened: Opened, logger: Logger) {
    const { dispatcher } = node
    this.#node = node
    this.#options = options
    this.#opened = opened
    this.#logger = logger
    const policy = this.#createPolicy()
    this.#policy = policy
    this.#monitoring = this.#createMonitoring()
    this.#handleRpc = createRpcHandler({
      policy,
      dispatcherOf: () => dispatcher,
      verbs: RPC_VERBS,
      isMounted: false,
      logger,
    })
    this.#apis =
      node.apis && options.explorerApi ? new ApiPages({ apis: node.apis, policy, logger }) : undefined
    this.#mcp = options.mcp ? openMcp(dispatcher, policy, options, logger) : undefined
    this.#explorer = options.ui ? openExplorer() : undefined
    this.#sockets = new WebSocketListener({
      policy,
      maxBufferBytes: options.maxSocketBuffer,
      pingIntervalMs: options.pingIntervalMs,
      logger,
    })
    this.#chains =
      opened.pool &&
      new Chains({
        pool: opened.pool,
        base: dispatcher,
        explorer: this.#explorer,
        apis: options.explorerApi ? node.apis : undefined,
        mcp: this.#mcp,
        policy,
        sockets: this.#sockets,
        logger,
        onOpen: (further) => this.#monitoring.watch(further),
      })
    this.#http = this.#createHttpServer()
    const { bitcoin } = node
    this.#sidePorts = new SidePorts({
      options,
      dispatcher,
      policy,
      monitoring: this.#monitoring,
      answerBitcoin: bitcoin && ((request, isGone) => bitcoin.answer(request, isGone)),
      logger,
    })
  }

  /** Listens on all that the options name. Throws `ListenError`; all is closed then. */
  async listen(): Promise<Server> {
    const { host } = this.#options
    const { certificate, authentication } = this.#opened
    const port = await this.#listenOnAll()
    this.#stopDisconnecting = this.#disconnectBanned()
    const address = `${callableHost(host)}:${port}`
    const { schemeSuffix } = this.#http
    const url = `http${schemeSuffix}://${address}`
    return {
      url,
      wsUrl: `ws${schemeSuffix}://${address}`,
      port,
      ...(this.#explorer !== undefined && {
        explorerUrl: `${url}/${authentication === undefined ? '' : '<key>/'}`,
      }),
      ...this.#sidePorts.addresses,
      ...(certificate !== undefined && { reloadCertificate: certificate.reload }),
      close: ({ graceMs = GRACE_MS } = {}) => {
        this.#closing ??= this.#close(graceMs)
        return this.#closing
      },
    }
  }

  #createPolicy(): Policy {
    const options = this.#options
    // A reverse proxy on this machine passes on callers that are on others.
    const isLocal = isLoopback(options.host) && options.trustedProxies.length === 0
    return new Policy({
      ...options,
      bindAddress: options.host,
      scoring: this.#node.peers,
      authentication: this.#opened.authentication,
      entitlements: isLocal ? ALL_ENTITLEMENTS : REMOTE_ENTITLEMENTS,
    })
  }

  #createMonitoring(): MonitoringPages {
    return new MonitoringPages({
      dispatcher: this.#node.dispatcher,
      health: this.#node.health,
      isClosing: () => this.#policy.isClosing,
      sockets: () => ({
        http: this.#http.openCount,
        websocket: this.#sockets.count,
        dropped: this.#http.droppedCount,
      }),
      overLimits: this.#opened.authentication?.refusals ?? new Map(),
    })
  }

  #createHttpServer(): HttpServer {
    const { certificate, authentication } = this.#opened
    const answers = new RpcAnswers(this.#policy, this.#logger)
    // A key is a part of the path, and may be revoked while its connection is open.
    const isFast = this.#options.fastHttp && certificate === undefined && authentication === undefined
    return new HttpServer({
      ...this.#options,
      certificate,
      onRequest: (request, response) => void this.#route(request, response),
      onUpgrade: (...upgrade) => admitUpgrade(this.#policy, ...upgrade, this.#acceptUpgrade),
      onClientError: (error, socket) => this.#refuseBroken(error, socket),
      fast: isFast
        ? {
            policy: this.#policy,
            isRpcPath: (path) =>
              !RESERVED_PATHS.has(path) &&
              !(this.#chains !== undefined && isChainPath(path)) &&
              !(this.#apis !== undefined && apiPath(path) !== undefined) &&
              !(this.#mcp !== undefined && mcpPath(path) === ''),
            answer: (exchange, body) => answers.answer(exchange, this.#node.dispatcher, body),
          }
        : undefined,
      logger: this.#logger,
    })
  }

  /** Passes a request to the router, which is loaded with the first one: nodes that answer plain POSTs alone never need it. */
  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A caller that disconnects in the middle is no error of the node.
    request.on('error', () => {})
    this.#router ??= import('./router.ts').then(({ createRouter }) => createRouter(this.#routerParts()))
    try {
      const handle = await this.#router
      handle(request, response)
    } catch (error) {
      this.#logger.error('the Express router cannot be loaded', { error })
      refuse(response, BROKEN)
    }
  }

  #routerParts() {
    const { authentication } = this.#opened
    const isHosted = this.#node.options?.profile === 'hosted'
    return {
      policy: this.#policy,
      dispatcher: this.#node.dispatcher,
      monitoring: this.#monitoring,
      explorer: this.#explorer,
      apis: this.#apis,
      mcp: this.#mcp,
      // The hosted profile shows metrics to keys, or on a port of their own.
      showsMetrics: this.#options.metricsPort === undefined && (authentication !== undefined || !isHosted),
      chains: this.#chains,
      handleRpc: this.#handleRpc,
      isFirst: (request: IncomingMessage) => this.#http.isFirst(request),
      logger: this.#logger,
    }
  }

  readonly #acceptUpgrade = (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    client: ApiKeyClient | undefined,
  ): void => {
    this.#http.release(socket)
    this.#policy.bans.countUpgrade(request, true)
    const chains = isChainPath(pathOf(request.url)) ? this.#chains : undefined
    if (chains !== undefined) chains.accept(request, socket, head, client)
    else this.#sockets.accept(request, socket, head, this.#node.dispatcher, client)
  }

  /** Refuses what is no complete HTTP request. */
  #refuseBroken({ code }: NodeJS.ErrnoException, socket: Duplex): void {
    const isSlow = code === 'ERR_HTTP_REQUEST_TIMEOUT'
    this.#policy.bans.countClientError(socket, isSlow ? 'timeoutMessages' : 'invalidMessages')
    if (code === 'HPE_HEADER_OVERFLOW') refuseSocket(socket, HEADERS_TOO_LARGE)
    else refuseSocket(socket, isSlow ? TOO_SLOW : MALFORMED)
  }

  /** The port of HTTP and WebSocket. */
  async #listenOnAll(): Promise<number> {
    const { host, port } = this.#options
    try {
      await this.#sidePorts.listen()
      return await this.#http.listen(host, port)
    } catch (error) {
      await Promise.all([this.#release(), this.#sidePorts.close()])
      throw error
    }
  }

  /** Disconnects callers as they are banned; the returned function stops that. */
  #disconnectBanned(): () => void {
    const scoring = this.#node.peers ?? NO_SCORING
    return scoring.onBan(() => {
      this.#http.disconnect(this.#policy.bans.isBanned)
      this.#sockets.disconnectBanned((address) => scoring.isBanned(address))
    })
  }

  async #close(graceMs: number): Promise<void> {
    this.#policy.beginClosing()
    this.#stopDisconnecting()
    const stopped = this.#http.close()
    const timer = setTimeout(() => {
      this.#sockets.terminate()
      this.#sidePorts.terminate()
      this.#http.terminate()
    }, graceMs)
    await Promise.all([stopped, this.#sockets.close(), this.#sidePorts.close()])
    clearTimeout(timer)
    await this.#chains?.close()
    await this.#release()
  }

  /** Closes what needs no grace. */
  async #release(): Promise<void> {
    const { certificate, authentication } = this.#opened
    this.#monitoring.close()
    certificate?.close()
    await Promise.all([authentication?.close(), this.#sidePorts.release()])
  }
}

/**
 * Serves a node over HTTP and WebSocket. Throws `NodeError` (`invalid-options`; also for the hosted profile without keys
 * and without `unsafeOpen`) and `ListenError`.
 */
export async function serve(node: Servable, given: ServeOptions = {}): Promise<Server> {
  const options = resolveServeOptions(given, node.options)
  if (options.bitcoinRpcPort !== undefined && node.bitcoin === undefined) {
    const message = 'Option "bitcoinRpcPort" has no effect without the option "bitcoin" of the node.'
    throw new NodeError('invalid-options', message)
  }
  if (options.bitcoinRpcPort !== undefined && node.bitcoin?.simulated === undefined) {
    const message = `Options "bitcoinRpcPort" and "bitcoinRpc" contradict each other: the Bitcoin node at ${node.bitcoin?.origin} answers its own JSON-RPC.`
    throw new NodeError('invalid-options', message)
  }
  const pool = options.pool === undefined ? undefined : createLivePool(options.pool, node)
  const logger = node.options?.logger ?? silentLogger
  const certificate = await certificateOf(options, logger)
  const authentication = await authenticationOf(options, logger).catch((error) => {
    certificate?.close()
    throw error
  })
  return new NodeServer(node, options, { certificate, authentication, pool }, logger).listen()
}
