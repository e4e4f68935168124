/** Spans of a call that a follower passes on to the leader of its cluster. */
import { NodeSDK, tracing } from '@opentelemetry/sdk-node'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { newCluster, rpc } from '../support/cluster.ts'
import { natsServer } from '../support/nats-server.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

const exporter = new tracing.InMemorySpanExporter()
let sdk: NodeSDK
beforeAll(() => {
  vi.stubEnv('OTEL_LOGS_EXPORTER', 'none')
  vi.stubEnv('OTEL_METRICS_EXPORTER', 'none')
  sdk = new NodeSDK({ spanProcessors: [new tracing.SimpleSpanProcessor(exporter)], instrumentations: [] })
  sdk.start()
})
afterAll(() => sdk.shutdown())

describeWith(NATS_SERVER, 'a call that a follower passes on', () => {
  it('is one trace on both nodes', async () => {
    const server = await natsServer()
    const cluster = newCluster(server.url, { telemetry: true })
    const leader = await cluster.start({ role: 'leader' })
    const follower = await cluster.start({ role: 'follower' })
    const [from] = await rpc(leader, 'eth_accounts')
    exporter.reset()
    await rpc(follower, 'eth_sendTransaction', { from, to: from })
    const spans = exporter.getFinishedSpans()
    const named = (name: string) => spans.filter((span) => span.name === name)
    const [message] = named('cluster message')
    const asked = named('eth_sendTransaction').find(
      (span) => span.spanContext().spanId === message?.parentSpanContext?.spanId,
    )
    const answered = named('eth_sendTransaction').find(
      (span) => span.parentSpanContext?.spanId === message?.spanContext().spanId,
    )
    expect(asked?.parentSpanContext).toBeUndefined()
    expect(answered?.spanContext().traceId).toBe(asked?.spanContext().traceId)
    expect(named('execution')[0]?.spanContext().traceId).toBe(asked?.spanContext().traceId)
    await cluster.close()
    await server.remove()
  })
})
