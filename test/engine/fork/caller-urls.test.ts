/** Who may name the URL of an upstream, and which URLs get the headers and passwords of the operator. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createNode, type NodeOptions, rpcHandler, serve } from '../../../src/index.ts'
import { keyFile } from '../../support/api-keys.ts'
import { type Fault, type FaultProxy, faultProxy } from '../../support/fault-proxy.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { request } from '../../support/upstream-chain.ts'

let upstream: ServedNode
/** The operator's, and another one. Both pass requests on to the same node. */
let own: FaultProxy
let other: FaultProxy

beforeAll(async () => {
  upstream = await servedNode()
  await request(upstream.node, 'evm_mine')
  own = await faultProxy(upstream.url)
  other = await faultProxy(upstream.url)
})

afterAll(async () => {
  await own.close()
  await other.close()
  await upstream.close()
})

/** Notes the headers of all requests to a proxy from now on, and passes them on. */
function noteHeaders(proxy: FaultProxy): (string | undefined)[] {
  const seen: (string | undefined)[] = []
  const passOn: Fault = async ({ headers, response, forward }) => {
    seen.push([headers.authorization, headers['x-key']].join(' '))
    response.end(JSON.stringify(await forward()))
  }
  proxy.always(passOn)
  onTestFinished(() => proxy.always(undefined))
  return seen
}

async function forkOf(options: NodeOptions = {}) {
  const node = await createNode({
    fork: own.url.replace('//', '//user:word@'),
    forkHeader: 'X-Key: secret',
    forkCache: false,
    forkRetries: 0,
    ...options,
  })
  onTestFinished(() => node.close())
  return node
}

const CREDENTIALS = `Basic ${Buffer.from('user:word').toString('base64')} secret`

describe('headers and passwords', () => {
  it('are sent to the origin of the operator, and to no other origin that a caller names', async () => {
    const toOwn = noteHeaders(own)
    const toOther = noteHeaders(other)
    const node = await forkOf()
    expect(new Set(toOwn)).toEqual(new Set([CREDENTIALS]))
    await request(node, 'anvil_setRpcUrl', other.url)
    await request(node, 'eth_getBalance', `0x${'7'.repeat(40)}`, 'latest')
    await request(node, 'anvil_reset', { forking: { jsonRpcUrl: other.url } })
    await request(node, 'eth_getBalance', `0x${'7'.repeat(40)}`, 'latest')
    expect(toOther.length).toBeGreaterThan(3)
    expect(new Set(toOther)).toEqual(new Set([' ']))
    // The header is for the origin; the password belongs to the URL, which the caller did not know.
    await request(node, 'anvil_reset', { forking: { jsonRpcUrl: own.url } })
    expect(toOwn.at(-1)).toBe(' secret')
    await request(node, 'anvil_reset', { forking: { blockNumber: 1 } })
    expect(toOwn.at(-1)).toBe(CREDENTIALS)
  })

  it('of a node without a fork are not sent', async () => {
    const seen = noteHeaders(other)
    const node = await forkOf({ fork: undefined })
    await request(node, 'hardhat_reset', { forking: { jsonRpcUrl: other.url } })
    expect(new Set(seen)).toEqual(new Set([' ']))
  })

  it('are not sent to the target of a redirect, which is not followed', async () => {
    const seen = noteHeaders(other)
    own.always(({ response }) => {
      response.writeHead(307, { Location: other.url })
      response.end()
    })
    onTestFinished(() => own.always(undefined))
    await expect(forkOf()).rejects.toThrow(
      `The upstream ${own.url} cannot be used: it is not a JSON-RPC node (HTTP 307) (attempt 1). Check the URL, or add a second --fork <url>.`,
    )
    expect(seen).toEqual([])
  })
})

describe('a caller', () => {
  const refusal = (name: string) =>
    `-32001 ${name}: this node does not connect to URLs that callers name, since they may be on other machines; start it with --fork-allow ${other.url} to permit this one`

  it('of a server on loopback behind a reverse proxy may not give a URL', async () => {
    const served = await servedNode({ fork: own.url, forkCache: false }, { trustedProxies: ['127.0.0.1'] })
    onTestFinished(() => served.close())
    await expect(served.call('anvil_setRpcUrl', other.url)).rejects.toThrow(refusal('url'))
  })

  it('of a server beyond loopback may not give a URL, unless its origin is allowed', async () => {
    const served = await servedNode(
      { fork: own.url, forkCache: false },
      { host: '0.0.0.0', unsafeOpen: true },
    )
    onTestFinished(() => served.close())
    const forking = { jsonRpcUrl: other.url }
    await expect(served.call('anvil_setRpcUrl', other.url)).rejects.toThrow(refusal('url'))
    for (const reset of ['anvil_reset', 'hardhat_reset', 'evm_reset']) {
      await expect(served.call(reset, { forking })).rejects.toThrow(refusal('forking.jsonRpcUrl'))
    }
    await served.call('anvil_reset', { forking: { blockNumber: 0 } })
    expect(await served.call('eth_blockNumber')).toBe('0x0')
    // Whoever runs the process may.
    await request(served.node, 'anvil_setRpcUrl', other.url)
  })

  it.each([(url: string) => url, (url: string) => `${url}/`, () => '*'])(
    'of such a server may give a URL with an allowed origin',
    async (allowed) => {
      const served = await servedNode(
        { forkCache: false, forkAllow: ['https://node.example', allowed(other.url)] },
        { host: '0.0.0.0', unsafeOpen: true },
      )
      onTestFinished(() => served.close())
      await served.call('anvil_reset', { forking: { jsonRpcUrl: `${other.url}/path` } })
      expect(await served.call('eth_blockNumber')).toBe('0x1')
    },
  )

  it('with an API key may not give a URL', async () => {
    const keys = keyFile()
    const key = await keys.add('full', { allow: ['eth', 'anvil'] })
    const served = await servedNode({ fork: own.url, forkCache: false }, { apiKeys: keys.file })
    onTestFinished(async () => {
      await served.close()
      keys.remove()
    })
    const call = { jsonrpc: '2.0', id: 1, method: 'anvil_setRpcUrl', params: [other.url] }
    const { body } = await served.post(JSON.stringify(call), {}, `/${key}`)
    expect(`${body.error.code} ${body.error.message}`).toBe(refusal('url'))
  })

  it('of an app that mounts the handler may not give a URL, since its callers are unknown', async () => {
    const node = await forkOf()
    const { createServer } = await import('node:http')
    const server = createServer(rpcHandler(node))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    const { port } = server.address() as { port: number }
    const answer = await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_setRpcUrl', params: [other.url] }),
    })
    expect(await answer.json()).toMatchObject({ error: { code: -32001 } })
  })

  it('on loopback may give any URL, except a link-local one', async () => {
    const node = await forkOf({ fork: own.url })
    const server = await serve(node, { port: 0 })
    onTestFinished(() => server.close())
    await expect(
      request(node, 'anvil_reset', { forking: { jsonRpcUrl: 'http://169.254.169.254/latest' } }),
    ).rejects.toThrow(
      'The upstream http://169.254.169.254 cannot be used: link-local and metadata addresses are never connected to (attempt 1).',
    )
    await expect(request(node, 'anvil_setRpcUrl', 'http://[::ffff:a9fe:a9fe]')).rejects.toThrow(
      /link-local and metadata addresses are never connected to/,
    )
    expect(await request(node, 'eth_blockNumber')).toBe('0x1')
  })
})
