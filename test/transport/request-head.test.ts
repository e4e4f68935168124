import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_HEAD, parsePlainHead } from '../../src/transport/request-head.ts'
import { rawSocket } from '../hostile/raw-socket.ts'

const head = (...lines: string[]) => lines.join('\r\n')
const PLAIN = ['POST / HTTP/1.1', 'Host: localhost:4444', 'Content-Length: 2']

describe('the head of a plain request', () => {
  it('is parsed to its path, its fields by name in lower case, and the length of the body', () => {
    const text = head(
      'POST /a?b=1 HTTP/1.1',
      'HOST:localhost',
      'X-Empty:',
      'Accept:\t a b \t',
      'content-length: 17',
    )
    expect(parsePlainHead(text)).toEqual({
      url: '/a?b=1',
      headers: { host: 'localhost', 'x-empty': '', accept: 'a b', 'content-length': '17' },
      contentLength: 17,
    })
  })

  it('keeps fields apart from the properties of objects', () => {
    expect(parsePlainHead(head(...PLAIN, '__proto__: x', 'constructor: y'))?.headers).toMatchObject(
      Object.fromEntries([['constructor', 'y']]),
    )
    expect(parsePlainHead(head(...PLAIN))?.headers.constructor).toBeUndefined()
  })

  it.each([
    ['another verb', ['GET / HTTP/1.1', 'Host: a', 'Content-Length: 2']],
    ['another version', ['POST / HTTP/1.0', 'Host: a', 'Content-Length: 2']],
    ['an absolute target', ['POST http://a/ HTTP/1.1', 'Host: a', 'Content-Length: 2']],
    ['no host', ['POST / HTTP/1.1', 'Content-Length: 2']],
    ['no length', ['POST / HTTP/1.1', 'Host: a']],
    ['a length that is not a number', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: +2']],
    ['two lengths', [...PLAIN, 'Content-Length: 3']],
    ['a repeated field', [...PLAIN, 'host: b']],
    ['chunks', [...PLAIN, 'Transfer-Encoding: chunked']],
    ['an expectation', [...PLAIN, 'Expect: 100-continue']],
    ['an upgrade', [...PLAIN, 'Upgrade: websocket']],
    ['an end of the connection', [...PLAIN, 'Connection: close']],
    ['a space before the colon', [...PLAIN, 'Accept : a']],
    ['a folded field', [...PLAIN, 'Accept: a', ' b']],
    ['a line feed alone', [...PLAIN, 'Accept: a\nX: b']],
    ['a carriage return alone', [...PLAIN, 'Accept: a\rX: b']],
    ['a zero byte', [...PLAIN, 'Accept: a\0']],
    ['an empty line', [...PLAIN, '']],
    ['too many characters', [...PLAIN, `Accept: ${'a'.repeat(MAX_HEAD)}`]],
  ])('is left to node:http: %s', (_, lines) => {
    expect(parsePlainHead(head(...lines))).toBeUndefined()
  })
})

describe('a head that is accepted as plain', () => {
  const seen: { url: string | undefined; headers: object; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { url, headers } = request
      seen.push({ url, headers: { ...headers }, body })
      response.end('!')
    })
  })
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  const space = fc.constantFrom('', ' ', '\t', '  ')
  const name = fc.oneof(
    fc.constantFrom('Accept', 'user-agent', 'Content-Type', 'ORIGIN', 'Cookie', 'Age', 'Range', 'X-A'),
    fc.string({ unit: fc.constantFrom(..."aZ09-_!#.~'*+^`|"), minLength: 1, maxLength: 6 }),
    fc.string({ maxLength: 4 }),
  )
  const value = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'aZ09-_!#.~ \t,;:"=\xe9\xff'), maxLength: 12 }),
    fc.string({ unit: 'binary', maxLength: 4 }),
  )
  const field = fc.tuple(name, space, value).map((parts) => `${parts[0]}:${parts[1]}${parts[2]}`)
  const target = fc.oneof(
    fc.constant('/'),
    fc.string({ unit: fc.constantFrom(...'/a?=&%2#.~{}|'), maxLength: 8 }).map((text) => `/${text}`),
  )

  it('is parsed the same by node:http', async () => {
    const { port } = server.address() as AddressInfo
    let plain = 0
    await fc.assert(
      fc.asyncProperty(target, fc.array(field, { maxLength: 4 }), async (url, fields) => {
        const text = head(`POST ${url} HTTP/1.1`, 'Host: a', ...fields, 'Content-Length: 2')
        const parsed = parsePlainHead(text)
        fc.pre(parsed !== undefined)
        plain++
        const socket = await rawSocket(port)
        socket.send(Buffer.from(`${text}\r\n\r\n{}`, 'latin1'))
        await socket.until((received) => received.endsWith('!') || received.startsWith('HTTP/1.1 4'))
        socket.close()
        const { headers, url: path } = parsed as NonNullable<typeof parsed>
        expect(seen.pop()).toEqual({ url: path, headers: { ...headers }, body: '{}' })
      }),
      { numRuns: 300 },
    )
    expect(plain).toBeGreaterThan(100)
  })
})
