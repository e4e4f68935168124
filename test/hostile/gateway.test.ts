/** The gateway against those who have no key, or another one, and against those who take more than their key allows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { type KeyFileOfTest, keyFile } from '../support/api-keys.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { type Conversation, converse } from './conversation.ts'
import { handshake } from './frames.ts'
import { connection, statuses } from './raw-socket.ts'
import { leakIn } from './reply-check.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
const CODE = `0x${'c0de'.padStart(40, '0')}`

let keys: KeyFileOfTest
let key: string
let dev: string
let simulator: string
let served: ServedNode
beforeAll(async () => {
  keys = keyFile()
  key = await keys.add('team', { allow: ['eth', 'net', 'web3', 'trace'] })
  dev = await keys.add('developer', { allow: ['eth', 'debug', 'evm'] })
  simulator = await keys.add('simulator', {
    allow: [
      'eth',
      'debug',
      'trace',
      'ots',
      'evm_simulate',
      'evm_stackTrace',
      'evm_debugCall',
      'evm_debugSimulation',
      'tenderly',
    ],
  })
  await keys.add('entitled', { allow: ['eth', 'debug'], stateOverride: true })
  served = await servedNode(
    { maxFilters: 20, maxSubscriptions: 20 },
    { apiKeys: keys.file, maxSocketsPerKey: 10 },
  )
})
afterAll(async () => {
  await served.close()
  keys.remove()
})

const port = () => served.server.port
const requestAt = (path: string, verb = 'POST', headers = '') =>
  connection(
    port(),
    `${verb} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n${headers}Content-Length: ${CALL.length}\r\n\r\n${CALL}`,
  )
const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4)

describe('a path without a key as its last segment', () => {
  const tricks: [string, (key: string) => string][] = [
    ['none', () => '/'],
    ['none, twice', () => '//'],
    ['a key and an empty segment', (k) => `/${k}/`],
    ['a key and the way back', (k) => `/${k}/..`],
    ['a key and the way back, encoded', (k) => `/${k}/%2e%2e`],
    ['a key and the way back in one', (k) => `/${k}%2f..`],
    ['a key and a page', (k) => `/${k}/healthz`],
    ['a key and another', (k) => `/${k}/tandem_${'A'.repeat(43)}`],
    ['a key as query', (k) => `/?key=${k}`],
    ['a key as query alone', (k) => `/?${k}`],
    ['a key as query of a path', (k) => `/v1?apikey=/${k}`],
    ['a key as fragment', (k) => `/#${k}`],
    ['a key with a parameter', (k) => `/${k};x=1`],
    ['a key with a NUL', (k) => `/${k}%00`],
    ['a key with a line break', (k) => `/${k}%0d%0a`],
    ['a key with a space', (k) => `/${k}%20`],
    ['a key with a dot', (k) => `/${k}.`],
    ['a key with one letter encoded', (k) => `/%74${k.slice(1)}`],
    ['a key encoded as a whole', (k) => `/${[...k].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`],
    ['a key in capitals', (k) => `/${k.toUpperCase()}`],
    ['a key cut short', (k) => `/${k.slice(0, -1)}`],
    ['a key with one more', (k) => `/${k}A`],
    ['a key with another end', (k) => `/${k.slice(0, -2)}${k.endsWith('AA') ? 'BB' : 'AA'}`],
    ['a key after a backslash', (k) => `/x\\${k}`],
    ['a key in a credential', (k) => `http://${k}@localhost/`],
    ['a name of a key', () => '/team'],
    ['its file', () => '/../keys.json'],
    ['a member of every object', () => '/__proto__'],
    ['ten thousand segments', () => `/${'a/'.repeat(5000)}`],
    ['thirteen thousand letters', () => `/${'a'.repeat(13_000)}`],
    ['thirteen thousand dots', () => `/${'%2e%2e/'.repeat(1800)}`],
  ]

  it.each(tricks)('%s: none is authorised, and all get the same refusal', async (_, pathOf) => {
    const plain = bodyOf(await requestAt('/'))
    const text = await requestAt(pathOf(key))
    expect(statuses(text)).toEqual([401])
    expect(bodyOf(text)).toBe(plain)
    expect(text).not.toContain(key)
    const upgrade = await connection(port(), handshake(pathOf(key)))
    expect(statuses(upgrade)).toEqual([401])
    expect(bodyOf(upgrade)).toBe(plain)
  })

  it.each(tricks)('%s: no page is shown', async (_, pathOf) => {
    for (const page of [
      '/openrpc.json',
      '/metrics',
      '/%6detrics',
      '//metrics',
      '/METRICS',
      '/metrics/',
      '/healthz/../metrics',
    ]) {
      const path =
        pathOf(key)
          .replace(/[?#].*$/, '')
          .replace(/\/+$/, '') + page
      // A key before a page is how pages are asked for; any other way is none.
      if (path === `/${key}${page}` || path.endsWith(`/${key}/metrics`)) continue
      const text = await requestAt(path, 'GET')
      expect(statuses(text)).toEqual([401])
      expect(bodyOf(text)).not.toMatch(/tandem_|openrpc/)
      expect(leakIn(text)).toBeUndefined()
    }
  })

  it.each([
    'Authorization: Bearer KEY\r\n',
    'Authorization: Basic KEY\r\n',
    'X-API-Key: KEY\r\n',
    'Cookie: key=KEY\r\n',
    'X-Original-URL: /KEY\r\n',
    'X-Rewrite-URL: /KEY\r\n',
    'X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Prefix: /KEY\r\n',
    'Referer: http://localhost/KEY\r\n',
  ])('the header %j authorises nobody', async (header) => {
    expect(statuses(await requestAt('/', 'POST', header.replaceAll('KEY', key)))).toEqual([401])
  })

  it('a key as the last segment is authorised, whatever precedes or follows it', async () => {
    for (const path of [
      `/${key}`,
      `//${key}`,
      `/v1/${key}?x=1`,
      `/../${key}`,
      `/%00/${key}#x`,
      `http://elsewhere/${key}`,
    ]) {
      expect(await requestAt(path)).toContain('"result":"0x21"')
    }
  })
})

describe('a key', () => {
  it('without the right cannot replace state by any method', async () => {
    const overrides = { [CODE]: { code: '0x00' } }
    const unknown = `0x${'9'.repeat(64)}`
    const calls: Record<string, unknown[]> = {
      eth_call: [{ to: CODE }, 'latest', overrides],
      debug_traceCall: [{ to: CODE }, 'latest', { stateOverrides: overrides }],
      eth_simulateV1: [{ blockStateCalls: [{ stateOverrides: overrides, calls: [{ to: CODE }] }] }, 'latest'],
      evm_simulate: [{ steps: [{ set: overrides }] }],
      evm_stackTrace: [{ to: CODE }, 'latest', overrides],
      evm_debugCall: [{ to: CODE }, 'latest', overrides],
      evm_debugSimulation: [{ steps: [{ set: overrides }] }, 0],
      tenderly_simulateTransaction: [{ to: CODE }, 'latest', overrides],
      tenderly_simulateBundle: [[{ to: CODE }], 'latest', overrides],
      tenderly_estimateGas: [{ to: CODE }, 'latest', overrides],
      eth_callMany: [[{ transactions: [{ to: CODE }] }], null, overrides],
      eth_callBundle: [{ txs: ['0x00'], blockNumber: '0x1', stateOverrides: overrides }],
      eth_estimateGas: [{ to: CODE }, 'latest', overrides],
      eth_createAccessList: [{ to: CODE }, 'latest', overrides],
      trace_call: [{ to: CODE }, [], 'latest', overrides],
      trace_callMany: [[[{ to: CODE }, []]], 'latest', overrides],
      debug_traceTransaction: [unknown, { stateOverrides: overrides }],
      trace_replayTransaction: [unknown, [], overrides],
      ots_traceTransaction: [unknown, overrides],
      ots_getInternalOperations: [unknown, overrides],
    }
    const able = METHODS.filter(({ params }) =>
      params.some(({ parameter }) =>
        JSON.stringify(z.toJSONSchema(parameter.schema(), { unrepresentable: 'any', io: 'input' })).includes(
          '"stateDiff":',
        ),
      ),
    )
    expect(able.map(({ name }) => name).sort()).toEqual(Object.keys(calls).sort())
    for (const [method, params] of Object.entries(calls)) {
      const { body } = await served.post(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        {},
        `/${simulator}`,
      )
      expect(body.error).toEqual({ code: -32602, message: 'State override is not allowed' })
    }
  })

  it('cannot distinguish a closed method from one that does not exist', async () => {
    const ask = async (method: string) =>
      (await served.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }), {}, `/${key}`)).body
        .error
    for (const { name, namespace } of METHODS) {
      if (['eth', 'net', 'web3', 'trace', 'rpc'].includes(namespace)) continue
      const { code, message } = await ask(name)
      expect([code, message.replaceAll(name, 'NAME')]).toEqual([
        -32601,
        (await ask(`${namespace}_nothing`)).message.replaceAll(`${namespace}_nothing`, 'NAME'),
      ])
    }
  })
})

describe('a large number', () => {
  /** The texts of many equal calls' replies, parsed. */
  async function many(conversation: Conversation, method: string, params: string, count: number) {
    return (await conversation.callAll(method, new Array(count).fill(params))).map((text) => JSON.parse(text))
  }

  it('of filters of one key leaves room for another key', async () => {
    const [one, two] = await Promise.all([key, dev].map((each) => converse(`${served.wsUrl}/${each}`)))
    if (one === undefined || two === undefined) throw new Error('not open')
    const made = await many(one, 'eth_newBlockFilter', '[]', 200)
    expect(made.filter(({ result }) => result !== undefined)).toHaveLength(20)
    expect(new Set(made.flatMap(({ error }) => error?.code ?? []))).toEqual(new Set([-32005]))
    const [large] = await many(
      one,
      'eth_newFilter',
      JSON.stringify([{ address: new Array(5000).fill(CODE) }]),
      1,
    )
    expect(large.error.code).toBe(-32005)
    expect(
      (await many(two, 'eth_newBlockFilter', '[]', 20)).every(({ result }) => result !== undefined),
    ).toBe(true)
    one.close()
    two.close()
  })

  it('of subscriptions and sockets of one key leaves room for another key', async () => {
    const open = await Promise.all(Array.from({ length: 10 }, () => converse(`${served.wsUrl}/${key}`)))
    await expect(converse(`${served.wsUrl}/${key}`)).rejects.toThrow('429')
    const given = []
    for (const conversation of open) {
      const made = await many(conversation, 'eth_subscribe', '["newHeads"]', 40)
      given.push(...made.flatMap(({ result }) => result ?? []))
    }
    expect(given).toHaveLength(20)
    const other = await converse(`${served.wsUrl}/${dev}`)
    const [reply] = await many(other, 'eth_subscribe', '["newHeads"]', 1)
    expect(reply.result).toMatch(/^0x/)
    await many(other, 'evm_mine', '[]', 1)
    for (const conversation of [...open, other]) conversation.close()
    expect(new Set(given).size).toBe(given.length)
  })
})
