/** What a server listens on beside its port of HTTP and WebSocket: metrics, a Unix socket, Bitcoin Core's JSON-RPC. */
import type { Logger } from '../logger.ts'
import type { ResolvedServeOptions } from '../options/options.ts'
import type { AnswerRequest, BitcoinRpcServer } from './bitcoin/server.ts'
import { HostCheck } from './host-check.ts'
import type { IpcServer } from './ipc.ts'
import { callableHost } from './listen.ts'
import type { MonitoringPages } from './monitoring-pages.ts'
import { type MonitoringServer, serveMonitoring } from './monitoring-server.ts'
import type { Policy } from './policy.ts'
import type { TextDispatcher } from './text-dispatcher.ts'

interface Parts {
  readonly options: ResolvedServeOptions
  readonly dispatcher: TextDispatcher
  readonly policy: Policy
  readonly monitoring: MonitoringPages
  /** Absent where the node has no Bitcoin chain. */
  readonly answerBitcoin: AnswerRequest | undefined
  readonly logger: Logger
}

const DEFAULT_METRICS_HOST = '127.0.0.1'

/** The ports that options name; the code of one that they do not is not loaded. */
export class SidePorts {
  readonly #parts: Parts
  #monitoring: MonitoringServer | undefined
  #ipc: IpcServer | undefined
  #bitcoin: BitcoinRpcServer | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Their addresses, of those that are open. */
  get addresses(): { metricsUrl?: string; bitcoinRpcUrl?: string; ipcPath?: string } {
    const { metricsHost = DEFAULT_METRICS_HOST, ipc } = this.#parts.options
    return {
      ...(this.#monitoring !== undefined && {
        metricsUrl: `http://${callableHost(metricsHost)}:${this.#monitoring.port}/metrics`,
      }),
      ...(this.#bitcoin !== undefined && { bitcoinRpcUrl: this.#bitcoin.url }),
      ...(ipc !== undefined && { ipcPath: ipc }),
    }
  }

  /** Listens on each. Throws `ListenError`; `close` and `release` close what is open then. */
  async listen(): Promise<void> {
    this.#monitoring = await this.#listenForMetrics()
    this.#ipc = await this.#listenForIpc()
    this.#bitcoin = await this.#listenForBitcoin()
  }

  /** Accepts no more callers, and lets their running requests end. */
  async close(): Promise<void> {
    await Promise.all([this.#ipc?.close(), this.#bitcoin?.close()])
  }

  /** Destroys what is still open. */
  terminate(): void {
    this.#ipc?.terminate()
  }

  /** Closes the port of metrics, which shows a node that is closing. */
  async release(): Promise<void> {
    await this.#monitoring?.close()
  }

  async #listenForMetrics(): Promise<MonitoringServer | undefined> {
    const { options, monitoring, logger } = this.#parts
    const { metricsHost: host = DEFAULT_METRICS_HOST, metricsPort: port, hosts } = options
    if (port === undefined) return undefined
    const check = new HostCheck({ bindAddress: host, hosts, cors: [] })
    return serveMonitoring({ host, port, monitoring, check, logger })
  }

  async #listenForIpc(): Promise<IpcServer | undefined> {
    const { options, dispatcher, policy, logger } = this.#parts
    const { ipc: path, maxSocketBuffer: maxBufferBytes } = options
    if (path === undefined) return undefined
    const { serveIpc } = await import('./ipc.ts')
    return serveIpc({ dispatcher, path, policy, maxBufferBytes, logger })
  }

  async #listenForBitcoin(): Promise<BitcoinRpcServer | undefined> {
    const { options, answerBitcoin, logger } = this.#parts
    const { bitcoinRpcPort: port, bitcoinRpcUser: user, bitcoinRpcPassword: password } = options
    if (port === undefined || answerBitcoin === undefined) return undefined
    const { serveBitcoinRpc } = await import('./bitcoin/server.ts')
    const listening = { host: '127.0.0.1', port, user, password, logger }
    return serveBitcoinRpc((request, isGone) => answerBitcoin(request, isGone), listening)
  }
}
