import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createRemoteAddressOf, requestIdOf } from '../../src/transport/incoming-request.ts'
import { type EchoNode, serveEcho } from './echo-node.ts'

describe('the ID of a request', () => {
  it('is the caller’s own when it is acceptable', () => {
    expect(requestIdOf({ 'x-request-id': 'a1-B2.c3:d4' })).toBe('a1-B2.c3:d4')
  })

  it.each(['', 'a b', 'a\nb', '{"a":1}', 'x'.repeat(129), '\u001b[2J'])(
    'is a new one in place of %j',
    (given) => {
      const id = requestIdOf({ 'x-request-id': given })
      expect(id).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/)
      expect(requestIdOf({ 'x-request-id': given })).not.toBe(id)
    },
  )
})

describe.each([true, false])('a served request with fastHttp: %s', (fastHttp) => {
  let node: EchoNode
  beforeAll(async () => {
    node = await serveEcho({ fastHttp, trustedProxies: ['127.0.0.1'] })
  })
  afterAll(() => node.close())

  it('is known to the dispatcher by the ID in the answer, and by its address', async () => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '6.6.6.6, 9.8.7.6' }
    const response = await fetch(node.server.url, { method: 'POST', headers, body: 'x' })
    const requestId = response.headers.get('x-request-id')
    expect(requestId).toMatch(/-/)
    expect(node.sessions.at(-1)).toMatchObject({ requestId, remote: '9.8.7.6', label: 'http' })
  })

  it('keeps its id over a WebSocket as long as that is open', async () => {
    const headers = { 'X-Request-Id': 'mine', 'X-Forwarded-For': '9.8.7.6' }
    const socket = new WebSocket(node.server.wsUrl, { headers })
    const answered = new Promise((resolve) => socket.once('message', resolve))
    socket.once('open', () => socket.send('y'))
    await answered
    socket.terminate()
    expect(node.sessions.at(-1)).toMatchObject({ requestId: 'mine', remote: '9.8.7.6' })
  })

  it('has an id even when it is refused', async () => {
    const response = await fetch(`${node.server.url}/nowhere`, { headers: { 'X-Request-Id': 'lost' } })
    expect([response.status, response.headers.get('x-request-id')]).toEqual([404, 'lost'])
  })
})

function seen(proxies: readonly string[], peer: string | undefined, forwarded?: string | string[]): string {
  const request = { socket: { remoteAddress: peer }, headers: { 'x-forwarded-for': forwarded } }
  return createRemoteAddressOf(proxies)(request as unknown as IncomingMessage)
}

describe('the remote address', () => {
  it('is that of the connection, not of the previous request', () => {
    const addressOf = createRemoteAddressOf([])
    const peers = ['::ffff:9.8.7.6', '1.2.3.4', '1.2.3.4', '::ffff:9.8.7.6', undefined]
    const requests = peers.map((remoteAddress) => ({ headers: {}, socket: { remoteAddress } }))
    expect(requests.map((request) => addressOf(request as unknown as IncomingMessage))).toEqual([
      '9.8.7.6',
      '1.2.3.4',
      '1.2.3.4',
      '9.8.7.6',
      '',
    ])
  })

  it('is the socket’s when no proxy is trusted', () => {
    expect(seen([], '::ffff:9.9.9.9', '1.1.1.1')).toBe('9.9.9.9')
    expect(seen([], undefined)).toBe('')
  })

  it('is the socket’s when the peer is not one of the proxies', () => {
    expect(seen(['10.0.0.0/8'], '9.9.9.9', '1.1.1.1')).toBe('9.9.9.9')
  })

  it('is the last address that is not a trusted proxy, whatever its sender claims', () => {
    expect(seen(['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.1.1.1')).toBe('1.1.1.1')
    expect(seen(['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.1.1.1, 10.0.0.2')).toBe('1.1.1.1')
    expect(seen(['10.0.0.0/8'], '::ffff:10.0.0.1', ['6.6.6.6', '1.1.1.1'])).toBe('1.1.1.1')
  })

  it('reads entries with ports and in IPv6', () => {
    expect(seen(['10.0.0.1'], '10.0.0.1', '1.1.1.1:5555')).toBe('1.1.1.1')
    expect(seen(['10.0.0.1'], '10.0.0.1', '[2001:DB8::1]:5555')).toBe('2001:db8::1')
    expect(seen(['10.0.0.1'], '10.0.0.1', '::ffff:1.1.1.1')).toBe('1.1.1.1')
  })

  it('is the proxy’s when its header has no address', () => {
    expect(seen(['10.0.0.1'], '10.0.0.1')).toBe('10.0.0.1')
    expect(seen(['10.0.0.1'], '10.0.0.1', '1.1.1.1, unknown')).toBe('10.0.0.1')
    expect(seen(['10.0.0.1'], '10.0.0.1', '')).toBe('10.0.0.1')
  })

  it('ignores what a caller puts before the proxy’s own entry', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), (claimed, caller) => {
        fc.pre(!caller.startsWith('10.'))
        expect(seen(['10.0.0.0/8'], '10.0.0.1', `${claimed}, ${caller}`)).toBe(caller)
      }),
    )
  })
})
