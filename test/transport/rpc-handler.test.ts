import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ServeOptions } from '../../src/options/options.ts'
import { type EchoNode, serveEcho } from './echo-node.ts'

let node: EchoNode

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer
  readonly agent?: Agent
}

/** Sends exactly these headers; the body in two pieces when its length is not given. */
function send({ method = 'POST', path = '/', headers = {}, body, agent }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: node.server.port,
        method,
        path,
        agent: agent ?? false,
        headers: { ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}), ...headers },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Writes bytes on a plain socket and collects what comes until the other side ends. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(node.server.port, '127.0.0.1', () => socket.write(text))
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.on('end', () => resolve(got))
    socket.on('error', reject)
  })
}

function expectRefusal(answer: Answer, status: number, code: number): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/json')
  expect(JSON.parse(answer.text)).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code, message: expect.any(String) },
  })
}

describe.each([true, false])('with fastHttp: %s', (fastHttp) => {
  async function restart(options: ServeOptions): Promise<void> {
    await node.close()
    node = await serveEcho({ fastHttp, ...options })
  }

  beforeEach(async () => {
    node = await serveEcho({ fastHttp })
  })
  afterEach(() => node.close())

  describe('a JSON-RPC POST', () => {
    it('reaches the dispatcher unchanged and is answered with 200', async () => {
      const answer = await send({ body: '[{"a":"é"}]' })
      expect(answer).toMatchObject({ status: 200, text: 'echo:[{"a":"é"}]' })
      expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '17' })
    })

    it('is answered on any path except the reserved ones', async () => {
      for (const path of ['/any/path', '/KEY', '/?x=1', '//', '/healthz/', 'http://localhost/x']) {
        expect((await send({ path, body: 'x' })).status, path).toBe(200)
      }
      for (const path of ['/healthz', '/readyz?x', '/metrics', '/openrpc.json']) {
        const answer = await send({ path, body: 'x' })
        expectRefusal(answer, 405, -32600)
        expect(answer.headers.allow).toBe('GET, HEAD')
      }
      expect(node.seen).toHaveLength(6)
    })

    it.each([
      'application/json',
      'application/json-rpc',
      'Application/JSON; charset=utf-8',
      'application/json ;x',
    ])('of type %s is accepted', async (type) => {
      expect((await send({ headers: { 'Content-Type': type }, body: 'x' })).status).toBe(200)
    })

    it.each(['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', ''])(
      'of type "%s" is refused with 415',
      async (type) => {
        expectRefusal(await send({ headers: { 'Content-Type': type }, body: 'x' }), 415, -32600)
        expect(node.seen).toEqual([])
      },
    )

    it('that is compressed is refused with 415', async () => {
      expectRefusal(await send({ headers: { 'Content-Encoding': 'gzip' }, body: 'x' }), 415, -32600)
    })

    it('is answered with 200 and an empty body when there is no reply', async () => {
      expect(await send({ body: 'silent' })).toMatchObject({ status: 200, text: '' })
    })

    it('without a body reaches the dispatcher', async () => {
      expect(await send()).toMatchObject({ status: 200, text: 'echo:' })
    })

    it('hides the details of an internal error', async () => {
      const answer = await send({ body: 'broken' })
      expectRefusal(answer, 500, -32603)
      expect(answer.text).not.toContain('secret')
    })

    it('keeps its connection for the next one', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      let sockets = 0
      agent.on('free', () => {
        sockets = Object.values(agent.sockets).flat().length + Object.values(agent.freeSockets).flat().length
      })
      const answers = await Promise.all(['a', 'b', 'c'].map((body) => send({ body, agent })))
      expect(answers.map(({ text }) => text)).toEqual(['echo:a', 'echo:b', 'echo:c'])
      expect(answers.every(({ headers }) => headers.connection === 'keep-alive')).toBe(true)
      expect(sockets).toBeLessThanOrEqual(1)
      agent.destroy()
    })

    it('answers pipelined requests in order, even when the first takes longer', async () => {
      const one = (body: string, end = '') =>
        `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${end}\r\n${body}`
      const answers = raw(one('hold') + one('quick', 'Connection: close\r\n'))
      await node.holding
      node.release()
      expect((await answers).match(/echo:[a-z]+/g)).toEqual(['echo:hold', 'echo:quick'])
    })
  })

  describe('the body limit', () => {
    beforeEach(() => restart({ maxBodyBytes: 1000 }))

    it('admits a body of exactly the limit, in bytes', async () => {
      expect((await send({ body: 'é'.repeat(500) })).status).toBe(200)
      expectRefusal(await send({ body: `${'é'.repeat(500)}x` }), 413, -32600)
    })

    it('applies to the announced length, and to the received bytes without one', async () => {
      const announced = await send({ body: 'x'.repeat(100_000) })
      expectRefusal(announced, 413, -32600)
      expect(JSON.parse(announced.text).error.message).toBe('Body too large: the limit is 1000 bytes')
      const chunked = await send({ headers: { 'Transfer-Encoding': 'chunked' }, body: 'x'.repeat(100_000) })
      expectRefusal(chunked, 413, -32600)
      expect(chunked.headers.connection).toBe('close')
      expect(node.seen).toEqual([])
    })

    it('is 5 MiB by default', async () => {
      await restart({})
      expect((await send({ body: Buffer.alloc(5_242_880, 120) })).status).toBe(200)
      expectRefusal(await send({ body: Buffer.alloc(5_242_881, 120) }), 413, -32600)
    })
  })

  describe('other requests', () => {
    it.each(['GET', 'PUT', 'DELETE', 'PATCH'])(
      '%s of the JSON-RPC address is refused with 405',
      async (method) => {
        const answer = await send({ method })
        expectRefusal(answer, 405, -32600)
        expect(answer.headers.allow).toBe('POST, OPTIONS')
      },
    )

    it.each(['/healthz', '/readyz', '/metrics', '/openrpc.json'])(
      'to write %s are refused with 405',
      async (path) => {
        for (const method of ['POST', 'PUT', 'DELETE']) {
          const answer = await send({ method, path })
          expectRefusal(answer, 405, -32600)
          expect(answer.headers.allow).toBe('GET, HEAD')
        }
      },
    )

    it('of a page that does not exist are refused with 404', async () => {
      expectRefusal(await send({ method: 'GET', path: '/nothing' }), 404, -32600)
      expectRefusal(await send({ method: 'GET', path: '/metrics/x' }), 404, -32600)
    })

    it('with a path that cannot be decoded are refused', async () => {
      expectRefusal(await send({ method: 'GET', path: '/%' }), 404, -32600)
    })

    it('get health and the OpenRPC document', async () => {
      for (const path of ['/healthz', '/readyz']) {
        expect(await send({ method: 'GET', path })).toMatchObject({ status: 200, text: '{"status":"ok"}' })
      }
      expect(await send({ method: 'HEAD', path: '/readyz' })).toMatchObject({ status: 200, text: '' })
      expect(JSON.parse((await send({ method: 'GET', path: '/openrpc.json' })).text)).toEqual({
        openrpc: '1.2.6',
      })
    })

    it('do not name the software', async () => {
      expect((await send({ method: 'GET' })).headers).not.toHaveProperty('x-powered-by')
    })

    it.each([
      'nonsense\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
      '\x16\x03\x01\x02\x00',
    ])('that are not HTTP get 400 and do not affect others: %j', async (text) => {
      expect(await raw(text)).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":-32600/)
      expect((await send({ body: 'x' })).status).toBe(200)
    })

    it('with too many header bytes get 431', async () => {
      expect(await raw(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 431/,
      )
    })

    it('that ask for an upgrade to another protocol are answered over HTTP/1.1', async () => {
      const answer = await raw(
        'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
          'HTTP2-Settings: AAMAAABk\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello' +
          'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nagain',
      )
      expect(answer.match(/echo:[a-z]+|HTTP\/1.1 \d+/g)).toEqual([
        'HTTP/1.1 200',
        'echo:hello',
        'HTTP/1.1 200',
        'echo:again',
      ])
    })

    it('that are aborted are ignored', async () => {
      await new Promise<void>((resolve) => {
        const socket = connect(node.server.port, '127.0.0.1', () => {
          socket.write(
            'POST / HTTP/1.1\r\nHost: a.localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\nabc',
            () => {
              socket.destroy()
              resolve()
            },
          )
        })
      })
      expect((await send({ body: 'x' })).status).toBe(200)
      expect(node.seen).toEqual(['x'])
    })
  })

  describe('Host and Origin', () => {
    it('refuse host names that are not allowed (DNS rebinding)', async () => {
      expect((await send({ headers: { Host: 'localhost:4444' }, body: 'x' })).status).toBe(200)
      expectRefusal(await send({ headers: { Host: 'evil.example' }, body: 'x' }), 403, -32001)
      expectRefusal(
        await send({ method: 'GET', path: '/healthz', headers: { Host: 'evil.example' } }),
        403,
        -32001,
      )
    })

    it('refuse foreign pages by default, and their preflights', async () => {
      const headers = { Origin: 'http://localhost:3000' }
      expectRefusal(await send({ headers, body: 'x' }), 403, -32001)
      const preflight = await send({ method: 'OPTIONS', headers })
      expectRefusal(preflight, 403, -32001)
      expect(preflight.headers).not.toHaveProperty('access-control-allow-origin')
      expect(node.seen).toEqual([])
    })

    it('accept a listed page', async () => {
      await restart({ cors: ['http://localhost:3000'] })
      const headers = { Origin: 'http://localhost:3000' }
      const preflight = await send({
        method: 'OPTIONS',
        headers: {
          ...headers,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'content-type,x-mine',
          'Access-Control-Request-Private-Network': 'true',
        },
      })
      expect(preflight.status).toBe(204)
      expect(preflight.headers).toMatchObject({
        'access-control-allow-origin': 'http://localhost:3000',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type,x-mine',
        'access-control-allow-private-network': 'true',
        vary: 'Origin',
      })
      expect((await send({ headers, body: 'x' })).headers['access-control-allow-origin']).toBe(
        'http://localhost:3000',
      )
      expectRefusal(await send({ headers: { Origin: 'http://other' }, body: 'x' }), 403, -32001)
    })

    it('accept every page with *', async () => {
      await restart({ cors: ['*'] })
      const answer = await send({ headers: { Origin: 'null' }, body: 'x' })
      expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': '*' } })
    })

    it('answer OPTIONS without an Origin', async () => {
      const answer = await send({ method: 'OPTIONS', path: '/any' })
      expect(answer).toMatchObject({ status: 204, headers: { allow: 'POST, OPTIONS' } })
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    })
  })
})
