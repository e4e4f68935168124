/** Traces whose text is long: limits, pieces, time slices. */
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node, serve } from '../../../src/index.ts'
import { openSession } from '../../../src/rpc/session.ts'
import { assemble } from '../../support/assembler.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
/** Runs until its gas is used up. */
const SPENDER = 'a: PUSH1 1 POP @a JUMP'

let node: Node
let small: Node
const ask =
  (asked: () => Node) =>
  (method: string, ...params: unknown[]) =>
    asked().request({ method, params }) as Promise<never>

beforeAll(async () => {
  node = await createNode({ minedReverts: 'hash' })
  small = await createNode({
    minedReverts: 'hash',
    maxTraceBytes: 100_000,
    maxTraceAnswer: 100_000,
    maxResponseBytes: 20_000,
  })
})
afterAll(() => Promise.all([node.close(), small.close()]))

describe('large traces', () => {
  const spend = { from: A, gas: '0xf4240', data: toHex(assemble(SPENDER)) }

  it('have their own limit, independent of the limit of replies', async () => {
    const tiny = ask(() => small)
    const sent = (await tiny('eth_sendTransaction', spend)) as Hex
    for (const tracer of ['rskTracer', 'structLogger', 'muxTracer']) {
      const tracerConfig = { structLogger: {} }
      await expect(tiny('debug_traceTransaction', sent, { tracer, tracerConfig })).rejects.toMatchObject({
        code: -32011,
        message: 'Trace size limit of 100000 bytes exceeded',
      })
    }
    const text = async (message: object) =>
      (await small.dispatcher.dispatchText(JSON.stringify(message), openSession('test'))) ?? ''
    const options = { tracer: 'structLogger', limit: 500 }
    const request = { jsonrpc: '2.0', id: 1, method: 'debug_traceTransaction', params: [sent, options] }
    const reply = await text(request)
    expect(reply.length).toBeGreaterThan(20_000)
    expect(JSON.parse(reply)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: await tiny('debug_traceTransaction', sent, options),
    })
    const batch = JSON.parse(
      await text([request, { ...request, id: 2 }, { ...request, id: 3 }, { ...request, id: 4 }]),
    )
    expect(batch[0]).toEqual(JSON.parse(reply))
    expect(batch[3]).toEqual({
      jsonrpc: '2.0',
      id: 4,
      error: { code: -32011, message: 'Trace answer limit of 100000 bytes exceeded' },
    })
  })

  it('are sent in pieces over every transport', async () => {
    const server = await serve(node, { port: 0 })
    const socket = new WebSocket(server.wsUrl)
    await once(socket, 'open')
    const request = { jsonrpc: '2.0', id: 1, method: 'debug_traceCall' }
    const steps = (limit: number) => {
      const options = { tracer: 'structLogger', limit }
      const call = { data: toHex(assemble(SPENDER)), gas: limit > 1000 ? '0x80000' : '0x20000' }
      return { ...request, params: [call, 'latest', options] }
    }
    const batch = [steps(700), { ...request, method: 'eth_chainId' }]
    for (const [message, length] of [
      [steps(700), 40_000],
      [batch, 40_000],
      // Long enough to be compressed.
      [steps(80_000), 5_000_000],
    ] as const) {
      const body = JSON.stringify(message)
      const whole = await node.dispatcher.dispatchText(body, openSession('test'))
      expect(whole?.length).toBeGreaterThan(length)
      const headers = { 'Content-Type': 'application/json' }
      const response = await fetch(server.url, { method: 'POST', headers, body })
      expect(response.headers.get('Content-Length')).toBe(String(whole?.length))
      expect((await response.text()) === whole).toBe(true)
      socket.send(body)
      const [data, isBinary] = await once(socket, 'message')
      expect(isBinary).toBe(false)
      expect(String(data) === whole).toBe(true)
    }
    socket.close()
    await server.close()
  })

  it('yield to the event loop', async () => {
    const sent = (await ask(() => node)('eth_sendTransaction', spend)) as Hex
    let yields = 0
    let running = true
    const count = () => {
      yields++
      if (running) setImmediate(count)
    }
    setImmediate(count)
    const options = { disableMemory: true, disableStack: true, disableStorage: true }
    const { structLogs } = (await ask(() => node)('debug_traceTransaction', sent, options)) as {
      structLogs: object[]
    }
    running = false
    expect(structLogs.length).toBeGreaterThan(200_000)
    expect(yields).toBeGreaterThan(5)
  })
})
