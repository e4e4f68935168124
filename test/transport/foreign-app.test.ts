/** JSON-RPC mounted in an Express app that is not ours, with and without a body parser in front. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node, type RpcHandlerOptions, rpcHandler } from '../../src/index.ts'
import { saying } from '../support/refusals.ts'

const CHAIN_ID = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
/** A dispatcher that shows the text that reaches it. */
const echo = { dispatcher: { dispatchText: async (text: string) => `echo:${text}` } }
const JSON_HEADERS = { 'Content-Type': 'application/json' }

let node: Node
let server: Server | undefined
let url: string

async function listen(app: Express): Promise<void> {
  const listening = createServer(app).listen(0, '127.0.0.1')
  server = listening
  await once(listening, 'listening')
  url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

function mounted(options: RpcHandlerOptions = {}, served: Parameters<typeof rpcHandler>[0] = node): Express {
  const app = express()
  app.get('/', (_request, response) => void response.send('the front page'))
  app.use('/rpc', rpcHandler(served, options))
  app.use((_request, response) => void response.status(418).end())
  return app
}

async function post(body: string, headers: Record<string, string> = {}, path = '/rpc') {
  const response = await fetch(url + path, { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

beforeEach(async () => {
  node = await createNode()
})
afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  await node.close()
})

describe('an Express app with rpcHandler', () => {
  beforeEach(() => listen(mounted({ cors: ['http://page.example'], maxBodyBytes: 1000 })))

  it('answers JSON-RPC below the mount point, and its own pages elsewhere', async () => {
    for (const path of ['/rpc', '/rpc/', '/rpc/healthz']) {
      expect(await post(CHAIN_ID, {}, path)).toMatchObject({
        status: 200,
        text: '{"jsonrpc":"2.0","id":1,"result":"0x21"}',
      })
    }
    expect(await (await fetch(url)).text()).toBe('the front page')
    expect((await post(CHAIN_ID, {}, '/elsewhere')).status).toBe(418)
  })

  it('keeps state between calls and batches', async () => {
    const mine = '{"jsonrpc":"2.0","id":1,"method":"evm_mine"}'
    const head = '{"jsonrpc":"2.0","id":2,"method":"eth_blockNumber"}'
    expect(JSON.parse((await post(`[${mine},${head}]`)).text)).toMatchObject([{}, { id: 2, result: '0x1' }])
    expect(node.engine.queries.head().block.header.number).toBe(1)
  })

  it('refuses other verbs, types and sizes with a JSON-RPC error', async () => {
    const read = await fetch(`${url}/rpc`)
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    expect(await read.json()).toMatchObject({ id: null, error: { code: -32600 } })
    expect((await fetch(`${url}/rpc/metrics`)).status).toBe(404)
    expect((await post(CHAIN_ID, { 'Content-Type': 'text/plain' })).status).toBe(415)
    expect((await post(`"${'x'.repeat(1000)}"`)).status).toBe(413)
  })

  it('checks Origin and answers preflights, and names each request', async () => {
    const page = { Origin: 'http://page.example' }
    const answer = await post(CHAIN_ID, { ...page, 'X-Request-Id': 'mine' })
    expect(answer.headers.get('access-control-allow-origin')).toBe('http://page.example')
    expect(answer.headers.get('x-request-id')).toBe('mine')
    const preflight = await fetch(`${url}/rpc`, { method: 'OPTIONS', headers: page })
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'POST'])
    expect((await post(CHAIN_ID, { Origin: url })).status).toBe(200)
    expect((await post(CHAIN_ID, { Origin: 'http://evil.example' })).status).toBe(403)
  })
})

describe('a middleware in front of rpcHandler', () => {
  it('may call next() later', async () => {
    const app = express()
    app.use(async (_request, _response, next) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      next()
    })
    await listen(app.use(mounted({}, echo)))
    expect((await post(' [1 ]')).text).toBe('echo: [1 ]')
  })

  it('may change the header until the end of the response', async () => {
    const app = express()
    app.use((_request, response, next) => {
      const end = response.end.bind(response) as (body: string, encoding?: BufferEncoding) => typeof response
      response.end = ((body: string, encoding: BufferEncoding) => {
        response.setHeader('X-Late', 'yes')
        return end(body, encoding)
      }) as typeof response.end
      next()
    })
    await listen(app.use(mounted()))
    const { headers, text } = await post(CHAIN_ID)
    expect([headers.get('x-late'), text]).toEqual(['yes', '{"jsonrpc":"2.0","id":1,"result":"0x21"}'])
  })

  it.each([
    ['express.json()', express.json()],
    ['express.text()', express.text({ type: '*/*' })],
    ['express.raw()', express.raw({ type: '*/*' })],
  ])('may parse the body: %s', async (_name, parser) => {
    const app = express().use(parser)
    await listen(app.use(mounted()))
    expect(JSON.parse((await post(CHAIN_ID)).text)).toEqual({ jsonrpc: '2.0', id: 1, result: '0x21' })
    expect(JSON.parse((await post(`[${CHAIN_ID}]`)).text)).toHaveLength(1)
  })

  it('may leave a body of another type to the handler', async () => {
    const app = express().use(express.json())
    await listen(app.use(mounted({}, echo)))
    expect((await post(' [1 ]', { 'Content-Type': 'application/json-rpc' })).text).toBe('echo: [1 ]')
    // express.json() makes an object of a body without bytes.
    expect((await post('')).text).toBe('echo:{}')
    expect((await post(' [1 ]')).text).toBe('echo:[1]')
  })

  it('that reads the body without setting request.body causes an error that says so', async () => {
    const app = express()
    app.use((request, _response, next) => {
      request.on('end', () => next()).resume()
    })
    await listen(app.use(mounted()))
    const { status, text } = await post(CHAIN_ID)
    expect(status).toBe(500)
    expect(JSON.parse(text)).toMatchObject({
      id: null,
      error: {
        code: -32603,
        message:
          'The request body was read before it reached rpcHandler: mount rpcHandler first, or a parser that sets request.body',
      },
    })
  })
})

it('refuses banned addresses', async () => {
  await listen(mounted({}, { ...echo, peers: { isBanned: (address) => address === '127.0.0.1' } }))
  const { status, text } = await post(CHAIN_ID)
  expect(status).toBe(403)
  expect(JSON.parse(text).error.message).toBe('Address is banned: see sco_unbanAddress')
})

it('checks its options as serve does', () => {
  expect(() => rpcHandler(echo, { maxBodyBytes: 0 })).toThrow(
    saying('Option "maxBodyBytes" expects a whole number from 1 to 1073741824, not 0.'),
  )
  // @ts-expect-error: an app has a port of its own
  expect(() => rpcHandler(echo, { port: 1 })).toThrow(saying('There is no option "port".'))
})
