/** The fast path and `node:http` with Express answer the same requests by the same bytes. */
import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node, type Server, serve } from '../../src/index.ts'
import { rawSocket } from '../hostile/raw-socket.ts'

const SEED = Number(process.env.FAST_HTTP_SEED ?? randomInt(2 ** 31))
const RUNS = 300
const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

const call = fc.record(
  {
    jsonrpc: fc.constantFrom<unknown>('2.0', '1.0', 2),
    id: fc.oneof(
      { weight: 4, arbitrary: fc.nat() },
      fc.constantFrom<unknown>('a', null, 1.5, {}, 2 ** 60),
      fc.string(),
    ),
    method: fc.constantFrom<unknown>(
      'eth_chainId',
      'eth_blockNumber',
      'eth_getBalance',
      'eth_getBlockByNumber',
      'eth_call',
      'web3_sha3',
      'no_such',
      7,
    ),
    params: fc.oneof(
      fc.constantFrom<unknown>([], [COW, 'latest'], ['latest', true], ['0x61'], [{ to: COW }, 'latest'], {}),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  },
  { requiredKeys: [] },
)
const text = fc.oneof(
  { weight: 4, arbitrary: call.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.array(call, { maxLength: 5 }).map((batch) => JSON.stringify(batch)) },
  fc.constantFrom(
    '',
    '{',
    '[]',
    '[1]',
    '"é"',
    'null',
    '['.repeat(600),
    ' '.repeat(20_000),
    '{"a":"\ud83d\ude00"}',
  ),
  fc.string({ unit: 'binary' }),
)

const field = fc.constantFrom(
  'Origin: https://page.example',
  'Origin: http://localhost:3000',
  'Origin: https://other.example',
  'X-Request-Id: mine',
  'X-Request-Id: not accepted',
  'Connection: keep-alive',
  'connection: Keep-Alive',
  'Connection: close',
  'Content-Encoding: identity',
  'Content-Encoding: gzip',
  'X-Forwarded-For: 1.2.3.4',
  'Expect: 100-continue',
  'Transfer-Encoding: chunked',
  'Content-Length: 1',
  'Content-Length: 999999999',
  'User-Agent: \u00fc',
  'Accept: */*',
  'Folded: a\r\n b',
  'no field',
  `Long: ${'x'.repeat(5000)}`,
)
/** A request as bytes, a character a byte. */
const request = fc
  .record({
    verb: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'PUT', 'post', 'GET', 'OPTIONS'),
    target: fc.constantFrom(
      '/',
      '/',
      '/some/path?key=1',
      '/openrpc.json',
      '/healthz',
      '/c/name',
      'http://a/b',
    ),
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.1', '1.0', '3.0'),
    host: fc.constantFrom('localhost', 'localhost', '127.0.0.1:1', '[::1]', 'other.example', ''),
    type: fc.constantFrom(
      'application/json',
      'application/json',
      'application/json; charset=utf-8',
      'application/json-rpc',
      'text/plain',
    ),
    fields: fc.uniqueArray(field, { maxLength: 3 }),
    text,
  })
  .map(({ verb, target, version, host, type, fields, text }) => {
    const body = Buffer.from(text)
    const lines = [
      `${verb} ${target} HTTP/${version}`,
      `Host: ${host}`,
      `Content-Type: ${type}`,
      ...fields,
      `Content-Length: ${body.length}`,
    ]
    return `${lines.join('\r\n')}\r\n\r\n${body.toString('latin1')}`
  })

/** The length of the first response in a text; `undefined` while it is not complete. */
function responseLength(received: string): number | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, end))?.[1] ?? '0'
  return received.length >= end + 4 + Number(length) ? end + 4 + Number(length) : undefined
}

/** Sends requests on one connection, each after the response to the one before; what comes back until one is the last. */
async function responses(port: number, requests: readonly string[]): Promise<string[]> {
  const socket = await rawSocket(port)
  const all: string[] = []
  let start = 0
  for (const one of requests) {
    socket.send(Buffer.from(one, 'latin1'))
    const received = await socket
      .until((got) => responseLength(got.slice(start)) !== undefined)
      .catch(() => '')
    const length = responseLength(received.slice(start)) ?? 0
    const response = received.slice(start, start + length)
    all.push(response.replace(/^X-Request-Id: [0-9a-f]{12}-[0-9a-z]+\r\n/m, '').replace(/^Date: .*\r\n/m, ''))
    start += length
    // What follows a request that is malformed, or has a body of another length, is no request.
    if (!/^HTTP\/1\.1 (200|204|403|404|405|415) /.test(response) || /^Connection: close\r/m.test(response))
      break
    if (/^(Transfer-Encoding|Content-Length: 1\r|Expect)/m.test(one)) break
  }
  socket.close()
  return all
}

describe('requests on one connection', () => {
  let node: Node
  let fast: Server
  let slow: Server
  beforeAll(async () => {
    node = await createNode({ frozenClock: true })
    const options = { port: 0, cors: ['https://page.example'], maxBodyBytes: 100_000 }
    fast = await serve(node, options)
    slow = await serve(node, { ...options, fastHttp: false })
  })
  afterAll(async () => {
    await Promise.all([fast.close({ graceMs: 0 }), slow.close({ graceMs: 0 })])
    await node.close()
  })

  it(`get the same status, headers and bodies with and without the fast path (FAST_HTTP_SEED=${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), async (requests) => {
        expect(await responses(fast.port, requests)).toEqual(await responses(slow.port, requests))
      }),
      { numRuns: RUNS, seed: SEED },
    )
  })
})
