/** Traces of the command, as a collector gets them: from the header of a request down to frames of the EVM and to the upstream. */
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type RunningCommand, startCommand } from '../support/command.ts'
import { type CollectedSpan, otlpCollector } from '../support/otlp-collector.ts'

const ACCOUNT = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const OUTER = `0x${'aa'.repeat(20)}`
const INNER = `0x${'bb'.repeat(20)}`
/** Passes its call data to the console, then calls the inner contract. */
const OUTER_CODE = `0x365f5f375f5f365f5f73000000000000000000636f6e736f6c652e6c6f675af1505f5f5f5f5f73${INNER.slice(2)}5af100`
/** Writes to its storage. */
const INNER_CODE = '0x60015f5500'
const LOG = new Interface(['function log(string)']).encodeFunctionData('log', ['hello'])

let counted = 0
/** A caller's header, and the ids in it. */
function traceparent() {
  counted++
  const traceId = counted.toString(16).padStart(32, 'a')
  const spanId = counted.toString(16).padStart(16, 'b')
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } }
}

async function post(
  url: string,
  method: string,
  params: readonly unknown[],
  headers: Record<string, string>,
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as { result?: unknown; error?: { code: number } }
}

async function overWebSocket(url: string, headers: Record<string, string>): Promise<void> {
  const socket = new WebSocket(url, { headers })
  await new Promise((resolve) => socket.once('open', resolve))
  for (const id of [1, 2]) {
    const answered = new Promise((resolve) => socket.once('message', resolve))
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_blockNumber', params: [] }))
    await answered
  }
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.close()
  await closed
}

const calls = {
  read: traceparent(),
  fast: traceparent(),
  sent: traceparent(),
  failed: traceparent(),
  socket: traceparent(),
  unsampled: traceparent(),
  forked: traceparent(),
}

let collector: Awaited<ReturnType<typeof otlpCollector>>
beforeAll(async () => {
  collector = await otlpCollector()
  const env = collector.environment
  const node = await startCommand(['--memory', '--telemetry'], { env })
  const fork = await startCommand(['--fork', node.url, '--no-fork-cache', '--telemetry'], {
    env: { ...env, OTEL_SERVICE_NAME: 'fork' },
  })
  await drive(node, fork)
  // What has not been sent is sent before the process ends.
  expect(await fork.end('SIGTERM')).toBe(0)
  expect(await node.end('SIGTERM')).toBe(0)
})
afterAll(() => collector.close())

async function drive(node: RunningCommand, fork: RunningCommand): Promise<void> {
  const { url } = node
  await post(url, 'hardhat_setCode', [OUTER, OUTER_CODE], {})
  await post(url, 'hardhat_setCode', [INNER, INNER_CODE], {})
  const message = { from: ACCOUNT, to: OUTER, data: LOG, gas: '0x100000' }
  await post(url, 'eth_call', [message], calls.read.headers)
  await post(url, 'eth_chainId', [], calls.fast.headers)
  await post(url, 'eth_sendTransaction', [message], calls.sent.headers)
  await post(url, 'anvil_nothing', [], calls.failed.headers)
  await overWebSocket(node.wsUrl, calls.socket.headers)
  const { traceparent: sampled } = calls.unsampled.headers
  await post(url, 'eth_call', [message], { traceparent: sampled.replace(/01$/, '00') })
  await post(fork.url, 'eth_call', [message], calls.forked.headers)
}

/** The spans of a trace by name, each with the name of its parent. */
function tree(traceId: string, service = 'tandem'): string[] {
  const spans = collector.trace(traceId).filter((span) => span.service === service)
  const names = new Map(spans.map((span) => [span.spanId, span.name]))
  return spans.map(({ name, parentSpanId = '' }) => `${names.get(parentSpanId) ?? parentSpanId} → ${name}`)
}

const only = (traceId: string, name: string): CollectedSpan => {
  const found = collector.trace(traceId).filter((span) => span.name === name)
  expect(found, name).toHaveLength(1)
  return found[0] as CollectedSpan
}

describe('a trace', () => {
  it('begins in the header of a request and ends in the frames of the EVM', () => {
    const { traceId, spanId } = calls.read
    expect(tree(traceId).sort()).toEqual([
      'CALL → CALL',
      `${spanId} → http message`,
      'eth_call → CALL',
      'http message → eth_call',
    ])
    const message = only(traceId, 'http message')
    expect(message.kind).toBe(2)
    expect(message.attributes).toMatchObject({ 'rpc.system': 'jsonrpc', 'client.address': '127.0.0.1' })
    const [outer] = collector.trace(traceId).filter(({ attributes }) => attributes['evm.to'] === OUTER)
    expect(outer?.attributes).toMatchObject({ 'evm.from': ACCOUNT, 'evm.selector': LOG.slice(0, 10) })
    expect(outer?.events).toEqual([{ name: 'console.log', attributes: { text: 'hello' } }])
    for (const { startTimeUnixNano, endTimeUnixNano } of collector.trace(traceId)) {
      expect(BigInt(startTimeUnixNano)).toBeLessThanOrEqual(BigInt(endTimeUnixNano))
    }
  })

  it('has the spans of plain calls', () => {
    expect(tree(calls.fast.traceId).sort()).toEqual([
      `${calls.fast.spanId} → http message`,
      'http message → eth_chainId',
    ])
  })

  it('of a transaction shows its time in the queue and its execution', () => {
    const { traceId, spanId } = calls.sent
    expect(new Set(tree(traceId))).toEqual(
      new Set([
        `${spanId} → http message`,
        'http message → eth_sendTransaction',
        'eth_sendTransaction → queue',
        'eth_sendTransaction → execution',
        'execution → CALL',
        'CALL → CALL',
      ]),
    )
  })

  it('says which call failed, and holds what was logged during it', () => {
    const { traceId } = calls.failed
    const { attributes, status } = only(traceId, 'unknown')
    expect(attributes).toMatchObject({ 'rpc.jsonrpc.error_code': -32601 })
    expect(status.code).toBe(2)
    const [record] = collector.logs.filter((log) => log.traceId === traceId)
    expect(record?.severityText).toBe('WARN')
    expect(record?.body.stringValue).toContain('--preset anvil')
    expect(record?.attributes).toEqual({ method: 'anvil_nothing' })
  })

  it('goes on over all messages of a WebSocket', () => {
    const { traceId, spanId } = calls.socket
    expect(tree(traceId).sort()).toEqual([
      `${spanId} → ws message`,
      `${spanId} → ws message`,
      'ws message → eth_blockNumber',
      'ws message → eth_blockNumber',
    ])
  })

  it('is not recorded where the caller does not sample it', () => {
    expect(collector.trace(calls.unsampled.traceId)).toEqual([])
  })

  it('goes on in the upstream of a fork', () => {
    const { traceId, spanId } = calls.forked
    const requests = collector.trace(traceId).filter((span) => span.name === 'upstream request')
    expect(requests.length).toBeGreaterThan(0)
    expect(tree(traceId, 'fork')).toContain(`${spanId} → http message`)
    expect(tree(traceId, 'fork')).toContain('eth_call → upstream request')
    const ids = requests.map((request) => request.spanId)
    const upstream = collector.trace(traceId).filter((span) => span.service === 'tandem')
    const messages = upstream.filter((span) => span.name === 'http message')
    // What is still being fetched as the fork ends has no span.
    expect(messages.map(({ parentSpanId }) => parentSpanId)).toEqual(expect.arrayContaining(ids))
    expect(requests[0]?.kind).toBe(3)
  })
})
