/** The HTTP endpoint against bytes that are no request, requests that are two, senders that never end, and foreign pages. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { serveEcho } from '../transport/echo-node.ts'
import { connection, rawSocket, statuses } from './raw-socket.ts'
import { leakIn } from './reply-check.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x21"}'
const TYPE = 'Content-Type: application/json\r\n'

/** A request with these header lines, as they stand. */
function post(headers: string, body = CALL): string {
  return `POST / HTTP/1.1\r\nHost: localhost\r\n${TYPE}${headers}\r\n${body}`
}
const framed = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n`
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

let served: ServedNode
beforeAll(async () => {
  served = await servedNode({}, { headerTimeoutMs: 150, transferTimeoutMs: 300, maxBodyBytes: 1_000_000 })
})
afterAll(() => served.close())
const port = () => served.server.port

/** What is left to say after an attack. */
async function stillAnswers(): Promise<void> {
  expect(await served.call('eth_chainId')).toBe('0x21')
}

describe('bytes that are not a request', () => {
  it.each<[string, string | Uint8Array]>([
    ['noise', Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 197) & 0xff))],
    ['a TLS hello', Buffer.from('16030100c8010000c40303'.padEnd(400, '00'), 'hex')],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a line without a version', 'POST /\r\n\r\n'],
    ['a version from elsewhere', 'POST / HTTP/9.9\r\n\r\n'],
    ['a verb that is none', 'P\u0000ST / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a NUL in the path', 'POST /\u0000 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a NUL in a header', post('X-A: \u0000\r\n')],
    ['a header without a name', post(': x\r\n')],
    ['a header without a colon', post('Header\r\n')],
    ['a name with a space', post('Content-Length : 5\r\n')],
    ['a folded header', post('X-A: b\r\n c\r\n')],
    ['bare line feeds', `POST / HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n\r`],
    ['a header of 20 KB', post(`X-A: ${'a'.repeat(20_000)}\r\n`)],
    ['a path of 40 KB', `POST /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ])('%s are refused with a message', async (_, bytes) => {
    const text = await connection(port(), bytes)
    expect(statuses(text)[0]).toBeGreaterThanOrEqual(400)
    expect(statuses(text)[0]).toBeLessThan(500)
    expect(text).toMatch(/\r\nConnection: close\r\n/)
    expect(leakIn(text)).toBeUndefined()
    await stillAnswers()
  })
})

describe('a body with two lengths', () => {
  const hidden = `POST / HTTP/1.1\r\nHost: localhost\r\n${TYPE}Content-Length: ${CALL.length}\r\n\r\n${CALL}`

  it.each([
    ['two lengths', 'Content-Length: 0\r\nContent-Length: 59\r\n'],
    ['one length twice', 'Content-Length: 59\r\nContent-Length: 59\r\n'],
    ['lengths in a list', 'Content-Length: 0, 59\r\n'],
    ['a negative length', 'Content-Length: -1\r\n'],
    ['a length with a sign', 'Content-Length: +59\r\n'],
    ['a length in hex', 'Content-Length: 0x3b\r\n'],
    ['a length beyond all numbers', `Content-Length: ${'9'.repeat(30)}\r\n`],
    ['a length and chunks', 'Content-Length: 0\r\nTransfer-Encoding: chunked\r\n'],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 59\r\n'],
    ['an encoding that is none', 'Transfer-Encoding: xchunked\r\n'],
    ['chunks within something else', 'Transfer-Encoding: chunked, identity\r\n'],
    ['a chunk of a length beyond all numbers', 'Transfer-Encoding: chunked\r\n', `${'F'.repeat(20)}\r\n`],
    ['a chunk of a length that is none', 'Transfer-Encoding: chunked\r\n', '-1\r\n'],
    ['a chunk longer than its size', 'Transfer-Encoding: chunked\r\n', '1\r\nabc\r\n'],
  ])('%s: one refusal, and the bytes after it are not read as a request', async (_, headers, body = '') => {
    const text = await connection(port(), post(headers, body), hidden)
    expect(statuses(text)).toEqual([400])
    expect(text).not.toContain('0x21')
  })

  it('in chunks is complete when all its chunks are', async () => {
    const body = `${[...CALL].map(chunk).join('')}0\r\n\r\n`
    const text = await connection(port(), post('Transfer-Encoding: chunked\r\nConnection: close\r\n', body))
    expect(text).toContain(ANSWER)
  })

  it('that does not end is refused at the limit, chunked or not', async () => {
    const piece = chunk(' '.repeat(60_000))
    const chunked = await connection(port(), post('Transfer-Encoding: chunked\r\n', piece.repeat(20)))
    expect(statuses(chunked)).toEqual([413])
    expect(statuses(await connection(port(), post(`Content-Length: ${2 ** 40}\r\n`, 'x')))).toEqual([413])
    await stillAnswers()
  })
})

describe('a sender that does not finish', () => {
  it.each<[string, string]>([
    ['sends nothing', ''],
    ['stops in the first line', 'POST / HT'],
    ['stops in a header', 'POST / HTTP/1.1\r\nHost: local'],
    ['stops before the body', post('Content-Length: 59\r\n', '')],
    ['stops in the body', post('Content-Length: 59\r\n', '{"jsonrpc"')],
    ['stops between chunks', post('Transfer-Encoding: chunked\r\n', '1\r\n{\r\n')],
  ])('that %s is refused, and its connection closed', async (_, bytes) => {
    const text = await connection(port(), bytes)
    expect(statuses(text)).toEqual([408])
    await stillAnswers()
  })

  it('that sends header lines slowly is disconnected as well', async () => {
    const socket = await rawSocket(port())
    socket.send('POST / HTTP/1.1\r\n')
    const drip = setInterval(() => socket.send('X-A: b\r\n'), 20)
    expect(statuses(await socket.ended())).toEqual([408])
    clearInterval(drip)
  })

  it('leaves room for others, many at a time', async () => {
    const sockets = await Promise.all(Array.from({ length: 200 }, () => rawSocket(port())))
    for (const socket of sockets) socket.send('POST / HTTP/1.1\r\nX: ')
    await stillAnswers()
    for (const text of await Promise.all(sockets.map((socket) => socket.ended()))) {
      expect(statuses(text)).toEqual([408])
    }
  })

  it.each([
    ['to be closed', framed(CALL)],
    ['to be kept', `Content-Length: ${CALL.length}\r\n`],
  ])('that has closed its half after a call is answered, on a connection %s', async (_, headers) => {
    const socket = await rawSocket(port())
    socket.send(post(headers))
    socket.finish()
    expect(await socket.ended()).toContain(ANSWER)
  })
})

describe('a reader that does not finish', () => {
  it('that reads nothing of a large answer is disconnected', async () => {
    const echo = await serveEcho({ maxBodyBytes: 50_000_000, transferTimeoutMs: 300 })
    const watch = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const isAlone = async () =>
      /^tandem_sockets\{kind="http"\} 1$/m.test(await connection(echo.server.port, watch))
    const body = 'x'.repeat(40_000_000)
    const socket = await rawSocket(echo.server.port)
    socket.send(post(`Content-Length: ${body.length}\r\n`, body))
    await socket.until((text) => /Content-Length/.test(text))
    socket.pause()
    while (!(await isAlone()));
    socket.resume()
    expect((await socket.ended()).length).toBeLessThan(body.length)
    await echo.close()
  })
})

describe('one connection', () => {
  it('with a thousand requests at once is answered a thousand times, in order', async () => {
    const socket = await rawSocket(port())
    const bodies = Array.from({ length: 1000 }, (_, id) => CALL.replace('"id":1', `"id":${id}`))
    socket.send(bodies.map((body) => post(`Content-Length: ${body.length}\r\n`, body)).join(''))
    const text = await socket.until((text) => /"id":999,"result":"0x21"\}$/.test(text))
    socket.close()
    expect([...text.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))).toEqual(bodies.map((_, id) => id))
  })

  it('that is closed in the middle of a call does not affect other connections', async () => {
    for (let i = 0; i < 50; i++) {
      const socket = await rawSocket(port())
      socket.send(post(`Content-Length: ${CALL.length}\r\n`))
      socket.close()
    }
    await stillAnswers()
  })
})

describe('a web page of another origin', () => {
  const from = async (headers: Record<string, string>, method = 'POST') => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const head = `${method} / HTTP/1.1\r\n${lines.join('')}Connection: close\r\nContent-Length: ${CALL.length}\r\n\r\n`
    return connection(port(), head, CALL)
  }
  const json = { Host: 'localhost', 'Content-Type': 'application/json' }

  it.each([
    'null',
    'http://evil.example',
    'http://localhost.evil.example',
    'http://evil.example#localhost',
    'http://localhost@evil.example',
    'http://evil.example:4444',
    'file://',
    'http://localhost, http://localhost',
    'HTTP://LOCALHOST.EVIL.EXAMPLE',
    'http://[::1].evil.example',
    'chrome-extension://abcdef',
    '',
  ])('of the origin "%s" is refused, and may not read the reason', async (Origin) => {
    const text = await from({ ...json, Origin })
    expect(statuses(text)).toEqual([403])
    expect(text).not.toMatch(/Access-Control-Allow/i)
    expect(statuses(await from({ ...json, Origin }, 'OPTIONS'))).toEqual([403])
  })

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost:80:80',
    '[::1',
    '[::1].evil.example',
    'evil.example:127.0.0.1',
    'localhost%00.evil.example',
    '0x7f000001.evil',
  ])('that calls the node %s is refused', async (Host) => {
    expect(statuses(await from({ ...json, Host }))).toEqual([403])
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; application/json',
    'application/jsonp',
    'application/json-patch+json',
    '',
  ])('cannot send a call as %s, which needs no preflight', async (type) => {
    expect(statuses(await from({ Host: 'localhost', 'Content-Type': type }))).toEqual([415])
  })

  it('cannot bypass the check by compression, another verb or another protocol', async () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'zstd']) {
      expect(statuses(await from({ ...json, 'Content-Encoding': encoding }))).toEqual([415])
    }
    for (const verb of ['PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND']) {
      expect(statuses(await from(json, verb))).toEqual([405])
    }
    expect(await from({ ...json, Upgrade: 'h2c', 'X-HTTP-Method-Override': 'GET' })).toContain(ANSWER)
  })
})

describe('a text that is not a call', () => {
  it.each<[string, string | Uint8Array, number]>([
    ['nothing', '', -32700],
    ['white space', ' \r\n\t ', -32700],
    ['a byte order mark', `\ufeff${CALL}`, -32700],
    ['UTF-16', Buffer.from(CALL, 'utf16le'), -32700],
    ['invalid UTF-8', Buffer.from([0x22, 0xc0, 0x80, 0xff, 0xfe]), -32700],
    ['a NUL', '\u0000', -32700],
    ['half a call', CALL.slice(0, -1), -32700],
    ['one and a half', CALL + CALL, -32700],
    ['a comment', `/* */${CALL}`, -32700],
    ['a trailing comma', '[{"method":"eth_chainId"},]', -32700],
    ['single quotes', "{'method':'eth_chainId'}", -32700],
    ['NaN', '{"id":NaN,"method":"eth_chainId"}', -32700],
    ['a number beyond all numbers', '{"id":1e999,"method":"eth_chainId"}', 0],
    ['a number of 500,000 digits', `{"id":${'9'.repeat(500_000)},"method":"eth_chainId"}`, 0],
    ['a lone surrogate', '"\ud800"', -32600],
    ['lists 1,001 deep', `${'['.repeat(1001)}${']'.repeat(1001)}`, -32600],
    ['objects 400,000 deep', '{"a":'.repeat(200_000), -32600],
    ['lists 900,000 deep', '['.repeat(900_000), -32600],
    ['a number', '7', -32600],
    ['null', 'null', -32600],
    ['an id that is an object', '{"id":{},"method":"eth_chainId"}', -32600],
    ['an id that is a list', '{"id":[[]],"method":"eth_chainId"}', -32600],
    ['a method that is an object', '{"id":1,"method":{"toString":1}}', -32600],
    ['a method that every object has', '{"id":1,"method":"constructor"}', -32601],
    ['a method of a megabyte', `{"id":1,"method":"${'x'.repeat(900_000)}"}`, -32601],
    ['a batch of 10,000', `[${new Array(10_000).fill('{"id":1,"method":"a"}').join(',')}]`, -32600],
    ['a batch of 10,000 empty batches', `[${new Array(10_000).fill('[]').join(',')}]`, -32600],
    ['batches within batches', `${'['.repeat(500)}${CALL}${`,${CALL}]`.repeat(500)}`, -32600],
  ])('%s has a JSON-RPC answer', async (_, body, code) => {
    const response = await fetch(served.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(leakIn(text)).toBeUndefined()
    expect(text.length).toBeLessThan(1000)
    const { error, result } = JSON.parse(text)
    if (code === 0) expect(result).toBe('0x21')
    else expect(error.code).toBe(code)
  })
})
