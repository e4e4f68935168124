/** `serve` with the option `pool`: chains by name at `/c/<name>`, over real sockets. */
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serve } from '../../src/index.ts'
import { keyFile } from '../support/api-keys.ts'
import { BOB, COW } from '../support/noting-chain.ts'
import { saying } from '../support/refusals.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

let node: ServedNode | undefined
afterEach(() => node?.close())

const request = (method: string, ...params: unknown[]) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })

async function at(path: string, method: string, ...params: unknown[]) {
  const { status, body } = await (node as ServedNode).post(request(method, ...params), {}, path)
  return status === 200 ? body.result : { status, ...body.error }
}

async function drop(path: string) {
  const response = await fetch(new URL(path, (node as ServedNode).url), { method: 'DELETE' })
  const text = await response.text()
  return { status: response.status, message: text === '' ? undefined : JSON.parse(text).error.message }
}

async function openSocket(path: string): Promise<WebSocket> {
  const socket = new WebSocket((node as ServedNode).wsUrl + path)
  await once(socket, 'open')
  return socket
}

async function refusedSocket(path: string) {
  const socket = new WebSocket((node as ServedNode).wsUrl + path)
  socket.on('error', () => {})
  const [, response] = await once(socket, 'unexpected-response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, message: JSON.parse(text).error.message }
}

/** The next message of a socket. */
async function next(socket: WebSocket) {
  const [data] = await once(socket, 'message')
  return JSON.parse(String(data))
}

const FULL = 'no more than 2 chains can be open at once: drop one with DELETE /c/<name>'

describe('chains by name', () => {
  it('begin as a copy of the base at their first request, and are independent of it and of each other', async () => {
    node = await servedNode({}, { pool: 5 })
    await node.call('evm_mine')
    expect(await at('/c/one', 'eth_blockNumber')).toBe('0x1')
    await at('/c/one', 'evm_mine')
    await node.call('hardhat_setBalance', BOB, '0x7')
    await node.call('evm_mine')
    expect(await at('/c/one', 'eth_blockNumber')).toBe('0x2')
    expect(await at('/c/one', 'eth_getBalance', BOB, 'latest')).not.toBe('0x7')
    expect(await at('/c/two', 'eth_blockNumber')).toBe('0x2')
    expect(await at('/c/two/', 'eth_blockNumber')).toMatchObject({ status: 404 })
    expect(await at('/c/two', 'eth_getBalance', BOB, 'latest')).toBe('0x7')
    await at('/c/two', 'eth_sendTransaction', { from: COW, to: BOB, value: '0x1' })
    expect(await at('/c/two', 'eth_getBalance', BOB, 'latest')).toBe('0x8')
    expect(await node.call('eth_getBalance', BOB, 'latest')).toBe('0x7')
    // A state edit alone makes the next chain begin elsewhere, as does a pooled transaction.
    await node.call('hardhat_setBalance', BOB, '0x9')
    expect(await at('/c/three', 'eth_getBalance', BOB, 'latest')).toBe('0x9')
    await node.call('evm_setAutomine', false)
    await node.call('eth_sendTransaction', { from: COW, to: BOB, value: '0x1' })
    expect(await at('/c/four', 'eth_getTransactionCount', COW, 'pending')).toBe('0x1')
    expect(await at('/c/three', 'eth_getTransactionCount', COW, 'pending')).toBe('0x0')
  })

  it('are dropped by DELETE, which frees a place and the name', async () => {
    node = await servedNode({}, { pool: 2 })
    await at('/c/a', 'evm_mine')
    await at('/c/b', 'evm_mine')
    expect(await at('/c/c', 'eth_blockNumber')).toEqual({ status: 503, code: -32005, message: FULL })
    expect(await refusedSocket('/c/c')).toEqual({ status: 503, message: FULL })
    expect(await at('/c/a', 'eth_blockNumber')).toBe('0x1')
    expect(await drop('/c/a')).toEqual({ status: 204, message: undefined })
    expect(await drop('/c/a')).toEqual({
      status: 404,
      message: 'No such chain: it has not been made, or is dropped',
    })
    expect(await at('/c/c', 'eth_blockNumber')).toBe('0x0')
    await drop('/c/b')
    expect(await at('/c/a', 'eth_blockNumber')).toBe('0x0')
  })

  it('are served over WebSocket with their own events, and end their sockets with 1001', async () => {
    node = await servedNode({}, { pool: 2 })
    const socket = await openSocket('/c/ws')
    socket.send(request('eth_subscribe', 'newHeads'))
    const { result: subscription } = await next(socket)
    await node.call('evm_mine')
    await node.call('evm_mine')
    await at('/c/ws', 'evm_mine')
    expect((await next(socket)).params).toMatchObject({ subscription, result: { number: '0x1' } })
    const closed = once(socket, 'close')
    await drop('/c/ws')
    const [code, reason] = await closed
    expect([code, String(reason)]).toEqual([1001, 'The chain is dropped'])
  })

  it('refuse names that are not allowed in the path', async () => {
    node = await servedNode({}, { pool: 2 })
    const longest = 'x'.repeat(64)
    for (const name of [longest, 'A.b-c_1']) expect(await at(`/c/${name}`, 'eth_blockNumber')).toBe('0x0')
    const rule =
      'No such chain: the path is /c/<name>, a name has 1 to 64 letters, digits, dots, hyphens and underscores and begins with a letter or digit'
    for (const path of ['/c', '/c/', `/c/${longest}x`, '/c/-a', '/c/a%20b', '/c/a/b', '/c/ä', '/c/$']) {
      expect(await at(path, 'eth_blockNumber'), path).toEqual({ status: 404, code: -32600, message: rule })
    }
    expect(await refusedSocket('/c/a/b')).toEqual({ status: 404, message: rule })
    expect((await drop('/c/-a')).message).toBe(rule)
    // Any other path is that of the base.
    expect(await at('/chain', 'eth_blockNumber')).toBe('0x0')
  })

  it('are not made by refused requests', async () => {
    node = await servedNode({}, { pool: 1 })
    const { url } = node
    const post = (path: string, headers: Record<string, string>) =>
      fetch(new URL(path, url), { method: 'POST', headers, body: request('eth_blockNumber') })
    expect((await post('/c/a', { 'Content-Type': 'text/plain' })).status).toBe(415)
    const foreign = { 'Content-Type': 'application/json', Origin: 'https://evil.example' }
    expect((await post('/c/a', foreign)).status).toBe(403)
    const stranger = await fetch(new URL('/c/a', url), { method: 'DELETE', headers: foreign })
    expect(stranger.status).toBe(403)
    expect((await fetch(new URL('/c/a', url))).status).toBe(404)
    const allowed = await fetch(new URL('/c/a', url), { method: 'OPTIONS' })
    expect(allowed.headers.get('allow')).toBe('POST, DELETE, OPTIONS')
    expect((await fetch(new URL('/c/a', url), { method: 'PUT' })).headers.get('allow')).toBe(
      'POST, DELETE, OPTIONS',
    )
    // The one place is still free.
    expect(await at('/c/b', 'eth_blockNumber')).toBe('0x0')
  })

  it('count in the metrics of the server', async () => {
    node = await servedNode({}, { pool: 1 })
    for (let i = 0; i < 3; i++) await at('/c/a', 'eth_gasPrice')
    const page = await (await fetch(new URL('/metrics', node.url))).text()
    expect(page).toMatch(/^tandem_calls_total\{[^}]*method="eth_gasPrice"[^}]*\} 3$/m)
  })

  it('share the limits of the server and the bans of its callers', async () => {
    node = await servedNode({ maxPending: 1 }, { pool: 1 })
    const { load } = node.node.dispatcher
    load.enter()
    expect(await at('/c/a', 'eth_blockNumber')).toMatchObject({ status: 503, code: -32002 })
    load.leave()
    await at('/c/a', 'sco_banAddress', '192.0.2.1')
    expect(await node.call('sco_bannedAddresses')).toEqual(['192.0.2.1'])
  })

  it('need a node of this package, and are not served in the hosted profile', async () => {
    const dispatcher = { dispatchText: async () => undefined }
    await expect(serve({ dispatcher }, { pool: 1 })).rejects.toThrow(
      saying('This is not a node of createNode.'),
    )
    await expect(serve({ dispatcher }, { pool: 0 })).rejects.toThrow(
      saying('Option "pool" expects a whole number from 1 to 10000, not 0.'),
    )
    const hosted = { dispatcher, options: { profile: 'hosted' } } as const
    await expect(serve(hosted, { pool: 1, unsafeOpen: true })).rejects.toThrow(
      'Options "profile" and "pool" contradict each other',
    )
  })
})

describe('chains behind API keys', () => {
  it('read the key after the name, and apply its rights', async () => {
    const keys = keyFile()
    try {
      const full = await keys.add('full', { allow: ['eth', 'evm'] })
      const reader = await keys.add('reader', { allow: ['eth'] })
      node = await servedNode({}, { pool: 2, apiKeys: keys.file })
      expect(await at('/c/a', 'eth_blockNumber')).toMatchObject({ status: 401, code: -32001 })
      expect(await at(`/c/a/${full}x`, 'eth_blockNumber')).toMatchObject({ status: 401 })
      expect(await at(`/c/${full}`, 'eth_blockNumber')).toMatchObject({ status: 404 })
      await at(`/c/a/${full}`, 'evm_mine')
      expect(await at(`/c/a/${reader}`, 'eth_blockNumber')).toBe('0x1')
      expect((await node.post(request('evm_mine'), {}, `/c/a/${reader}`)).body.error.code).toBe(-32601)
      const socket = await openSocket(`/c/a/${reader}`)
      socket.send(request('eth_blockNumber'))
      expect((await next(socket)).result).toBe('0x1')
      expect(await refusedSocket('/c/a')).toMatchObject({ status: 401 })
      // Who may call evm_reset may drop a chain.
      expect(await drop('/c/a')).toMatchObject({ status: 401 })
      expect(await drop(`/c/a/${reader}`)).toMatchObject({ status: 405 })
      expect(await drop(`/c/a/${full}`)).toMatchObject({ status: 204 })
    } finally {
      keys.remove()
    }
  })
})

const HTML = { headers: { Accept: 'text/html' } } as const
const get = (path: string, options: RequestInit = {}) =>
  fetch(new URL(path, (node as ServedNode).url), options)

/** Of an account of the node, wei. */
const BALANCE = `1${'0'.repeat(30)}`

describe('the pages of a chain', () => {
  it('are its APIs of explorers and verifiers, in its own state', async () => {
    node = await servedNode({}, { pool: 1 })
    const balance = async (path: string) =>
      (await get(`${path}?module=account&action=balance&address=${BOB}`)).json()
    await at('/c/one', 'hardhat_setBalance', BOB, '0x7')
    expect(await balance('/c/one/api')).toMatchObject({ status: '1', result: '7' })
    expect(await balance('/api')).toMatchObject({ status: '1', result: BALANCE })
    const { url } = node
    expect(await (await get('/c/one/v2/chainlist')).json()).toMatchObject({
      result: [{ blockexplorer: `${url}/c/one`, apiurl: `${url}/c/one/v2/api?chainid=33` }],
    })
    expect((await get(`/c/one/v2/contract/33/${BOB}`)).status).toBe(404)
    expect(await balance('/c/two/api')).toMatchObject({
      status: '0',
      result: 'no more than 1 chain can be open at once: drop one with DELETE /c/<name>',
    })
  })

  it('are its explorer and the files of it, which make no chain', async () => {
    node = await servedNode({}, { pool: 1 })
    const moved = await get('/c/one', { ...HTML, redirect: 'manual' })
    expect([moved.status, moved.headers.get('location')]).toEqual([308, 'one/'])
    const page = await (await get('/c/one/', HTML)).text()
    const script = /src="(ui\/[\w.-]+\.js)"/.exec(page)?.[1]
    expect((await get(`/c/one/${script}`)).headers.get('content-type')).toMatch(/^text\/javascript/)
    expect((await get('/c/.bad/', HTML)).status).toBe(404)
    // The place is free.
    expect(await at('/c/two', 'eth_blockNumber')).toBe('0x0')
  })

  it('are open to the keys that the node has, and are turned off with those of the node', async () => {
    const keys = keyFile()
    try {
      const all = await keys.add('all', { allow: ['explorer', 'eth'] })
      const reader = await keys.add('reader', { allow: ['eth'] })
      node = await servedNode({}, { pool: 2, apiKeys: keys.file })
      const query = `module=account&action=balance&address=${BOB}`
      const result = async (path: string) => ((await (await get(path)).json()) as { result: string }).result
      expect(await result(`/c/one/${all}/api?${query}`)).toBe(BALANCE)
      expect(await result(`/c/one/api?${query}&apikey=${all}`)).toBe(BALANCE)
      expect(await result(`/c/one/api?${query}&apikey=${reader}`)).toBe('Invalid API Key')
      expect((await get(`/c/one/${reader}/`, HTML)).status).toBe(200)
      expect((await get('/c/one/wrong/', HTML)).status).toBe(401)
    } finally {
      keys.remove()
    }
    await node.close()
    node = await servedNode({}, { pool: 2, explorerApi: false, ui: false })
    expect((await get('/c/one/', HTML)).status).not.toBe(200)
    expect((await get(`/c/one/api?module=stats&action=ethprice`)).status).not.toBe(200)
  })
})
