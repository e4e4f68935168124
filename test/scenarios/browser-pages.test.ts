/** The recipe of docs/guides/clients.md for web pages: Remix and explorers in a browser use a local node. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const GUIDE = readFileSync(new URL('../../docs/guides/clients.md', import.meta.url), 'utf8')
const ORIGINS = /tandem start --cors (\S+)/.exec(GUIDE)?.[1]?.split(',') ?? []
const FOREIGN = [
  'https://evil.example',
  'http://remix.ethereum.org',
  'https://remix.ethereum.org.evil.example',
  'http://localhost:5101',
  'null',
]
const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
const JSON_TYPE = { 'Content-Type': 'application/json' }

let served: ServedNode
beforeAll(async () => {
  served = await servedNode({}, { cors: ORIGINS })
})
afterAll(() => served.close())

/** What a browser sends before a page of a public origin may call a private address. */
function preflight(origin: string): Promise<Response> {
  return fetch(served.url, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'content-type',
      'Access-Control-Request-Private-Network': 'true',
    },
  })
}

/** Opens a WebSocket as a page does: its first reply, or the status that refuses it. */
function ask(origin: string): Promise<string | number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(served.wsUrl, { origin })
    socket.on('open', () => socket.send(CALL))
    socket.on('message', (text) => {
      socket.close()
      resolve(String(text))
    })
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    socket.on('error', reject)
  })
}

it('allows Remix, and an explorer on this machine', () => {
  expect(ORIGINS).toContain('https://remix.ethereum.org')
  expect(ORIGINS).toContain('http://localhost:5100')
})

describe.each(ORIGINS)('a page of %s', (origin) => {
  it('may call after a preflight, also from a public to a private address', async () => {
    const asked = await preflight(origin)
    expect(asked.status).toBe(204)
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
      'access-control-allow-private-network': 'true',
      vary: 'Origin',
    })
    const called = await fetch(served.url, {
      method: 'POST',
      headers: { ...JSON_TYPE, Origin: origin },
      body: CALL,
    })
    expect(called.headers.get('access-control-allow-origin')).toBe(origin)
    expect(await called.json()).toMatchObject({ result: '0x21' })
  })

  it('may open a WebSocket', async () => {
    expect(await ask(origin)).toContain('"result":"0x21"')
  })
})

describe.each(FOREIGN)('a page of %s', (origin) => {
  it('may not call', async () => {
    const asked = await preflight(origin)
    expect(asked.status).toBe(403)
    expect([...asked.headers.keys()].filter((name) => name.startsWith('access-control-allow'))).toEqual([])
    const called = await served.post(CALL, { Origin: origin })
    expect(called).toMatchObject({ status: 403, body: { error: { code: -32001 } } })
    expect(await ask(origin)).toBe(403)
  })
})
