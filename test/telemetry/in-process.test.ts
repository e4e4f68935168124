/** Spans of a node in process, by the SDK that the process has registered. */
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { NodeSDK, tracing } from '@opentelemetry/sdk-node'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'

const CONTRACT = `0x${'cc'.repeat(20)}`
/** Calls an account without code as often as the call data says. */
const LOOP = '0x5f355b80156019575f5f5f5f5f60dd5af150600190036002565b00'
/** Reverts with nothing. */
const REVERT = '0x5f5ffd'

const exporter = new tracing.InMemorySpanExporter()
let sdk: NodeSDK
beforeAll(() => {
  vi.stubEnv('OTEL_LOGS_EXPORTER', 'none')
  vi.stubEnv('OTEL_METRICS_EXPORTER', 'none')
  sdk = new NodeSDK({ spanProcessors: [new tracing.SimpleSpanProcessor(exporter)], instrumentations: [] })
  sdk.start()
})
afterAll(() => sdk.shutdown())
afterEach(() => exporter.reset())

/** Calls a node within a span; the spans that ended by then. */
async function traced(options: NodeOptions, run: (node: Node) => Promise<unknown>) {
  const node = await createNode(options)
  await trace.getTracer('test').startActiveSpan('test', async (span) => {
    await run(node).catch(() => {})
    span.end()
  })
  await node.close()
  return exporter.getFinishedSpans()
}

const call = (node: Node, code: string, data = '0x') =>
  node.request({
    method: 'eth_call',
    params: [{ to: CONTRACT, data, gas: '0x600000' }, 'latest', { [CONTRACT]: { code } }],
  })

describe('spans in process', () => {
  it('are children of the active one', async () => {
    const spans = await traced({ telemetry: true }, (node) => call(node, '0x00'))
    expect(spans.map(({ name }) => name)).toEqual(['CALL', 'eth_call', 'test'])
    const [frame, method, test] = spans
    expect(frame?.parentSpanContext?.spanId).toBe(method?.spanContext().spanId)
    expect(method?.parentSpanContext?.spanId).toBe(test?.spanContext().spanId)
  })

  it('are not made without the option', async () => {
    const spans = await traced({}, (node) => call(node, '0x00'))
    expect(spans.map(({ name }) => name)).toEqual(['test'])
  })

  it('say what failed, in the call and in the frame', async () => {
    const [frame, method] = await traced({ telemetry: true }, (node) => call(node, REVERT))
    expect(frame?.attributes).toMatchObject({
      'evm.to': CONTRACT,
      'evm.failure': expect.stringContaining('revert'),
    })
    expect(frame?.status.code).toBe(SpanStatusCode.ERROR)
    expect(method?.attributes['rpc.method']).toBe('eth_call')
    expect(method?.status.code).toBe(SpanStatusCode.ERROR)
  })

  it('are at most 1000 for the frames of one run', async () => {
    const calls = `0x${(1200).toString(16).padStart(64, '0')}`
    const spans = await traced({ telemetry: true }, (node) => call(node, LOOP, calls))
    expect(spans.filter(({ name }) => name === 'CALL')).toHaveLength(1000)
    const outer = spans.find(({ attributes }) => attributes['evm.to'] === CONTRACT)
    expect(outer?.attributes['evm.frames_without_span']).toBe(201)
  })

  it('are none for the many runs of an estimate', async () => {
    const estimate = (node: Node) => node.request({ method: 'eth_estimateGas', params: [{ to: CONTRACT }] })
    const spans = await traced({ telemetry: true }, estimate)
    expect(spans.map(({ name }) => name)).toEqual(['eth_estimateGas', 'test'])
  })

  it('go with coverage and the gas profile', async () => {
    const options = { telemetry: true, coverage: ['transactions'] } as const
    const spans = await traced(options, async (node) => {
      await node.request({ method: 'evm_startGasProfile' })
      await node.request({ method: 'hardhat_setCode', params: [CONTRACT, '0x00'] })
      const [from] = (await node.request({ method: 'eth_accounts' })) as string[]
      await node.request({ method: 'eth_sendTransaction', params: [{ from, to: CONTRACT }] })
      await node.request({ method: 'evm_gasProfile' })
    })
    expect(spans.some(({ name }) => name === 'CALL')).toBe(true)
  })
})
