/** The Prometheus metrics of a served node; loaded with the first `/metrics` request. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { ChaosSwitch } from '../chaos/switch.ts'
import type { ClusterHealth } from '../replication/model.ts'
import { type CallMeter, DURATION_BOUNDS } from '../rpc/call-meter.ts'
import type { Health } from '../rpc/health.ts'
import type { Load } from '../rpc/load.ts'
import type { RemoteUsage } from '../state/remote/model.ts'

/** Connections of a server. */
export interface SocketFigures {
  readonly http: number
  readonly websocket: number
  /** Closed at once, since too many were open. */
  readonly dropped: number
}

/** Where the metrics come from; absent is what a dispatcher without a chain does not have. */
export interface MetricsParts {
  readonly meter: CallMeter
  readonly load: Load | undefined
  /** Counted while it is set; absent where it cannot be. */
  readonly chaos?: Pick<ChaosSwitch, 'current'> | undefined
  readonly health: (() => Promise<Health | undefined>) | undefined
  sockets(): SocketFigures
  /** How many messages and sockets were refused by the limits of a key, by the key's name. */
  readonly overLimits: ReadonlyMap<string, number>
}

/** The metrics page. */
export interface Metrics {
  readonly contentType: string
  /** The current values. */
  text(): Promise<string>
}

const BY_CALL = ['method', 'key'] as const

const DURATION_NAME = 'tandem_call_duration_seconds'
const DURATION_HELP = 'Seconds from the start of a call to its answer, waiting time included.'

/**
 * The durations as a histogram in the Prometheus text format (https://prometheus.io/docs/instrumenting/exposition_formats),
 * from the counts of the meter: prom-client has no histogram over counts made elsewhere, and its own `observe` takes
 * 1.0 µs of processor time a call, the meter 0.05 µs.
 */
function durationsText(meter: CallMeter): string {
  const lines = meter.figures().flatMap(({ method, key, classes, seconds }) => {
    // No method or key name has a character that the format escapes.
    const labels = `method="${method}",key="${key}"`
    let count = 0
    const buckets = classes.map((inClass, i) => {
      count += inClass
      return `${DURATION_NAME}_bucket{${labels},le="${DURATION_BOUNDS[i] ?? '+Inf'}"} ${count}`
    })
    return [
      ...buckets,
      `${DURATION_NAME}_sum{${labels}} ${seconds}`,
      `${DURATION_NAME}_count{${labels}} ${count}`,
    ]
  })
  const head = [`# HELP ${DURATION_NAME} ${DURATION_HELP}`, `# TYPE ${DURATION_NAME} histogram`]
  return `${[...head, ...lines].join('\n')}\n`
}

function countCalls(meter: CallMeter, registers: Registry[]): void {
  new Counter({
    name: 'tandem_calls_total',
    help: 'Answered calls.',
    labelNames: BY_CALL,
    registers,
    collect() {
      this.reset()
      for (const { method, key, classes } of meter.figures()) {
        this.inc(
          { method, key },
          classes.reduce((sum, count) => sum + count, 0),
        )
      }
    },
  })
  new Counter({
    name: 'tandem_call_errors_total',
    help: 'Calls that were answered with an error, by JSON-RPC code.',
    labelNames: [...BY_CALL, 'code'],
    registers,
    collect() {
      this.reset()
      for (const { method, key, errors } of meter.figures()) {
        for (const [code, count] of errors) this.inc({ method, key, code }, count)
      }
    },
  })
}

/** A counter whose value is kept elsewhere. */
function counter(name: string, help: string, registers: Registry[], read: () => number): void {
  new Counter({
    name,
    help,
    registers,
    collect() {
      this.reset()
      this.inc(read())
    },
  })
}

function gauge(name: string, help: string, registers: Registry[], read: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read())
    },
  })
}

function showLoad(load: Load, registers: Registry[]): void {
  gauge('tandem_messages_pending', 'Messages that are being answered.', registers, () => load.figures.pending)
  gauge(
    'tandem_heavy_calls_running',
    'Simulations, traces and log queries that run.',
    registers,
    () => load.figures.heavyRunning,
  )
  gauge(
    'tandem_heavy_calls_waiting',
    'Simulations, traces and log queries that wait to run.',
    registers,
    () => load.figures.heavyWaiting,
  )
  counter('tandem_shed_total', 'Messages and calls refused since the node was busy.', registers, () => {
    return load.figures.shed
  })
}

function showChaos(chaos: Pick<ChaosSwitch, 'current'>, registers: Registry[]): void {
  new Counter({
    name: 'tandem_chaos_faults_total',
    help: 'Faults made by chaos since it was set.',
    labelNames: ['fault'],
    registers,
    collect() {
      this.reset()
      for (const [fault, count] of chaos.current?.counts ?? []) this.inc({ fault }, count)
    },
  })
}

function showSockets(sockets: MetricsParts['sockets'], registers: Registry[]): void {
  new Gauge({
    name: 'tandem_sockets',
    help: 'Open connections.',
    labelNames: ['kind'],
    registers,
    collect() {
      const { http, websocket } = sockets()
      this.set({ kind: 'http' }, http)
      this.set({ kind: 'websocket' }, websocket)
    },
  })
  const help = 'Connections closed at once, since too many were open.'
  counter('tandem_sockets_dropped_total', help, registers, () => sockets().dropped)
}

function showOverLimits(overLimits: ReadonlyMap<string, number>, registers: Registry[]): void {
  new Counter({
    name: 'tandem_over_limits_total',
    help: 'Messages and sockets refused since rate, quota or sockets of their key were spent.',
    labelNames: ['key'],
    registers,
    collect() {
      this.reset()
      for (const [key, count] of overLimits) this.inc({ key }, count)
    },
  })
}

/** The metrics of a node in a cluster, registered with the first figures; the returned function sets them. */
function showCluster(registers: Registry[]): (cluster: ClusterHealth) => void {
  let seen: ClusterHealth | undefined
  return (cluster) => {
    const isFirst = seen === undefined
    seen = cluster
    if (!isFirst) return
    const now = cluster
    const figures = () => (seen ?? now).figures
    gauge('tandem_cluster_leader', 'Whether this node leads: 1 or 0.', registers, () =>
      (seen ?? now).role === 'leader' ? 1 : 0,
    )
    gauge(
      'tandem_cluster_term',
      'Number of the term, one more with each leader.',
      registers,
      () => (seen ?? now).term,
    )
    gauge(
      'tandem_cluster_lag_seconds',
      'Seconds since the node last had all that the leader had announced.',
      registers,
      () => (seen ?? now).lag,
    )
    counter('tandem_cluster_elections_total', 'Times that this node became the leader.', registers, () => {
      return figures().elections
    })
    counter(
      'tandem_cluster_forwarded_total',
      'Calls that other nodes were asked to answer.',
      registers,
      () => {
        return figures().forwarded
      },
    )
    counter('tandem_cluster_unanswered_total', 'Those of them without an answer in time.', registers, () => {
      return figures().unanswered
    })
  }
}

/** The metrics of a fork, registered with the first figures; the returned function sets them. */
function showUpstream(registers: Registry[]): (usage: RemoteUsage) => void {
  let seen: RemoteUsage | undefined
  return (usage) => {
    const isFirst = seen === undefined
    seen = usage
    if (!isFirst) return
    const counts = [
      ['requests', 'HTTP requests to the upstream of the fork, repeated ones included.', 'requests'],
      ['calls', 'Calls in them, repeated ones included.', 'calls'],
      ['retries', 'Answers without a usable result that were asked for again.', 'retries'],
      ['rate_limited', 'Refusals for too many requests.', 'rateLimited'],
      ['failures', 'HTTP requests without a usable answer.', 'failures'],
      ['cache_hits', 'Items that the cache had.', 'cacheHits'],
      ['cache_misses', 'Items that were fetched.', 'cacheMisses'],
    ] as const
    for (const [name, help, key] of counts) {
      counter(`tandem_upstream_${name}_total`, help, registers, () => (seen ?? usage)[key])
    }
    const time = 'Time from each HTTP request to its answer, added up.'
    counter('tandem_upstream_seconds_total', time, registers, () => (seen ?? usage).milliseconds / 1000)
    const help = 'Calls to the upstream in the last 24 hours; a hosted key has a daily quota.'
    gauge('tandem_upstream_calls_today', help, registers, () => (seen ?? usage).callsToday)
    gauge('tandem_upstream_calls_per_day', 'Budget of calls in 24 hours; 0 is none.', registers, () => {
      return (seen ?? usage).callsPerDay
    })
  }
}

/** The gauges of chain, pool and database; the returned function sets them. */
function showHealth(registers: Registry[]): (health: Health) => void {
  const plain = (name: string, help: string) => new Gauge({ name, help, registers })
  const info = new Gauge({
    name: 'tandem_chain_info',
    help: 'Always 1; which chain this is.',
    labelNames: ['chain', 'chain_id'],
    registers,
  })
  const pool = new Gauge({
    name: 'tandem_pool_transactions',
    help: 'Transactions of the pool: runnable (pending) or behind a gap of nonces (queued).',
    labelNames: ['state'],
    registers,
  })
  const head = plain('tandem_head_height', 'Height of the head.')
  const headTimestamp = plain('tandem_head_timestamp_seconds', 'Unix time of the head.')
  const database = plain('tandem_database_bytes', 'Size of the data directory; 0 in memory.')
  const damaged = plain(
    'tandem_database_damaged_blocks',
    'Damaged blocks of the tables found since the start.',
  )
  return (health) => {
    info.set({ chain: health.chain, chain_id: health.chainId }, 1)
    pool.set({ state: 'pending' }, health.pending)
    pool.set({ state: 'queued' }, health.queued)
    head.set(health.head)
    headTimestamp.set(health.headTimestamp)
    database.set(health.databaseBytes ?? 0)
    damaged.set(health.storageDamage?.length ?? 0)
  }
}

/** Makes the page. Counting what the process itself does (event loop, heap, garbage) starts with it. */
export function createMetrics({ meter, load, chaos, health, sockets, overLimits }: MetricsParts): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  countCalls(meter, registers)
  showSockets(sockets, registers)
  if (load !== undefined) showLoad(load, registers)
  if (chaos !== undefined) showChaos(chaos, registers)
  showOverLimits(overLimits, registers)
  const show = health && showHealth(registers)
  const placeInCluster = showCluster(registers)
  const useOfUpstream = showUpstream(registers)
  return {
    contentType: registry.contentType,
    async text() {
      const seen = await health?.()
      if (seen !== undefined) show?.(seen)
      if (seen?.cluster !== undefined) placeInCluster(seen.cluster)
      if (seen?.upstream !== undefined) useOfUpstream(seen.upstream)
      return `${await registry.metrics()}\n${durationsText(meter)}`
    },
  }
}
