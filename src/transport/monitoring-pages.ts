/** The monitoring pages of a node: liveness, readiness and Prometheus metrics. */
import type { ServerResponse } from 'node:http'
import type { ClusterHealth } from '../replication/model.ts'
import { CallMeter } from '../rpc/call-meter.ts'
import type { Health } from '../rpc/health.ts'
import { RETRY_SECONDS } from '../rpc/load.ts'
import type { Metrics, SocketFigures } from './metrics.ts'
import type { TextDispatcher } from './text-dispatcher.ts'

/** What the pages report on. */
export interface Monitored {
  readonly dispatcher: TextDispatcher
  /** The node's own metrics, `undefined` once it is closed; absent for a dispatcher without a chain. */
  readonly health?: (() => Promise<Health | undefined>) | undefined
  sockets(): SocketFigures
  /** How many messages and sockets were refused by the limits of a key, by the key's name. */
  readonly overLimits: ReadonlyMap<string, number>
  isClosing(): boolean
}

/** A page to send. */
export interface MonitoringPage {
  readonly status: number
  readonly type: string
  readonly body: string
}

const statusPage = (status: number, body: object): MonitoringPage => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
})

/** A node's place in its cluster as the readiness page shows it; `lag` in seconds. */
function placeOf({ role, term, lag }: ClusterHealth): object {
  return { role, term, lag: Math.round(lag * 1000) / 1000 }
}

/** The pages of one server. Calls of the node are counted from its making on. */
export class MonitoringPages {
  readonly #monitored: Monitored
  readonly #meter: CallMeter
  readonly #stopCounting: (() => void) | undefined
  /** prom-client is loaded with the first `/metrics` request. */
  #metrics: Promise<Metrics> | undefined

  constructor(monitored: Monitored) {
    const { dispatcher } = monitored
    this.#monitored = monitored
    this.#meter = dispatcher.meter?.() ?? new CallMeter(dispatcher.methods ?? [])
    if (dispatcher.meter === undefined) this.#stopCounting = dispatcher.listen?.(this.#meter.count)
  }

  /** The page of a path; `undefined` when there is none. */
  async page(path: string): Promise<MonitoringPage | undefined> {
    if (path === '/healthz') return statusPage(200, { status: 'ok' })
    if (path === '/readyz') return this.#readiness()
    return path === '/metrics' ? this.#figures() : undefined
  }

  /** Counts the calls of a further dispatcher with those of the node, until that one ends. */
  watch(further: TextDispatcher): void {
    further.listen?.(this.#meter.count)
  }

  /** Stops counting. */
  close(): void {
    this.#stopCounting?.()
  }

  async #readiness(): Promise<MonitoringPage> {
    const { dispatcher, health, isClosing } = this.#monitored
    if (isClosing()) return statusPage(503, { status: 'closing' })
    const seen = await health?.()
    if (health !== undefined && seen === undefined) return statusPage(503, { status: 'closed' })
    const head = seen && {
      head: seen.head,
      ...(seen.fork && { fork: seen.fork }),
      ...(seen.rules && { rules: seen.rules }),
      ...(seen.bitcoin && { bitcoin: seen.bitcoin }),
      ...(seen.cluster && placeOf(seen.cluster)),
    }
    const [damage] = seen?.storageDamage ?? []
    const reason = seen?.storageFailure ?? (damage && `The database is damaged: ${damage}.`)
    if (reason !== undefined) return statusPage(503, { status: 'storage', reason, ...head })
    if (dispatcher.load?.isFull === true) return statusPage(503, { status: 'busy', ...head })
    if (seen?.cluster?.isLate === true) return statusPage(503, { status: 'lagging', ...head })
    return statusPage(200, { status: 'ok', ...head })
  }

  async #figures(): Promise<MonitoringPage> {
    const { dispatcher, health, sockets, overLimits } = this.#monitored
    this.#metrics ??= import('./metrics.ts').then(({ createMetrics }) =>
      createMetrics({
        meter: this.#meter,
        load: dispatcher.load,
        chaos: dispatcher.chaos,
        health,
        sockets,
        overLimits,
      }),
    )
    const { contentType, text } = await this.#metrics
    return { status: 200, type: contentType, body: await text() }
  }
}

/** Sends a page. */
export function sendPage(response: ServerResponse, { status, type, body }: MonitoringPage): void {
  response.statusCode = status
  response.setHeader('Content-Type', type)
  response.setHeader('Content-Length', Buffer.byteLength(body))
  response.setHeader('Cache-Control', 'no-store')
  if (status === 503) response.setHeader('Retry-After', RETRY_SECONDS)
  response.end(body)
}
