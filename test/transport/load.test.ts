/** How a busy node refuses calls, and that it goes on answering others. */
import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { type EchoNode, serveEcho } from './echo-node.ts'

const LOOP = `0x${'1'.repeat(40)}`
const BUSY = { code: -32002, message: 'The node is busy, try again in 1 s' }

/** A call that ends only when its time is up. */
const endless = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'eth_call',
  params: [{ to: LOOP }, 'latest', { [LOOP]: { code: '0x5b600056' } }],
})
const light = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_blockNumber', params: [] })

/** Resolves once so many heavy calls run. */
async function running({ node }: ServedNode, count: number): Promise<void> {
  while (node.dispatcher.load.figures.heavyRunning < count) await new Promise((turn) => setImmediate(turn))
}

describe('a busy node', () => {
  let served: ServedNode
  afterEach(() => served.close())

  it('refuses a heavy call at once with status, Retry-After and code, and answers light ones', async () => {
    served = await servedNode({ maxHeavy: 1, maxHeavyWaiting: 0, rpcTimeoutMs: 700, callGasCap: 0 })
    const first = served.post(JSON.stringify(endless(1)))
    await running(served, 1)
    const response = await fetch(served.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(endless(2)),
    })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 2, error: BUSY })
    expect(await served.call('eth_blockNumber')).toBe('0x0')
    expect((await first).body.error.code).toBe(-32011)
  })

  it('refuses a heavy call with only the code within a batch and over a WebSocket', async () => {
    served = await servedNode({ maxHeavy: 1, maxHeavyWaiting: 0, rpcTimeoutMs: 700, callGasCap: 0 })
    const first = served.post(JSON.stringify(endless(1)))
    await running(served, 1)
    const batch = await served.post(JSON.stringify([endless(2), light(3)]))
    expect(batch.status).toBe(200)
    expect(batch.body).toEqual([
      { jsonrpc: '2.0', id: 2, error: BUSY },
      { jsonrpc: '2.0', id: 3, result: '0x0' },
    ])
    const socket = new WebSocket(served.wsUrl)
    await new Promise((resolve) => socket.once('open', resolve))
    const answer = new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))))
    socket.send(JSON.stringify(endless(4)))
    expect(JSON.parse(await answer)).toEqual({ jsonrpc: '2.0', id: 4, error: BUSY })
    socket.terminate()
    await first
  })

  it('runs a waiting call when another has ended', async () => {
    served = await servedNode({
      maxHeavy: 1,
      maxHeavyWaiting: 2,
      methodTimeouts: { eth_call: 700 },
      callGasCap: 0,
    })
    const first = served.post(JSON.stringify(endless(1)))
    await running(served, 1)
    const estimate = served.call('eth_estimateGas', { from: LOOP, to: LOOP })
    await expect(estimate).resolves.toBe('0x5208')
    expect((await first).body.error.code).toBe(-32011)
  })

  it('refuses whole messages beyond the limit, except those about health', async () => {
    served = await servedNode({ maxPending: 1, rpcTimeoutMs: 700, callGasCap: 0 })
    const first = served.post(JSON.stringify(endless(1)))
    await running(served, 1)
    const refused = await served.post(JSON.stringify([light(2)]))
    expect([refused.status, refused.body]).toEqual([503, { jsonrpc: '2.0', id: null, error: BUSY }])
    expect((await served.post(JSON.stringify(light(7)))).body.id).toBe(7)
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200)
    await first
    expect(await served.call('eth_blockNumber')).toBe('0x0')
  })

  it('never refuses calls in process', async () => {
    served = await servedNode({ maxHeavy: 1, maxHeavyWaiting: 0, rpcTimeoutMs: 700, callGasCap: 0 })
    const first = served.post(JSON.stringify(endless(1)))
    await running(served, 1)
    const params = [{ from: LOOP, to: LOOP }]
    expect(await served.node.request({ method: 'eth_estimateGas', params })).toBe('0x5208')
    await first
  })
})

describe.each([true, false])('with fastHttp: %s', (fastHttp) => {
  describe('a busy transport', () => {
    let node: EchoNode
    afterEach(() => node.close())

    it('refuses a body while all bodies together exceed the budget, and accepts it once they are answered', async () => {
      node = await serveEcho({ fastHttp, maxBufferedBytes: 100_000 })
      const send = (body: string) =>
        fetch(node.server.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
      const held = send(`hold${'x'.repeat(80_000)}`)
      await node.holding
      const refused = await send('y'.repeat(60_000))
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await refused.json()).toEqual({ jsonrpc: '2.0', id: null, error: BUSY })
      expect(await (await send('small')).text()).toBe('echo:small')
      node.release()
      expect((await held).status).toBe(200)
      expect((await send('y'.repeat(60_000))).status).toBe(200)
    })

    // A body of 80,000 bytes takes several reads, which are left to node:http.
    it.each([30_000, 80_000])(
      'releases the bytes of a reply of %i bytes when its caller disconnects',
      async (size) => {
        node = await serveEcho({ fastHttp, maxBufferedBytes: 1.5 * size })
        const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
        const send = (text: string, signal?: AbortSignal) =>
          fetch(node.server.url, { ...init, body: text + 'x'.repeat(size), ...(signal && { signal }) })
        const controller = new AbortController()
        const left = send('hold', controller.signal).catch(() => {})
        await node.holding
        controller.abort()
        await left
        // Until the node has noticed: the page is asked for on a connection of its own.
        const open = async () => {
          const page = await (
            await fetch(`${node.server.url}/metrics`, { headers: { Connection: 'close' } })
          ).text()
          return Number(/^tandem_sockets\{kind="http"\} (\d+)/m.exec(page)?.[1])
        }
        while ((await open()) > 1) await new Promise((turn) => setImmediate(turn))
        node.release()
        expect((await send('y')).status).toBe(200)
        expect((await send('y')).status).toBe(200)
      },
    )

    it('closes connections beyond the limit, and an idle one to make room for the next', async () => {
      node = await serveEcho({ fastHttp, maxSockets: 1 })
      const connection = () =>
        new Promise<number | string>((resolve) => {
          const options = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
          const call = request(node.server.url, options, (response) => {
            response.resume().on('end', () => resolve(response.statusCode ?? 0))
          })
          call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
          call.end('x')
        })
      const idle = await fetch(node.server.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: 'x',
      })
      await idle.text()
      expect(await connection()).toMatch(/ECONNRESET|EPIPE/)
      while ((await connection()) !== 200);
    })
  })
})
