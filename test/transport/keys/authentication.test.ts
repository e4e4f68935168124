/** A served node with API keys: authentication, rights and limits. */
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { generateKey } from '../../../src/transport/keys/api-key.ts'
import { revokeKey, rotateKey } from '../../../src/transport/keys/key-changes.ts'
import { changeKeys } from '../../../src/transport/keys/key-file.ts'
import {
  answerTo,
  call,
  keys,
  line,
  node,
  open,
  origins,
  refusedUpgrade,
  start,
  UNAUTHORIZED,
  useGuardedNode,
} from './guarded-node.ts'

/** For events that the server receives from the network after a moment. */
const PATIENCE = { timeout: 20_000 }
const NOBODY = '0x00000000000000000000000000000000000dead1'

useGuardedNode()

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

  it('refuses every other caller in the same way, over HTTP and WebSocket', async () => {
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
      const body: unknown = await response.json()
      return { status: response.status, body }
    }
    expect(await get('/healthz')).toMatchObject({ status: 200 })
    for (const path of ['/', '/openrpc.json', '/metrics', '/x/openrpc.json', `/openrpc.json/x`]) {
      expect(await get(path)).toEqual({ status: 401, body: UNAUTHORIZED })
    }
    expect(await get(`/v1/${key}/openrpc.json`)).toMatchObject({
      status: 200,
      body: { methods: [{ name: 'rpc.discover' }, { name: 'eth_chainId' }] },
    })
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

  it('apply to the messages of an open socket, which stays open', async () => {
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

  it('appear in the metrics when exceeded, by the name of the key', async () => {
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

  it('allow a burst beyond the rate once', async () => {
    const key = await keys.add('ci', { rate: '1/h', burst: 2 })
    await start()
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await call(key)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
  })

  it('count its open sockets until they close', async () => {
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

  it('belong to the name, whatever its key', async () => {
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
