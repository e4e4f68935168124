/** A served node with API keys: authentication, rights, limits, and changes of the key file. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { CallOrigin, ServeOptions } from '../../../src/options/options.ts'
import { generateKey } from '../../../src/transport/keys/api-key.ts'
import { revokeKey, rotateKey } from '../../../src/transport/keys/key-changes.ts'
import { changeKeys } from '../../../src/transport/keys/key-file.ts'
import { type KeyFileOfTest, keyFile } from '../../support/api-keys.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'

/** For events that the server receives from the network after a moment. */
const PATIENCE = { timeout: 20_000 }
const NOBODY = '0x00000000000000000000000000000000000dead1'
const UNAUTHORIZED = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32001, message: 'API key missing or not valid' },
}

let keys: KeyFileOfTest
let node: ServedNode
/** All log lines of the node, and the listener for the next ones. */
let lines: string[]
let onLine: (line: string) => void
let origins: CallOrigin[]

async function start(options: ServeOptions = {}): Promise<void> {
  const write = (message: string, fields?: Record<string, unknown>) => {
    lines.push(`${message} ${JSON.stringify(fields ?? {})}`)
    onLine(message)
  }
  const logger = { debug: write, info: write, warn: write, error: write }
  node = await servedNode(
    { logger, onCall: (_method, _ms, _error, origin) => origins.push(origin) },
    { apiKeys: keys.file, ...options },
  )
}

/** Resolves with the next log line that matches. */
function line(pattern: RegExp): Promise<string> {
  return new Promise((resolve) => {
    onLine = (message) => {
      if (pattern.test(message)) resolve(message)
    }
  })
}

function call(key: string, method = 'eth_chainId', ...params: unknown[]) {
  return node.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), {}, `/${key}`)
}

async function open(path: string): Promise<WebSocket> {
  const socket = new WebSocket(node.wsUrl + path)
  await once(socket, 'open')
  return socket
}

async function answerTo(socket: WebSocket, message: unknown) {
  socket.send(JSON.stringify(message))
  const [data] = await once(socket, 'message')
  return JSON.parse(String(data))
}

async function refusedUpgrade(path: string) {
  const socket = new WebSocket(node.wsUrl + path)
  socket.on('error', () => {})
  const [, response] = await once(socket, 'unexpected-response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, body: JSON.parse(text), again: response.headers['retry-after'] }
}

beforeEach(() => {
  keys = keyFile()
  lines = []
  origins = []
  onLine = () => {}
})
afterEach(async () => {
  await node.close()
  keys.remove()
})

describe('authentication', () => {
  it('accepts a key as the last segment of any path', async () => {
    const key = await keys.add('ci')
    await start()
    for (const path of [key, `v1/${key}`, `${key}?chain=test`, `a//../${key}`]) {
      expect(await call(path)).toMatchObject({ status: 200, body: { result: '0x21' } })
    }
    const socket = await open(`/ws/${key}`)
    expect(await answerTo(socket, { jsonrpc: '2.0', id: 7, method: 'eth_chainId' })).toMatchObject({
      result: '0x21',
    })
    socket.close()
    expect(new Set(origins.map(({ owner }) => owner))).toEqual(new Set(['ci']))
  })

  it('answers every other caller in one way, over HTTP and WebSocket', async () => {
    const key = await keys.add('ci')
    const revoked = await keys.add('old')
    await changeKeys(keys.file, (known) => revokeKey(known, 'old', new Date()))
    await start()
    const paths = [
      '',
      'x',
      `${key}/`,
      `${key}x`,
      key.toLowerCase(),
      `%74${key.slice(1)}`,
      generateKey(),
      revoked,
    ]
    for (const path of paths) {
      expect(await call(path)).toMatchObject({ status: 401, body: UNAUTHORIZED })
      expect(await refusedUpgrade(`/${path}`)).toMatchObject({ status: 401, body: UNAUTHORIZED })
    }
    const notJson = await node.post('x', { 'Content-Type': 'text/plain' }, '/x')
    expect(notJson).toMatchObject({ status: 401, body: UNAUTHORIZED })
  })

  it('allows a key the methods it names, and methods that change the chain only by name', async () => {
    const plain = await keys.add('plain')
    const narrow = await keys.add('narrow', { allow: ['eth', '-eth_gasPrice'] })
    const admin = await keys.add('admin', { allow: ['eth', 'evm'] })
    await start()
    const code = async (key: string, method: string) => (await call(key, method)).body.error?.code
    expect(await code(plain, 'net_version')).toBeUndefined()
    expect(await code(plain, 'evm_mine')).toBe(-32601)
    expect(await code(narrow, 'eth_chainId')).toBeUndefined()
    expect(await code(narrow, 'eth_gasPrice')).toBe(-32601)
    expect(await code(narrow, 'net_version')).toBe(-32601)
    expect(await code(admin, 'evm_mine')).toBeUndefined()
    expect(await call(narrow, 'evm_mine')).toMatchObject({ status: 200 })
  })

  it('allows state overrides to entitled keys only', async () => {
    const plain = await keys.add('plain')
    const entitled = await keys.add('entitled', { stateOverride: true })
    await start()
    const params = [{ to: NOBODY }, 'latest', { [NOBODY]: { code: '0x600160005260206000f3' } }]
    expect((await call(entitled, 'eth_call', ...params)).body.result).toMatch(/1$/)
    expect((await call(plain, 'eth_call', ...params)).body.error).toEqual({
      code: -32602,
      message: 'State override is not allowed',
    })
  })

  it('shows health to all, and other pages below a key', async () => {
    const key = await keys.add('ci', { allow: ['eth_chainId'] })
    await start()
    const get = async (path: string) => {
      const response = await fetch(node.url + path)
      // biome-ignore lint/suspicious/noExplicitAny: replies are what the tests look into
      return { status: response.status, body: (await response.json()) as any }
    }
    expect(await get('/healthz')).toMatchObject({ status: 200 })
    for (const path of ['/', '/openrpc.json', '/metrics', '/x/openrpc.json', `/openrpc.json/x`]) {
      expect(await get(path)).toEqual({ status: 401, body: UNAUTHORIZED })
    }
    const { status, body } = await get(`/v1/${key}/openrpc.json`)
    expect(status).toBe(200)
    expect(body.methods.map(({ name }: { name: string }) => name)).toEqual(['rpc.discover', 'eth_chainId'])
    expect((await get(`/${key}`)).status).toBe(405)
    expect((await get(`/${key}/metrics`)).status).toBe(404)
    expect((await get(`/${key}/nothing`)).status).toBe(404)
    const preflight = await fetch(`${node.url}/x`, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
  })
})

describe('the limits of a key', () => {
  const message = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' })
  const spent = (id: number | null, words: string) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32005, message: words },
  })
  const RATE = 'Rate limit of 4/h exceeded'

  it('count each call of a batch, and answer 429 with the time to wait', async () => {
    const key = await keys.add('ci', { rate: '4/h' })
    await start()
    const batch = JSON.stringify([message(1), message(2), message(3)])
    expect(await node.post(batch, {}, `/${key}`)).toMatchObject({ status: 200 })
    expect(await call(key)).toMatchObject({ status: 200 })
    const response = await fetch(`${node.url}/${key}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(message(5)),
    })
    expect(response.status).toBe(429)
    expect(await response.json()).toEqual(spent(5, RATE))
    const again = Number(response.headers.get('retry-after'))
    expect(again).toBeGreaterThan(800)
    expect(again).toBeLessThanOrEqual(900)
    expect(await node.post(batch, {}, `/${key}`)).toMatchObject({ status: 429, body: spent(null, RATE) })
    expect(await node.post('{', {}, `/${key}`)).toMatchObject({ status: 429, body: spent(null, RATE) })
    expect(await refusedUpgrade(`/${key}`)).toMatchObject({
      status: 429,
      body: spent(null, RATE),
      again: expect.stringMatching(/^[89]\d\d$/),
    })
  })

  it('hold for the messages of an open socket, which stays open', async () => {
    const key = await keys.add('ci', { rate: '4/h' })
    const other = await keys.add('other', { rate: '4/h' })
    await start()
    const socket = await open(`/${key}`)
    expect(await answerTo(socket, [message(1), message(2)])).toHaveLength(2)
    expect(await answerTo(socket, [message(3), message(4)])).toEqual(spent(null, RATE))
    // What is refused takes nothing.
    expect(await answerTo(socket, message(5))).toMatchObject({ result: '0x21' })
    expect(await answerTo(socket, message(6))).toEqual(spent(6, RATE))
    expect(await call(other)).toMatchObject({ status: 200 })
    socket.close()
  })

  it('are seen in the figures when they are spent, by the name of the key', async () => {
    const key = await keys.add('ci', { rate: '2/h' })
    const watcher = await keys.add('watch', { allow: ['metrics'] })
    await start()
    for (let i = 0; i < 4; i++) await call(key)
    await refusedUpgrade(`/${key}`)
    const figures = await (await fetch(`${node.url}/${watcher}/metrics`)).text()
    expect(figures).toContain('\ntandem_calls_total{method="eth_chainId",key="ci"} 2\n')
    expect(figures).toContain('\ntandem_over_limits_total{key="ci"} 3\n')
    expect(figures).not.toContain(key.slice(7, 20))
  })

  it('let a burst through beyond the rate, once', async () => {
    const key = await keys.add('ci', { rate: '1/h', burst: 2 })
    await start()
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await call(key)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
  })

  it('hold for its sockets, each given back when it closes', async () => {
    const key = await keys.add('ci')
    const other = await keys.add('other')
    await start({ maxSocketsPerKey: 2 })
    const [first, second] = [await open(`/${key}`), await open(`/${key}`)]
    expect(await refusedUpgrade(`/${key}`)).toMatchObject({
      status: 429,
      body: spent(null, 'Too many open sockets: the limit is 2'),
      again: '1',
    })
    const elsewhere = await open(`/${other}`)
    first.terminate()
    // The server notices the end of the connection after a moment.
    await expect
      .poll(() => {
        const socket = new WebSocket(`${node.wsUrl}/${key}`)
        return new Promise((resolve) => {
          socket
            .on('error', () => resolve(false))
            .on('open', () => {
              socket.terminate()
              resolve(true)
            })
        })
      }, PATIENCE)
      .toBe(true)
    for (const socket of [second, elsewhere]) socket.close()
  })

  it('are those of a name, whatever its key', async () => {
    const key = await keys.add('ci', { rate: '2/h' })
    await start()
    const next = generateKey()
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, (known) => rotateKey(known, 'ci', next, 3600, new Date()))
    await changed
    expect([(await call(key)).status, (await call(next)).status, (await call(key)).status]).toEqual([
      200, 200, 429,
    ])
  })
})

describe('a change of the key file', () => {
  it('closes the sockets of a revoked key, and no others', async () => {
    const key = await keys.add('ci')
    const other = await keys.add('other')
    await start()
    const [socket, stays] = [await open(`/${key}`), await open(`/${other}`)]
    const closed = once(socket, 'close')
    await changeKeys(keys.file, (known) => revokeKey(known, 'ci', new Date()))
    const [code, reason] = await closed
    expect([code, String(reason)]).toEqual([1008, 'API key not valid any more'])
    expect(await call(key)).toMatchObject({ status: 401, body: UNAUTHORIZED })
    expect(await answerTo(stays, { jsonrpc: '2.0', id: 1, method: 'eth_chainId' })).toMatchObject({
      result: '0x21',
    })
    stays.close()
  })

  it('ends a key at once, for a request that is still being sent too', async () => {
    const key = await keys.add('ci')
    await start()
    const begun = request(`${node.url}/${key}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Expect: '100-continue' },
    })
    begun.flushHeaders()
    // By then the key has been looked at.
    await once(begun, 'continue')
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, (known) => revokeKey(known, 'ci', new Date()))
    await changed
    begun.end('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')
    const [response] = await once(begun, 'response')
    response.resume()
    expect(response.statusCode).toBe(401)
  })

  it('by a rotation without grace ends the old key, one with grace keeps it', async () => {
    const key = await keys.add('ci')
    await start()
    const socket = await open(`/${key}`)
    const [second, third] = [generateKey(), generateKey()]
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, (known) => rotateKey(known, 'ci', second, 3600, new Date()))
    await changed
    expect([(await call(key)).status, (await call(second)).status]).toEqual([200, 200])
    expect(socket.readyState).toBe(WebSocket.OPEN)
    const closed = once(socket, 'close')
    await changeKeys(keys.file, (known) => rotateKey(known, 'ci', third, 0, new Date()))
    await closed
    const statuses = [(await call(key)).status, (await call(second)).status, (await call(third)).status]
    expect(statuses).toEqual([401, 401, 200])
  })

  it('at the end of its grace closes the sockets of the old key', async () => {
    const key = await keys.add('ci')
    await start()
    const socket = await open(`/${key}`)
    const closed = once(socket, 'close')
    await changeKeys(keys.file, (known) => rotateKey(known, 'ci', generateKey(), 0.3, new Date()))
    expect((await closed)[0]).toBe(1008)
    expect((await call(key)).status).toBe(401)
  })

  it('gives and takes rights of open sockets', async () => {
    const key = await keys.add('ci', { allow: ['net'] })
    await start()
    const socket = await open(`/${key}`)
    const ask = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
    expect((await answerTo(socket, ask)).error.code).toBe(-32601)
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, ([record]) => (record ? [{ ...record, allow: ['eth'] }] : []))
    await changed
    expect((await answerTo(socket, ask)).result).toBe('0x21')
    socket.close()
  })

  it('that is malformed leaves the keys as they are, and is logged once', async () => {
    const key = await keys.add('ci')
    await start()
    const complaint = line(/is not JSON/)
    writeFileSync(keys.file, '{"version":1,')
    expect(await complaint).toContain('The keys from before stay as they were.')
    expect((await call(key)).status).toBe(200)
    const other = keyFile()
    const added = await other.add('new')
    const changed = line(/the key file has changed/)
    await changeKeys(other.file, (known) => {
      writeFileSync(keys.file, JSON.stringify({ version: 1, keys: known }))
      return known
    })
    await changed
    expect([(await call(key)).status, (await call(added)).status]).toEqual([401, 200])
    other.remove()
  })

  it('never logs or prints a key', async () => {
    const key = await keys.add('ci', { rate: '3/h' })
    await start()
    const answers = [
      await call(key),
      await call(key, 'evm_mine'),
      await call(key),
      await call(key),
      await call(`${key}/`),
    ]
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, (known) => revokeKey(known, 'ci', new Date()))
    await changed
    answers.push(await call(key))
    const all = JSON.stringify([lines, origins, answers, process.title, process.argv])
    expect(all).toContain('429')
    expect(all).not.toContain(key.slice(7, 20))
  })
})

it('a node does not start with a key file that is not there', async () => {
  const key = await keys.add('ci')
  await start()
  await expect(servedNode({}, { apiKeys: `${keys.file}.missing` })).rejects.toMatchObject({
    kind: 'invalid-options',
    message: expect.stringContaining('There is no key file'),
  })
  expect((await call(key)).status).toBe(200)
})
