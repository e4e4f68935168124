/** Health, readiness and figures over real sockets, and a dashboard that asks for figures that exist. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { ClusterHealth } from '../../src/replication/model.ts'
import type { Health } from '../../src/rpc/health.ts'
import { createMetrics } from '../../src/transport/metrics.ts'
import { faultProxy, reset } from '../support/fault-proxy.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { serveEcho } from './echo-node.ts'

let served: ServedNode | undefined
afterEach(async () => {
  await served?.close()
  served = undefined
})

async function get(url: string, path: string) {
  const response = await fetch(new URL(path, url))
  const text = await response.text()
  return { status: response.status, text, type: response.headers.get('content-type') }
}

/** The value of one line of figures. */
function figure(text: string, line: string): number | undefined {
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length))
}

/** The queries of a dashboard of `docs/dashboards`. */
function queriesOf(name: string): string[] {
  const file = new URL(`../../docs/dashboards/${name}.json`, import.meta.url)
  const dashboard = JSON.parse(readFileSync(file, 'utf8'))
  return dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  )
}

describe('health and readiness', () => {
  it('report that the node is live, and its head', async () => {
    served = await servedNode()
    await served.call('evm_mine')
    expect(await get(served.url, '/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}' })
    expect(await get(served.url, '/readyz')).toMatchObject({ status: 200, text: '{"status":"ok","head":1}' })
  })

  it('distinguish a closed or busy node from a dead one', async () => {
    served = await servedNode({ maxPending: 1 })
    const { load } = served.node.dispatcher
    load.enter()
    expect(await get(served.url, '/readyz')).toMatchObject({
      status: 503,
      text: '{"status":"busy","head":0}',
    })
    load.leave()
    expect((await get(served.url, '/readyz')).status).toBe(200)
    await served.node.close()
    expect(await get(served.url, '/readyz')).toMatchObject({ status: 503, text: '{"status":"closed"}' })
    expect((await get(served.url, '/healthz')).status).toBe(200)
  })
})

describe('metrics', () => {
  it('show the upstream requests of a fork, its budget, and the readiness of its upstream', async () => {
    const upstream = await servedNode()
    const proxy = await faultProxy(upstream.url)
    proxy.push(reset)
    served = await servedNode({
      fork: `${new URL(proxy.url).origin}/secret?key=secret`,
      forkCache: false,
      forkCallsPerDay: 1000,
    })
    const { hash } = served.node.engine.queries.head()
    expect(JSON.parse((await get(served.url, '/readyz')).text)).toEqual({
      status: 'ok',
      head: 0,
      fork: { upstream: new URL(proxy.url).origin, chainId: 33, block: 0, hash },
    })
    const { text } = await get(served.url, '/metrics')
    expect(figure(text, 'tandem_upstream_failures_total')).toBe(1)
    expect(figure(text, 'tandem_upstream_seconds_total')).toBeGreaterThan(0)
    const hits = figure(text, 'tandem_upstream_cache_hits_total')
    expect(hits).toBeGreaterThanOrEqual(0)
    expect(figure(text, 'tandem_upstream_requests_total')).toBeGreaterThan(1)
    const calls = figure(text, 'tandem_upstream_calls_total')
    expect(calls).toBeGreaterThan(0)
    expect(figure(text, 'tandem_upstream_calls_today')).toBe(calls)
    expect(figure(text, 'tandem_upstream_calls_per_day')).toBe(1000)
    expect(figure((await get(upstream.url, '/metrics')).text, 'tandem_upstream_calls_total')).toBeUndefined()
    await proxy.close()
    await upstream.close()
  })

  it('count calls, errors and time by method, and show chain, pool, sockets and process', async () => {
    served = await servedNode({ mining: 'manual' })
    const [from] = await served.call('eth_accounts')
    await served.call('eth_sendTransaction', { from, to: from, value: '0x1' })
    await served.call('eth_sendTransaction', { from, to: from, value: '0x1', nonce: '0x5' })
    await served.reply('eth_getBalance', [])
    for (const name of ['made_up', 'eth_x"y\n', '__proto__']) await served.reply(name)
    const { status, text, type } = await get(served.url, '/metrics')
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    expect(figure(text, 'tandem_calls_total{method="eth_sendTransaction",key=""}')).toBe(2)
    expect(figure(text, 'tandem_calls_total{method="unknown",key=""}')).toBe(3)
    expect(figure(text, 'tandem_call_errors_total{method="eth_getBalance",key="",code="-32602"}')).toBe(1)
    expect(figure(text, 'tandem_call_errors_total{method="unknown",key="",code="-32601"}')).toBe(3)
    const durations = 'tandem_call_duration_seconds'
    expect(figure(text, `${durations}_count{method="eth_sendTransaction",key=""}`)).toBe(2)
    expect(figure(text, `${durations}_bucket{method="eth_sendTransaction",key="",le="+Inf"}`)).toBe(2)
    expect(figure(text, `${durations}_sum{method="eth_sendTransaction",key=""}`)).toBeGreaterThan(0)
    expect(figure(text, 'tandem_pool_transactions{state="pending"}')).toBe(1)
    expect(figure(text, 'tandem_pool_transactions{state="queued"}')).toBe(1)
    expect(figure(text, 'tandem_head_height')).toBe(0)
    expect(figure(text, 'tandem_chain_info{chain="regtest",chain_id="33"}')).toBe(1)
    expect(figure(text, 'tandem_sockets{kind="http"}')).toBeGreaterThan(0)
    expect(figure(text, 'tandem_messages_pending')).toBe(0)
    expect(figure(text, 'nodejs_eventloop_lag_mean_seconds')).toBeDefined()
    expect(text).not.toMatch(/made_up|eth_x/)
  })

  it('report the size of the data directory', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'figures-'))
    served = await servedNode({ dataDir })
    const { text } = await get(served.url, '/metrics')
    expect(figure(text, 'tandem_database_bytes')).toBeGreaterThan(1000)
    await served.close()
    rmSync(dataDir, { recursive: true })
  })

  it('are served on a port of their own with metricsPort, without other pages', async () => {
    served = await servedNode({}, { metricsPort: 0 })
    const own = served.server.metricsUrl ?? ''
    expect((await get(own, '/metrics')).text).toContain('tandem_head_height 0')
    expect((await get(own, '/readyz')).status).toBe(200)
    expect((await get(own, '/openrpc.json')).status).toBe(404)
    expect((await fetch(own, { method: 'POST', body: '{}' })).status).toBe(405)
    expect((await get(served.url, '/metrics')).status).toBe(404)
    expect((await get(served.url, '/healthz')).status).toBe(200)
  })

  it('are hidden without a key in the hosted profile', async () => {
    served = await servedNode({ profile: 'hosted' }, { unsafeOpen: true })
    expect((await get(served.url, '/metrics')).status).toBe(404)
    expect((await get(served.url, '/readyz')).status).toBe(200)
  })

  it('are served for a dispatcher without a chain', async () => {
    const echo = await serveEcho()
    expect((await get(echo.server.url, '/readyz')).text).toBe('{"status":"ok"}')
    expect((await get(echo.server.url, '/metrics')).text).toContain('tandem_sockets{kind="websocket"} 0')
    await echo.close()
  })

  it('include every metric that the dashboard queries', async () => {
    served = await servedNode()
    await served.reply('eth_getBalance', [])
    const { text } = await get(served.url, '/metrics')
    const names = new Set(text.split('\n').flatMap((line) => /^(?:# TYPE )?(\w+)[{ ]/.exec(line)?.[1] ?? []))
    const queries = queriesOf('tandem')
    expect(queries.length).toBeGreaterThan(10)
    const asked = queries.flatMap((query) => query.match(/\b(?:tandem|nodejs|process)_\w+/g) ?? [])
    for (const name of asked) expect(names, name).toContain(name)
    expect(asked).toContain('tandem_head_height')
  })

  it('include every metric of forks and clusters that their dashboard queries', async () => {
    const upstream = await servedNode()
    served = await servedNode({ fork: [upstream.url], forkCache: false })
    const { node } = served
    const figures = { elections: 0, forwarded: 0, unanswered: 0 }
    const cluster = { role: 'leader', term: 1, lag: 0, isLate: false, figures } as unknown as ClusterHealth
    const metrics = createMetrics({
      meter: node.dispatcher.meter(),
      load: node.dispatcher.load,
      chaos: node.dispatcher.chaos,
      health: async () => ({ ...((await node.health()) as Health), cluster }),
      sockets: () => ({ http: 0, websocket: 0, dropped: 0 }),
      overLimits: new Map(),
    })
    const text = await metrics.text()
    const names = new Set(text.split('\n').flatMap((line) => /^# TYPE (\w+) /.exec(line)?.[1] ?? []))
    const asked = queriesOf('forks-and-clusters').flatMap((query) => query.match(/\btandem_\w+/g) ?? [])
    for (const name of asked) expect(names, name).toContain(name)
    expect(new Set(asked).size).toBeGreaterThan(12)
    await upstream.close()
  })
})
