/** Nothing that a client sends crashes or stalls the server, or gets an answer that is not Bitcoin Core's kind of error. */
import { createConnection } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { METHODS } from '../../src/bitcoin-rpc/dispatcher.ts'
import { BASIC, type Reply, ServedBitcoin } from './bitcoin-server.ts'

describe('hostile input', () => {
  let node: ServedBitcoin
  beforeAll(async () => {
    node = await ServedBitcoin.start()
    await node.call('createwallet', ['w'])
    await node.call('generatetoaddress', [101, await node.call('getnewaddress')])
  })
  afterAll(() => node.server.close())

  it('without the right user and password is answered 401', async () => {
    for (const authorization of [
      undefined,
      'Basic',
      'Basic !!!',
      'Bearer x',
      `Basic ${btoa('tandem:wrong')}`,
    ]) {
      const headers = new Headers(authorization === undefined ? {} : { authorization })
      const response = await fetch(node.server.url, { method: 'POST', body: '{}', headers })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toContain('Basic')
    }
  })

  it('that is no call is answered with an error', async () => {
    expect((await node.post('{')).status).toBe(500)
    expect(((await (await node.post('{')).json()) as Reply).error?.code).toBe(-32700)
    for (const body of [
      '1',
      'null',
      '{}',
      '{"method":1}',
      '{"method":"help","params":"x"}',
      `[${'['.repeat(500)}${']'.repeat(500)}]`,
    ]) {
      const response = await node.post(body)
      expect(JSON.stringify(await response.json())).toContain('-32600')
    }
    const nested = await node.post(`${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}`)
    expect(((await nested.json()) as Reply).error?.code).toBe(-32700)
    expect((await node.post(JSON.stringify(Array(1001).fill({})))).status).toBe(400)
    expect((await node.post(`"${'x'.repeat(9_000_001)}"`)).status).toBe(413)
    expect((await fetch(node.server.url, { method: 'GET' })).status).toBe(405)
    expect((await node.post('{}', '/wallet/%E0%A4%A')).status).toBe(404)
    expect(((await (await node.post('{"method":"__proto__"}')).json()) as Reply).error?.code).toBe(-32601)
  })

  it('that is too long for its kind is refused without being decoded', async () => {
    const long = 'ab'.repeat(4_000_000)
    await expect(node.call('decodescript', [long])).rejects.toThrow('at most 10000 bytes')
    expect(await node.call('validateaddress', [long])).toMatchObject({ isvalid: false })
    const broadcast = await fetch(`${node.server.url}/tx`, { method: 'POST', body: long })
    expect([broadcast.status, await broadcast.text()]).toEqual([400, expect.stringContaining('tx-size')])
  })

  it('that has more inputs or outputs than a block can hold is not shown or signed', async () => {
    const input = `${'11'.repeat(32)}0000000000ffffffff`
    // 60,000 inputs, as a count of three bytes.
    const raw = `02000000fd60ea${input.repeat(60_000)}0100e1f505000000000151${'00'.repeat(4)}`
    await node.call('loadwallet', ['w']).catch(() => undefined)
    for (const [method, ...more] of [
      ['decoderawtransaction'],
      ['signrawtransactionwithkey', []],
      ['signrawtransactionwithwallet'],
      ['fundrawtransaction'],
    ] as const) {
      const { error } = await node.reply(method, [raw, ...more])
      expect(error).toMatchObject({ code: -22, message: expect.stringContaining('larger than a block') })
    }
    expect((await node.reply('sendrawtransaction', [raw])).error?.message).toBe('bad-txns-oversize')
  })

  it('of random parameters gets a result or an error of a known code from every method', async () => {
    // These mine as many blocks as they are told.
    const slow = new Set(['generatetoaddress', 'generatetodescriptor'])
    const names = [...METHODS.keys()].filter((name) => !slow.has(name))
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(
        ...[
          '',
          '00',
          'ab'.repeat(32),
          'ff'.repeat(80),
          '02000000000100',
          'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
        ],
        ...['addr()', 'raw(51)', 'wpkh(', 'start', '1.5', '-1'],
      ),
      fc.constantFrom(-1, 0, 1, 2 ** 31, 2 ** 53, 1e300, true, null),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.array(value, { maxLength: 4 }), async (name, params) => {
        const { error } = await node.reply(name, params)
        expect(
          error === null || (error.code !== -32603 && error.message !== ''),
          `${name} ${JSON.stringify(error)}`,
        ).toBe(true)
      }),
      { numRuns: 600 },
    )
    expect(await node.call('getblockcount')).toBeGreaterThan(0)
  })

  it('that is cut off or never ends does not keep the server from answering or closing', async () => {
    const { port } = node.server
    const sockets = [
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{',
      'GARBAGE\r\n\r\n',
      'POST',
    ].map((text) => {
      const socket = createConnection({ port, host: '127.0.0.1' })
      socket.on('error', () => {})
      socket.write(text)
      return socket
    })
    expect(await node.call('getblockcount')).toBeGreaterThan(0)
    for (const socket of sockets) socket.destroy()
  })

  it('asks while blocks are mined', async () => {
    await node.call('createwallet', ['miner'])
    const address = await node.call<string>('getnewaddress', [], '/wallet/miner')
    const mining = node.call<string[]>('generatetoaddress', [200, address])
    const counts: number[] = []
    while (counts.length < 3) counts.push(await node.call<number>('getblockcount'))
    expect(await mining).toHaveLength(200)
  })

  it('that mines without end is answered by nobody once the client has gone, and others are answered meanwhile', async () => {
    const address = await node.call<string>('getnewaddress', [], '/wallet/miner')
    for (const body of [
      { method: 'generatetoaddress', params: [1e9, address] },
      Array(1000).fill({ method: 'generatetoaddress', params: [1e9, address] }),
    ]) {
      const client = new AbortController()
      const { signal } = client
      const answer = fetch(node.server.url, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: BASIC },
        signal,
      })
      const start = await node.call<number>('getblockcount')
      while ((await node.call<number>('getblockcount')) < start + 20);
      client.abort()
      await expect(answer).rejects.toThrow('abort')
      // Mining ends when the server sees that the connection is closed: some calls later.
      let [last, equal] = [-1, 0]
      while (equal < 5) {
        const count = await node.call<number>('getblockcount')
        equal = count === last ? equal + 1 : 0
        last = count
      }
    }
  })
})
