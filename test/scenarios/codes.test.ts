/** What goes wrong at a gateway, row by row of the table of codes: the same over HTTP and WebSocket. */
import { once } from 'node:events'
import { type ClientRequestArgs, request } from 'node:http'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type KeyFileOfTest, keyFile } from '../support/api-keys.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const NOBODY = '0x00000000000000000000000000000000000dead1'
/** Emits an empty log three times, when it is created. */
const THREE_LOGS = `0x${'60006000a0'.repeat(3)}00`
const ENDLESS = '0x5b600056'
/** The first of the local accounts, which the genesis funds whoever holds keys. */
const SENDER = new Wallet('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How long the calls that spend the limits may take. */
const SPENDING_SECONDS = 60

let keys: KeyFileOfTest
let gateway: ServedNode
let plain: ServedNode
/** When the calls of the keys `spent` and `fast` began. */
let spentAt: number
/** Keys by name. */
const held = new Map<string, string>()

beforeAll(async () => {
  keys = keyFile()
  held.set('open', await keys.add('open', { allow: ['eth', 'trace', 'evm'], stateOverride: true }))
  held.set('plain', await keys.add('plain', { allow: ['eth'] }))
  held.set('spent', await keys.add('spent', { quota: '1/day' }))
  held.set('fast', await keys.add('fast', { rate: '1/h' }))
  const limits = { maxLogs: 2, maxLogBlocks: 1, maxTraceBlocks: 2, maxHeavy: 1, maxHeavyWaiting: 0 } as const
  gateway = await servedNode(
    { profile: 'hosted', methods: ['+evm_mine', '-eth_gasPrice'], ...limits },
    { apiKeys: keys.file, maxBodyBytes: 5000 },
  )
  plain = await servedNode({ maxLogs: 2, maxLogBlocks: 2 })
  spentAt = Date.now()
  for (const name of ['spent', 'fast']) await over(gateway, held.get(name)).http('eth_chainId', [])
  const [from] = await plain.call('eth_accounts')
  await plain.call('eth_sendTransaction', { from, data: THREE_LOGS, gas: '0x30d40' })
  for (let i = 0; i < 3; i++) await over(gateway, held.get('open')).http('evm_mine', [])
  for (let i = 0; i < 3; i++) await plain.call('evm_mine')
})
afterAll(async () => {
  await Promise.all([gateway.close(), plain.close()])
  keys.remove()
})

/** An answer in short. */
interface Answer {
  /** 101 for an upgrade that was granted. */
  readonly status: number
  readonly code: number | undefined
  readonly message: string
  readonly retry: string | undefined
}

function answerOf(status: number | undefined, retry: string | null | undefined, text: string): Answer {
  const { error } = JSON.parse(text)
  return { status: status ?? 0, code: error?.code, message: error?.message ?? '', retry: retry ?? undefined }
}

/** The two ways to ask one thing of a node. */
function over(node: ServedNode, path = '', headers: Record<string, string> = {}) {
  const body = (method: string, params: readonly unknown[]) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return {
    async http(method: string, params: readonly unknown[], more: ClientRequestArgs = {}): Promise<Answer> {
      const { port } = node.server
      const asked = request({
        port,
        method: 'POST',
        path: `/${path}`,
        ...more,
        headers: { 'Content-Type': 'application/json', ...headers, ...more.headers },
      })
      asked.end(more.method === 'GET' ? undefined : body(method, params))
      const [response] = await once(asked, 'response')
      let text = ''
      for await (const chunk of response) text += chunk
      return answerOf(response.statusCode, response.headers['retry-after'], text)
    },
    async webSocket(method: string, params: readonly unknown[]): Promise<Answer> {
      const socket = new WebSocket(`${node.wsUrl}/${path}`, { headers })
      socket.on('error', () => {})
      const refused = once(socket, 'unexpected-response').then(async ([, response]) => {
        let text = ''
        for await (const chunk of response) text += chunk
        return answerOf(response.statusCode, response.headers['retry-after'], text)
      })
      const opened = once(socket, 'open').then(async () => {
        socket.send(body(method, params))
        const [data] = await once(socket, 'message')
        socket.close()
        return answerOf(101, undefined, String(data))
      })
      return Promise.race([refused, opened])
    },
  }
}

/** Asks both ways. `status` is that of HTTP; over a WebSocket it is that of the upgrade, if it is refused. */
async function both(
  node: ServedNode,
  path: string | undefined,
  [method, params]: readonly [string, readonly unknown[]],
  wanted: { status: number; code: number; message: unknown; upgraded: boolean },
  headers: Record<string, string> = {},
): Promise<void> {
  const ways = over(node, path, headers)
  const { status, code, message } = wanted
  const expected = { code, message }
  expect(await ways.http(method, params)).toMatchObject({ status, ...expected })
  expect(await ways.webSocket(method, params)).toMatchObject({
    status: wanted.upgraded ? 101 : status,
    ...expected,
  })
}

const CHAIN_ID = ['eth_chainId', []] as const
const override = (code: string) => ['eth_call', [{ to: NOBODY }, 'latest', { [NOBODY]: { code } }]] as const

describe('the table of codes', () => {
  it.each([
    ['no key', ''],
    ['a malformed key', 'abc'],
    ['an unknown key', `tandem_${'B'.repeat(43)}`],
  ])('%s', async (_situation, path) => {
    const wanted = { status: 401, code: -32001, message: 'API key missing or not valid', upgraded: false }
    await both(gateway, path, CHAIN_ID, wanted)
  })

  it.each([
    ['the key', 'plain', 'trace_block', 'method not found'],
    ['the profile', 'open', 'eth_coinbase', 'the method eth_coinbase does not exist/is not available'],
    ['a switch', 'open', 'eth_gasPrice', 'the method eth_gasPrice does not exist/is not available'],
    ['the key, which does not name it', 'plain', 'evm_mine', 'method not found'],
    ['anybody, since it does not exist', 'open', 'eth_nope', 'method not found'],
  ])('a method that is not opened by %s', async (_by, name, method, message) => {
    const wanted = { status: 200, code: -32601, message, upgraded: true }
    await both(gateway, held.get(name), [method, []], wanted)
  })

  it('state override without the entitlement', async () => {
    const wanted = { status: 200, code: -32602, message: 'State override is not allowed', upgraded: true }
    await both(gateway, held.get('plain'), override('0x00'), wanted)
  })

  it.each([
    ['spent', 'Quota of 1/day exceeded', (now: number) => DAY_MS - (now % DAY_MS)],
    ['fast', 'Rate limit of 1/h exceeded', (now: number) => spentAt + HOUR_MS - now],
  ])('limits of a key that is %s, until they allow a call again', async (name, message, waitAt) => {
    await both(gateway, held.get(name), CHAIN_ID, { status: 429, code: -32005, message, upgraded: false })
    for (const way of ['http', 'webSocket'] as const) {
      const before = Date.now()
      const retry = Number((await over(gateway, held.get(name))[way](...CHAIN_ID)).retry)
      expect(retry).toBeLessThanOrEqual(Math.ceil(waitAt(before) / 1000) + SPENDING_SECONDS)
      expect(retry).toBeGreaterThanOrEqual(Math.floor(waitAt(Date.now()) / 1000))
    }
  })

  it('more logs or blocks than the limit', async () => {
    const logs = (fromBlock: string) => ['eth_getLogs', [{ fromBlock, toBlock: 'latest' }]] as const
    const node = { status: 200, code: -32012, upgraded: true }
    await both(plain, '', logs('0x0'), { ...node, message: 'Cannot query more than 2 blocks at once' })
    const one = ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x1' }]] as const
    await both(plain, '', one, { ...node, message: 'Filter returned more than 2 logs.' })
    // What a gateway is to mine is sent to it signed.
    const { http, webSocket } = over(gateway, held.get('open'))
    const signed = { data: THREE_LOGS, gasLimit: 200_000, gasPrice: 0, chainId: 33, type: 0, nonce: 0 }
    const raw = await SENDER.signTransaction(signed)
    expect(await http('eth_sendRawTransaction', [raw])).toMatchObject({ code: undefined })
    const hosted = { status: 200, code: -32005, upgraded: true }
    const wide = {
      ...hosted,
      message:
        'query returned more than 2 results: a query may return at most 2 logs over any range, or any number over at most 1 block',
    }
    await both(gateway, held.get('open'), logs('0x1'), wide)
    expect(await webSocket(...logs('0x4'))).toMatchObject({ code: undefined })
    const blocks = ['trace_filter', [{ fromBlock: '0x0', toBlock: 'latest' }]] as const
    const many = { ...hosted, message: /at most 2 blocks.*at most 100 traces/ }
    await both(gateway, held.get('open'), blocks, many)
  })

  it('shed under load', async () => {
    const { load } = gateway.node.dispatcher
    const place = load.takePlace({ label: 'test', owner: 'other' })
    const wanted = { status: 503, code: -32002, message: /^The node is busy/, upgraded: true }
    await both(gateway, held.get('open'), override(ENDLESS), wanted)
    expect((await over(gateway, held.get('open')).http(...override(ENDLESS))).retry).toBe('1')
    place.leave()
  })

  it.each([
    ['Origin', { Origin: 'http://elsewhere.example' }],
    ['Host', { Host: 'elsewhere.example' }],
  ])('a foreign %s', async (_header, headers) => {
    const wanted = { status: 403, code: -32001, message: /not allowed/, upgraded: false }
    await both(gateway, held.get('open'), CHAIN_ID, wanted, headers as Record<string, string>)
  })

  it('body too large, wrong type, wrong verb, no such page', async () => {
    const { http } = over(gateway, held.get('open'))
    const key = held.get('open')
    expect(await http('web3_sha3', [`0x${'00'.repeat(5000)}`])).toMatchObject({ status: 413, code: -32600 })
    const typed = { headers: { 'Content-Type': 'text/plain' } }
    expect(await http(...CHAIN_ID, typed)).toMatchObject({ status: 415, code: -32600 })
    expect(await http(...CHAIN_ID, { method: 'PUT' })).toMatchObject({ status: 405, code: -32600 })
    const page = { method: 'GET', path: `/${key}/nothing` }
    expect(await http(...CHAIN_ID, page)).toMatchObject({ status: 404, code: -32600 })
    const socket = new WebSocket(`${gateway.wsUrl}/${key}`)
    await once(socket, 'open')
    socket.send('x'.repeat(5001))
    expect((await once(socket, 'close'))[0]).toBe(1009)
  })
})
