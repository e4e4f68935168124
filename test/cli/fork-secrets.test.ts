/** User, password, path and query of an upstream's URL may be secrets: a real process repeats them nowhere. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand, startCommand } from '../support/command.ts'
import { answering, type Fault, type FaultProxy, faultProxy, reset } from '../support/fault-proxy.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const SECRETS = ['swordfish', 'hunter2', 'letmein', 'opensesame']
const [USER, PASSWORD, KEY, QUERY] = SECRETS
const HEADER = Buffer.from(`${USER}:${PASSWORD}`).toString('base64')

/** The address with secrets in each part that can hold one. */
function secretUrl(url: string): string {
  const { host } = new URL(url)
  return `http://${USER}:${PASSWORD}@${host}/${KEY}?key=${QUERY}`
}

function expectNoSecret(text: string, where: string): void {
  for (const secret of [...SECRETS, HEADER]) expect(text, where).not.toContain(secret)
}

let node: ServedNode
let proxy: FaultProxy
beforeAll(async () => {
  node = await servedNode()
  proxy = await faultProxy(node.url)
})
afterAll(async () => {
  await proxy.close()
  await node.close()
})

/** What upstreams answer on bad days; the last one tells the caller what it was sent. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'a status of 500': answering('no', 500),
  'a refusal of access': answering({ error: 'no' }, 401),
  'a web page': answering('<html></html>'),
  garbage: answering('{"jsonrpc"'),
  'another shape': answering({ jsonrpc: '2.0', id: 1, result: { a: [1] } }),
  'a closed connection': reset,
  'an error that repeats the request': ({ headers, response, body }) => {
    const id = Array.isArray(body) ? body[0].id : body.id
    const message = `unauthorized: ${headers.authorization} at ${secretUrl(proxy.url)}`
    const reply = { jsonrpc: '2.0', id, error: { code: -32_000, message } }
    response.end(JSON.stringify(Array.isArray(body) ? [reply] : reply))
  },
}

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

const flags = ['--fork-retries', '0', '--no-fork-cache', '--memory', '--log-level', 'debug']

describe('a start that fails', () => {
  const refused = async (where: string, ...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(['start', '--port', '0', ...flags, ...args])
    expect(code, where).not.toBe(0)
    expect(stderr, where).not.toBe('')
    expectNoSecret(stdout + stderr, where)
  }

  it('does not print the URL after an invalid answer, or one that repeats the request', async () => {
    for (const name of ['a refusal of access', 'another shape', 'an error that repeats the request']) {
      proxy.always(FAULTS[name])
      await refused(name, '--fork', secretUrl(proxy.url))
    }
    proxy.always(undefined)
  })

  it('does not print the URL when nothing answers, or when the chain is another', async () => {
    const closed = secretUrl(await closedPort())
    await Promise.all([
      refused('closed', '--fork', closed),
      refused('closed, at a block', '--fork', `${closed}@7`),
      refused('another chain', '--fork', secretUrl(proxy.url), '--fork-chain-id', '1'),
      refused('a block that is not there', '--fork', secretUrl(proxy.url), '--fork-block', '999'),
    ])
  })

  it('does not print a URL that is invalid or not allowed', async () => {
    const login = `${USER}:${PASSWORD}`
    const urls = [
      `http://${login}@127.0.0.1:99999/${KEY}`,
      `htp://${login}@127.0.0.1/${KEY}`,
      `${login}@127.0.0.1:8545/${KEY}?key=${QUERY}`,
      `http://${login}@169.254.169.254/${KEY}`,
      `http://${login}@127.0.0.1:1/${KEY}@soon`,
      `ws://${login}@127.0.0.1:1/${KEY}?key=${QUERY}`,
    ]
    await Promise.all(urls.map((url) => refused(url, '--fork', url)))
  })
})

describe('a fork that runs', () => {
  it('does not show the URL in any reply, page or log line, whatever its upstream does', async () => {
    const running = await startCommand([...flags, '--fork', secretUrl(proxy.url)])
    const asked: string[] = []
    const post = async (method: string, ...params: unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const headers = { 'Content-Type': 'application/json' }
      asked.push(await (await fetch(running.url, { method: 'POST', headers, body })).text())
    }
    let account = 0
    const askForNew = () =>
      post('eth_getBalance', `0x${(0xabc0 + account++).toString(16).padStart(40, '0')}`, 'latest')
    for (const fault of Object.values(FAULTS)) {
      proxy.always(fault)
      await askForNew()
      await post('anvil_nodeInfo')
      await post('hardhat_metadata')
      await post('web3_clientVersion')
      for (const page of ['readyz', 'healthz', 'livez', '']) {
        asked.push(await (await fetch(`${running.url.replace(/\/$/, '')}/${page}`)).text())
      }
      // After a good answer the next request waits for a quarter of a second at most; with each failure it doubles.
      proxy.always(undefined)
      await askForNew()
    }
    await post('anvil_setRpcUrl', secretUrl(await closedPort()))
    await post('eth_getBalance', `0x${'ab'.repeat(20)}`, 'latest')
    await post('anvil_reset', { forking: { jsonRpcUrl: secretUrl(await closedPort()) } })
    proxy.always(undefined)
    await running.end('SIGTERM')
    expect(asked.filter((text) => text.includes('"error"')).length).toBeGreaterThan(6)
    for (const text of [...asked, running.output()]) expectNoSecret(text, text)
  }, 60_000)
})
