import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createByteBudget } from '../../src/transport/byte-budget.ts'
import { createHostCheck } from '../../src/transport/host-check.ts'
import { createHttpServer, type HttpServer } from '../../src/transport/http-server.ts'
import type { RpcExchange } from '../../src/transport/rpc-exchange.ts'
import { type RawSocket, rawSocket, statuses } from '../hostile/raw-socket.ts'
import { serveEcho } from './echo-node.ts'

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

/** A server whose replies begin with `plain:` or `node:`, by what has read the request. */
class Served {
  readonly budget = createByteBudget(100_000)
  /** Requests that wait for their reply. */
  readonly held: { exchange: RpcExchange; body: string }[] = []
  readonly firsts: string[] = []
  readonly errors: (string | undefined)[] = []
  readonly http: HttpServer
  banned = ''
  isClosing = false
  readonly #sockets: RawSocket[] = []
  #onHeld = () => {}

  constructor(headerTimeoutMs = 60_000) {
    this.http = createHttpServer(
      undefined,
      { headerTimeoutMs, transferTimeoutMs: 60_000 },
      (incoming, response) => {
        let text = ''
        incoming.on('data', (chunk) => {
          text += chunk
        })
        incoming.on('end', () => {
          const body = `node:${incoming.method}:${text}`
          response.writeHead(200, { 'Content-Length': body.length }).end(body)
        })
      },
      {
        check: createHostCheck({ bindAddress: '127.0.0.1', hosts: [], cors: ['https://page.example'] }),
        remoteAddressOf: ({ socket }) => String(socket.remoteAddress),
        maxBodyBytes: 1_000_000,
        budget: this.budget,
        isRpcPath: (path) => path !== '/page',
        isBanned: (address) => address === this.banned,
        isClosing: () => this.isClosing,
        onFirstRequest: (_, address) => this.firsts.push(address),
        answer: (exchange, body) => {
          if (!body.startsWith('hold')) return this.reply(exchange, body)
          this.held.push({ exchange, body })
          this.#onHeld()
        },
      },
    )
    this.http.server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      this.errors.push(error.code)
      socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n')
    })
  }

  reply(exchange: RpcExchange, body: string): void {
    exchange.send(200, {}, `plain:${body}`, Buffer.byteLength(body) + 6)
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
    const { server } = this.http
    if (!server.listening) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    }
    const socket = await rawSocket((server.address() as AddressInfo).port)
    this.#sockets.push(socket)
    return socket
  }

  async close(): Promise<void> {
    const { server } = this.http
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    this.http.closeAll()
    await closed
  }
}

describe('a plain connection', () => {
  let served: Served
  const open = (headerTimeoutMs?: number) => {
    served = new Served(headerTimeoutMs)
    return served.open()
  }
  afterEach(() => served.close())

  it('answers one request after another without node:http', async () => {
    const socket = await open()
    for (const [i, body] of ['a', 'é', 'x'.repeat(20_000)].entries()) {
      socket.send(request(body))
      const all = await replies(socket, i + 1)
      expect(Buffer.from(all[i] as string, 'latin1').toString()).toBe(`plain:${body}`)
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
        'Access-Control-Expose-Headers: Retry-After, X-Request-Id',
        'Vary: Origin',
        'Content-Type: application/json',
        'Content-Length: 7',
        'Date: now',
        'Connection: keep-alive',
        'Keep-Alive: timeout=65',
        '',
        'plain:a',
      ].join('\r\n'),
    )
    const date = new Date(/Date: (.*)\r/.exec(text)?.[1] as string)
    expect(date.getTime()).toBeGreaterThan(Date.now() - 60_000)
    expect(date.getTime()).toBeLessThanOrEqual(Date.now())
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
    ['with another behind it', request('b') + request('c'), 'node:POST:b'],
  ])('is handed over with its first request %s, and stays with node:http', async (_, text, expected) => {
    const socket = await open()
    socket.send(request('a'))
    await replies(socket, 1)
    socket.send(text)
    const first = await replies(socket, 2)
    expect(first.slice(0, 2)).toEqual(['plain:a', expected])
    socket.send(request('d'))
    const all = await socket.until((received) => received.endsWith('node:POST:d'))
    expect(bodies(all).filter((body) => body.startsWith('plain'))).toEqual(['plain:a'])
  })

  it('is handed over with a request that arrives in parts, wherever it is divided', async () => {
    const text = request('{"a":1}')
    for (const end of [1, 20, text.indexOf('\r\n\r\n') + 2, text.length - 7, text.length - 1]) {
      const socket = served === undefined ? await open() : await served.open()
      // Yields to the server, so that it reads the parts apart.
      socket.send(text.slice(0, end))
      await socket.drained()
      await new Promise((resolve) => served.http.server.getConnections(resolve))
      socket.send(text.slice(end))
      const [body] = await replies(socket, 1)
      expect(body).toMatch(/^(node:POST|plain):\{"a":1\}$/)
    }
  })

  it('answers requests that arrive while another is answered after it, in order', async () => {
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
    served.isClosing = true
    served.release()
    const text = await ended
    expect(bodies(text)).toEqual(['plain:hold'])
    expect(text).toContain('\r\nConnection: close\r\n')
  })

  it('leaves requests to node:http while the server closes, and those of banned addresses', async () => {
    const socket = await open()
    served.banned = '127.0.0.1'
    socket.send(request('a'))
    expect(await replies(socket, 1)).toEqual(['node:POST:a'])
    served.banned = ''
    served.isClosing = true
    const other = await served.open()
    other.send(request('a'))
    expect(await replies(other, 1)).toEqual(['node:POST:a'])
  })

  it('is destroyed when idle ones are to be closed; kept while it is answered, and before its first request', async () => {
    const idle = await open()
    idle.send(request('a'))
    await replies(idle, 1)
    const busy = await served.open()
    busy.send(request('hold'))
    await served.holding()
    const fresh = await served.open()
    served.http.closeIdle()
    await idle.ended()
    served.release()
    expect(await replies(busy, 1)).toEqual(['plain:hold'])
    fresh.send(request('a'))
    expect(await replies(fresh, 1)).toEqual(['plain:a'])
  })

  it('is refused when it sends nothing for too long', async () => {
    const socket = await open(50)
    expect(statuses(await socket.ended())).toEqual([408])
    expect(served.errors).toEqual(['ERR_HTTP_REQUEST_TIMEOUT'])
  })

  it('counts a large body until it is answered, and what was held for its caller until that is gone', async () => {
    const socket = await open()
    socket.send(request(`hold${'x'.repeat(20_000)}`))
    const exchange = await served.holding()
    served.budget.take(90_000)
    expect(served.budget.isSpent).toBe(true)
    served.budget.give(90_000)
    const released = new Promise<void>((resolve) => exchange.hold(60_000, resolve))
    socket.close()
    await released
    expect(exchange.isGone).toBe(true)
    served.budget.take(100_000)
    expect(served.budget.isSpent).toBe(false)
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
    await socket.untilLast('plain:after')
  })
})

describe('a request to a plain connection', () => {
  it('is answered as node:http has it answered', async () => {
    const node = await serveEcho()
    const normal = (text: string) =>
      text.replace(/^X-Request-Id: \S+-[0-9a-z]+\r\n/gm, '').replace(/^Date: .*\r\n/gm, '')
    const first = (text: string) => {
      const [body = ''] = bodies(text)
      return normal(text.slice(0, text.indexOf('\r\n\r\n') + 4 + body.length))
    }
    async function answer(text: string): Promise<string> {
      const socket = await rawSocket(node.server.port)
      socket.send(Buffer.from(text, 'latin1'))
      const received = await socket.until((got) => bodies(got).length > 0)
      socket.close()
      return first(received)
    }
    const field = fc.constantFrom(
      'Origin: http://localhost:3000',
      'Origin: https://other.example',
      'X-Request-Id: mine',
      'X-Request-Id: not accepted',
      'Connection: keep-alive',
      'connection: Keep-Alive',
      'Content-Encoding: identity',
      'Content-Encoding: gzip',
      'User-Agent: test',
      'Accept: */*',
    )
    const type = fc.constantFrom(
      'application/json',
      'application/json; charset=utf-8',
      'application/json-rpc',
      'text/plain',
    )
    const path = fc.constantFrom('/', '/some/path?key=1', '/openrpc.json', '/healthz', '/c/name')
    const host = fc.constantFrom('localhost', '127.0.0.1:1', '[::1]', 'other.example', '')
    const body = fc.constantFrom('{}', 'a', 'é', 'silent', 'broken', '', 'x'.repeat(20_000))
    await fc.assert(
      fc.asyncProperty(
        path,
        host,
        type,
        body,
        fc.uniqueArray(field),
        async (url, name, kind, text, fields) => {
          const whole = request(text, ...fields)
            .replace('POST /', `POST ${url}`)
            .replace('localhost', name)
            .replace('application/json', kind)
          const bytes = Buffer.from(whole).toString('latin1')
          // Two requests in one read are left to node:http.
          expect(await answer(bytes)).toBe(await answer(bytes + bytes))
        },
      ),
      { numRuns: 150 },
    )
    await node.close()
  })
})
