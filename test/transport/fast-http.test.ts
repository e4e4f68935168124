import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/logger.ts'
import { NO_SCORING } from '../../src/transport/ban-check.ts'
import type { RpcExchange } from '../../src/transport/exchange.ts'
import { HttpServer } from '../../src/transport/http-server.ts'
import { Policy } from '../../src/transport/policy.ts'
import { type RawSocket, rawSocket, statuses } from '../hostile/raw-socket.ts'

const request = (body: string, ...fields: string[]) =>
  [
    'POST / HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    ...fields,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

/** The bodies of the replies that have come as a whole. */
function bodies(received: string): string[] {
  const found: string[] = []
  let rest = received
  for (;;) {
    const length = /\r\ncontent-length: (\d+)/i.exec(rest)?.[1]
    const start = rest.indexOf('\r\n\r\n') + 4
    if (length === undefined || rest.length < start + Number(length)) return found
    found.push(rest.slice(start, start + Number(length)))
    rest = rest.slice(start + Number(length))
  }
}

const replies = (socket: RawSocket, count: number) =>
  socket.until((received) => bodies(received).length >= count).then(bodies)

/** A server whose replies begin with `fast:` or `node:`, by what has read the request. */
class Served {
  readonly policy: Policy
  /** Requests that wait for their reply. */
  readonly held: { exchange: RpcExchange; body: string }[] = []
  readonly firsts: string[] = []
  readonly errors: (string | undefined)[] = []
  readonly http: HttpServer
  banned = ''
  #port: Promise<number> | undefined
  #onHeld = () => {}

  constructor(headerTimeoutMs = 60_000, maxSockets = 100) {
    this.policy = new Policy({
      bindAddress: '127.0.0.1',
      hosts: [],
      cors: ['https://page.example'],
      trustedProxies: [],
      maxBodyBytes: 1_000_000,
      maxBufferedBytes: 100_000,
      transferTimeoutMs: 60_000,
      scoring: {
        ...NO_SCORING,
        isBanned: (address) => address === this.banned,
        recordEvent: (address) => this.firsts.push(address),
      },
      entitlements: new Set(),
    })
    this.http = new HttpServer({
      headerTimeoutMs,
      transferTimeoutMs: 60_000,
      maxSockets,
      onRequest(incoming, response) {
        let text = ''
        incoming.on('data', (chunk) => {
          text += chunk
        })
        incoming.on('end', () => {
          const body = `node:${incoming.method}:${text}`
          response.writeHead(200, { 'Content-Length': body.length }).end(body)
        })
      },
      onUpgrade() {},
      onClientError: (error, socket) => {
        this.errors.push(error.code)
        socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n')
      },
      fast: {
        policy: this.policy,
        isRpcPath: (path) => path !== '/page',
        answer: (exchange, body) => {
          if (!body.startsWith('hold')) return this.reply(exchange, body)
          this.held.push({ exchange, body })
          this.#onHeld()
        },
      },
      logger: silentLogger,
    })
  }

  reply(exchange: RpcExchange, body: string): void {
    exchange.send(200, {}, `fast:${body}`, Buffer.byteLength(body) + 5)
  }

  /** Resolves when a request waits. */
  async holding(): Promise<RpcExchange> {
    if (this.held.length === 0) {
      await new Promise<void>((resolve) => {
        this.#onHeld = resolve
      })
    }
    return (this.held[0] as { exchange: RpcExchange }).exchange
  }

  release(): void {
    for (const { exchange, body } of this.held.splice(0)) this.reply(exchange, body)
  }

  async open(): Promise<RawSocket> {
    this.#port ??= this.http.listen('127.0.0.1', 0)
    return rawSocket(await this.#port)
  }

  async close(): Promise<void> {
    const closed = this.http.close()
    this.http.terminate()
    await closed
  }
}

describe('a connection of the fast path', () => {
  let served: Served
  const open = (headerTimeoutMs?: number, maxSockets?: number) => {
    served = new Served(headerTimeoutMs, maxSockets)
    return served.open()
  }
  afterEach(() => served.close())

  it('answers one request after another without node:http', async () => {
    const socket = await open()
    for (const [i, body] of ['a', 'é', 'x'.repeat(20_000)].entries()) {
      socket.send(request(body))
      const all = await replies(socket, i + 1)
      expect(Buffer.from(all[i] as string, 'latin1').toString()).toBe(`fast:${body}`)
    }
    expect(served.firsts).toEqual(['127.0.0.1'])
  })

  it('replies with the fields that node:http sends', async () => {
    const socket = await open()
    socket.send(request('a', 'X-Request-Id: mine', 'Origin: https://page.example'))
    const text = await socket.until((received) => bodies(received).length === 1)
    expect(text.replace(/Date: .* GMT/, 'Date: now')).toBe(
      [
        'HTTP/1.1 200 OK',
        'X-Request-Id: mine',
        'Access-Control-Allow-Origin: https://page.example',
        'Access-Control-Expose-Headers: Retry-After, X-Request-Id, X-Tandem-Chaos',
        'Vary: Origin',
        'Content-Type: application/json',
        'Content-Length: 6',
        'Date: now',
        'Connection: keep-alive',
        'Keep-Alive: timeout=65',
        '',
        'fast:a',
      ].join('\r\n'),
    )
    const date = new Date(/Date: (.*)\r/.exec(text)?.[1] as string)
    expect(date.getTime()).toBeGreaterThan(Date.now() - 60_000)
    expect(date.getTime()).toBeLessThanOrEqual(Date.now())
  })

  it('publishes each request to the diagnostics channels of the fast path', async () => {
    const published: unknown[] = []
    const note = (message: unknown, name: string | symbol) => published.push([name, message])
    const names = ['tandem.http.request.start', 'tandem.http.response.finish']
    for (const name of names) subscribe(name, note)
    try {
      const socket = await open()
      socket.send(request('a', 'X-Request-Id: mine').replace('POST /', 'POST /path?a=1'))
      await replies(socket, 1)
    } finally {
      for (const name of names) unsubscribe(name, note)
    }
    const message = {
      method: 'POST',
      url: '/path?a=1',
      headers: {
        host: 'localhost',
        'content-type': 'application/json',
        'x-request-id': 'mine',
        'content-length': '1',
      },
      requestId: 'mine',
      remote: '127.0.0.1',
      socket: expect.any(Socket),
    }
    expect(published).toEqual([
      [names[0], message],
      [names[1], { ...message, status: 200 }],
    ])
  })

  it.each([
    ['of another verb', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', 'node:GET:'],
    ['to a page', request('b').replace('POST /', 'POST /page'), 'node:POST:b'],
    ['of another type', request('b').replace('application/json', 'text/plain'), 'node:POST:b'],
    ['from a foreign page', request('b', 'Origin: https://other.example'), 'node:POST:b'],
    ['to a foreign host', request('b').replace('localhost', 'other.example'), 'node:POST:b'],
    [
      'in chunks',
      request('1\r\nb\r\n0\r\n\r\n').replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked'),
      'node:POST:b',
    ],
    ['with another request after it', request('b') + request('c'), 'node:POST:b'],
  ])('is handed over with its first request %s, and stays with node:http', async (_, text, expected) => {
    const socket = await open()
    socket.send(request('a'))
    await replies(socket, 1)
    socket.send(text)
    const first = await replies(socket, 2)
    expect(first.slice(0, 2)).toEqual(['fast:a', expected])
    socket.send(request('d'))
    const all = await socket.until((received) => received.endsWith('node:POST:d'))
    expect(bodies(all).filter((body) => body.startsWith('fast'))).toEqual(['fast:a'])
  })

  it('is handed over with a request that arrives in parts, wherever it is split', async () => {
    const text = request('{"a":1}')
    await open()
    for (const end of [1, 20, text.indexOf('\r\n\r\n') + 2, text.length - 7, text.length - 1]) {
      const socket = await served.open()
      // Yields to the server, so that it reads the parts apart.
      socket.send(text.slice(0, end))
      await socket.drained()
      await new Promise(setImmediate)
      socket.send(text.slice(end))
      const [body] = await replies(socket, 1)
      expect(body).toMatch(/^(node:POST|fast):\{"a":1\}$/)
    }
  })

  it('answers requests in order that arrive while another one is answered', async () => {
    const socket = await open()
    socket.send(request('hold'))
    await served.holding()
    socket.send(request('b'))
    socket.send(request('c'))
    served.release()
    expect((await replies(socket, 3)).map((body) => body.slice(-1))).toEqual(['d', 'b', 'c'])
  })

  it('is ended after the reply while the server closes', async () => {
    const socket = await open()
    socket.send(request('hold'))
    await served.holding()
    const ended = socket.ended()
    served.policy.beginClosing()
    served.release()
    const text = await ended
    expect(bodies(text)).toEqual(['fast:hold'])
    expect(text).toContain('\r\nConnection: close\r\n')
  })

  it('leaves requests to node:http while the server closes, and those of banned addresses', async () => {
    const socket = await open()
    served.banned = '127.0.0.1'
    socket.send(request('a'))
    expect(await replies(socket, 1)).toEqual(['node:POST:a'])
    served.banned = ''
    served.policy.beginClosing()
    const other = await served.open()
    other.send(request('a'))
    expect(await replies(other, 1)).toEqual(['node:POST:a'])
  })

  it('is closed to make room for a new one when it is idle, but not before its first request or during an answer', async () => {
    const idle = await open(60_000, 3)
    idle.send(request('a'))
    await replies(idle, 1)
    const busy = await served.open()
    busy.send(request('hold'))
    await served.holding()
    const fresh = await served.open()
    await (await served.open()).ended()
    await idle.ended()
    expect(served.http.droppedCount).toBe(1)
    served.release()
    expect(await replies(busy, 1)).toEqual(['fast:hold'])
    fresh.send(request('a'))
    expect(await replies(fresh, 1)).toEqual(['fast:a'])
  })

  it('is refused when it sends nothing for too long', async () => {
    const socket = await open(50)
    expect(statuses(await socket.ended())).toEqual([408])
    expect(served.errors).toEqual(['ERR_HTTP_REQUEST_TIMEOUT'])
  })

  it('is closed by node:http when a request that was handed over never ends', async () => {
    const socket = await open(50)
    socket.send('GET / HT')
    expect(statuses(await socket.ended())).toEqual([408])
    expect(served.errors).toEqual(['ERR_HTTP_REQUEST_TIMEOUT'])
  })

  it('takes a large body from the budget until it is answered or its caller disconnects', async () => {
    const socket = await open()
    socket.send(request(`hold${'x'.repeat(20_000)}`))
    const exchange = await served.holding()
    served.policy.budget.take(90_000)
    expect(served.policy.budget.isSpent).toBe(true)
    served.policy.budget.give(90_000)
    const released = new Promise<void>((resolve) => exchange.hold(60_000, resolve))
    socket.close()
    await released
    expect(exchange.isGone).toBe(true)
    served.policy.budget.take(100_000)
    expect(served.policy.budget.isSpent).toBe(false)
  })

  it('sends a long reply in pieces, as fast as the caller reads', async () => {
    const socket = await open()
    socket.send(request('hold'))
    const exchange = await served.holding()
    let made = 0
    const piece = Buffer.alloc(1 << 20, 'a')
    const reply = {
      length: 32 << 20,
      *pieces() {
        for (made = 0; made < 32; ) {
          made++
          yield piece
        }
      },
    }
    socket.pause()
    const sent = new Promise<void>((resolve) => exchange.hold(60_000, resolve))
    exchange.send(200, {}, reply, reply.length)
    await new Promise((resolve) => setImmediate(resolve))
    expect(made).toBeLessThan(32)
    socket.resume()
    await sent
    expect(made).toBe(32)
    socket.send(request('after'))
    await socket.untilLast('fast:after')
  })
})
