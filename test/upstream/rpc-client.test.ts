/** The client of an upstream: batches, faults, limits. The upstream answers each call with its own parameters. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { RpcClient } from '../../src/upstream/rpc-client.ts'
import type { RemoteSettings } from '../../src/upstream/settings.ts'
import {
  answering,
  changed,
  cutOff,
  type Fault,
  type FaultProxy,
  faultProxy,
  halved,
  hanging,
  type Message,
  reset,
  tooMany,
  tooManyInBatch,
} from '../support/fault-proxy.ts'
import { saying } from '../support/refusals.ts'
import { remoteSettings, type TestClock, testClock, testDeps } from '../support/remote.ts'

const echo = ({ id, params }: Message): Message => ({ jsonrpc: '2.0', id, result: params[0] })
const echoAll = (body: Message): Message => (Array.isArray(body) ? body.map(echo) : echo(body))

interface Fixture {
  readonly proxy: FaultProxy
  readonly client: RpcClient
  readonly clock: TestClock
  /** The results of so many calls, each of which has its place as its parameter. */
  ask(count: number): Promise<unknown[]>
}

async function fixture(
  settings: Partial<RemoteSettings> = {},
  more: readonly string[] = [],
): Promise<Fixture> {
  const proxy = await faultProxy(echoAll)
  const clock = testClock()
  const client = new RpcClient(remoteSettings([proxy.url, ...more], settings), testDeps({ clock }))
  onTestFinished(async () => {
    client.close()
    await proxy.close()
  })
  const ask = async (count: number) => {
    const calls = Array.from({ length: count }, (_, place) => ({ method: 'echo', params: [place] }))
    return (await client.send(calls)).map((outcome) => ('result' in outcome ? outcome.result : outcome.error))
  }
  return { proxy, client, clock, ask }
}

/** The whole message of a request that failed for this reason. */
const unusable = ({ url }: FaultProxy, why: string, attempt: number) =>
  `The upstream ${url} cannot be used: ${why} (attempt ${attempt}). Check the URL, or add a second --fork <url>.`

const places = (count: number) => Array.from({ length: count }, (_, place) => place)

describe('calls', () => {
  it('are sent in batches of at most 50, and a single call as an object', async () => {
    const { proxy, ask } = await fixture()
    expect(await ask(121)).toEqual(places(121))
    expect(proxy.bodies.map(({ length }) => length).sort()).toEqual([21, 50, 50])
    expect(await ask(1)).toEqual([0])
    expect(proxy.bodies.at(-1)).toMatchObject({ jsonrpc: '2.0', method: 'echo', params: [0] })
  })

  it('have the configured headers', async () => {
    const { proxy, ask } = await fixture({ headers: [['Authorization', 'Bearer word']] })
    let seen: unknown
    proxy.push(({ headers, response, body }) => {
      seen = headers.authorization
      response.end(JSON.stringify(echo(body)))
    })
    await ask(1)
    expect(seen).toBe('Bearer word')
  })

  it('are matched by id, in whatever order the replies come', async () => {
    const { proxy, ask } = await fixture()
    proxy.push(changed((reply) => reply.reverse()))
    expect(await ask(10)).toEqual(places(10))
  })

  it('keep the errors of the upstream', async () => {
    const { proxy, ask } = await fixture()
    proxy.push(changed(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no', data: 1 } })))
    expect(await ask(1)).toEqual([{ code: -32601, message: 'no', data: 1 }])
    expect(proxy.bodies).toHaveLength(1)
  })
})

describe('a fault', () => {
  it.each<[string, Fault]>([
    ['a reset connection', reset],
    ['an answer that is cut off', cutOff],
    ['half an answer', halved],
    ['an empty answer', answering('')],
    ['text', answering('upstream connect error', 502)],
    ['JSON of something else', answering({ status: 'ok' })],
    ['replies to other ids', changed((reply) => reply.map((one: Message) => ({ ...one, id: one.id + 1 })))],
    ['two replies to one id', changed((reply) => [reply[0], ...reply])],
    ['missing replies', changed((reply) => reply.slice(1))],
    ['replies without result', changed((reply) => reply.map(({ id }: Message) => ({ jsonrpc: '2.0', id })))],
    ['an unavailable server', answering('', 503)],
  ])('%s is retried after a pause', async (_, fault) => {
    const { proxy, clock, client, ask } = await fixture()
    proxy.push(fault)
    expect(await ask(5)).toEqual(places(5))
    expect(proxy.bodies).toHaveLength(2)
    expect(client.counts).toMatchObject({ requests: 2, retries: 1 })
    // 250 ms, of which the jitter, a half, leaves three quarters.
    expect(clock.waits).toEqual([187.5])
  })

  it('is retried after pauses that double up to ten seconds, at most the configured number of times', async () => {
    const { proxy, clock, ask } = await fixture({ retries: 7 })
    proxy.always(reset)
    await expect(ask(1)).rejects.toMatchObject({
      kind: 'upstream',
      message: expect.stringMatching(
        /^The upstream http:\/\/127\.0\.0\.1:\d+ cannot be used: ECONNRESET, [a-zA-Z ]+ \(attempt 8\)\. Check the URL, or add a second --fork <url>\.$/,
      ),
    })
    expect(proxy.bodies).toHaveLength(8)
    expect(clock.waits.map((wait) => wait / 0.75)).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000])
  })

  it('of a server that answers too slowly ends at the deadline and closes the connection', async () => {
    const { proxy, clock, ask } = await fixture({ timeoutMs: 1234, retries: 0 })
    proxy.push(hanging)
    const arrived = proxy.nextRequest()
    const asked = ask(2)
    await arrived
    clock.expire()
    const message = unusable(proxy, 'no answer within 1234 ms', 1)
    await expect(asked).rejects.toMatchObject({ message })
    expect(clock.running()).toBe(0)
  })

  it('switches to the next URL at once, and back to the first one when the other fails', async () => {
    const other = await faultProxy(echoAll)
    onTestFinished(() => other.close())
    const { proxy, clock, client, ask } = await fixture({}, [other.url])
    proxy.push(reset)
    expect(await ask(3)).toEqual(places(3))
    expect(clock.waits).toEqual([])
    expect(other.bodies).toHaveLength(1)
    expect(client.origin()).toBe(other.url)
    other.always(answering('<html>', 404))
    expect(await ask(3)).toEqual(places(3))
    expect(client.origin()).toBe(proxy.url)
  })

  it.each([
    ['a web page', answering('<html></html>'), 'it is not a JSON-RPC node (it answers with a web page)'],
    ['an unknown path', answering('not found', 404), 'it is not a JSON-RPC node (HTTP 404)'],
    [
      'a missing key',
      answering('no key', 401),
      'it refuses access (HTTP 401); check the key in the URL, or send one with --fork-header',
    ],
  ])('%s is not retried', async (_, fault, why) => {
    const { proxy, ask } = await fixture()
    proxy.always(fault)
    await expect(ask(1)).rejects.toMatchObject({ message: unusable(proxy, why, 1) })
    expect(proxy.bodies).toHaveLength(1)
  })

  it('of a server that refuses batches leads to permanently shorter ones', async () => {
    const { proxy, ask } = await fixture()
    proxy.always(async ({ body, forward, response }) => {
      const refused = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } }
      response.end(JSON.stringify(Array.isArray(body) && body.length > 3 ? refused : await forward()))
    })
    expect(await ask(10)).toEqual(places(10))
    const before = proxy.bodies.length
    expect(await ask(10)).toEqual(places(10))
    expect(proxy.bodies.slice(before).every(({ length }) => length <= 3)).toBe(true)
  })

  it('of an answer that is too large leads to shorter batches', async () => {
    const { proxy, ask } = await fixture()
    proxy.push(answering('', 413))
    expect(await ask(10)).toEqual(places(10))
    expect(proxy.bodies.map(({ length }) => length)).toEqual([10, 5, 5])
  })
})

describe('too many requests', () => {
  it.each([
    ['in seconds', '7', 7000],
    ['as a date', 'Tue, 14 Nov 2023 22:13:25 GMT', 5000],
  ])('with Retry-After %s are followed by that pause, or one a little longer', async (_, header, pause) => {
    const { proxy, clock, client, ask } = await fixture()
    proxy.push(tooMany(header))
    expect(await ask(2)).toEqual(places(2))
    // The clock of the test begins at 2023-11-14T22:13:20Z; jitter adds up to a tenth.
    expect(clock.waits).toEqual([pause * 1.05])
    expect(client.counts.rateLimited).toBe(1)
  })

  it('without Retry-After are followed by a pause of about a second', async () => {
    const { proxy, clock, ask } = await fixture()
    proxy.push(tooMany(), tooMany())
    await ask(2)
    expect(clock.waits).toEqual([750, 1500])
  })

  it.each<[string, Message, number]>([
    ['a code of 429', { code: 429, message: 'limited' }, 750],
    ['a name', { code: -32005, message: 'project ID request rate exceeded: rate limit' }, 750],
    ['a time in its data', { code: -32029, message: 'slow', data: { try_again_in: '2s' } }, 2100],
    ['compute units', { code: 429, message: 'exceeded its compute units per second capacity' }, 750],
  ])('inside of a batch, with %s, are retried alone', async (_, error, pause) => {
    const { proxy, clock, ask } = await fixture()
    proxy.push(tooManyInBatch([1, 3], error))
    expect(await ask(5)).toEqual(places(5))
    expect(proxy.bodies.map((body) => body.map(({ params }: Message) => params[0]))).toEqual([
      places(5),
      [1, 3],
    ])
    expect(clock.waits).toEqual([pause])
  })

  it('inside of batches are not failures as long as each batch answers a part', async () => {
    const { proxy, ask } = await fixture({ retries: 0 })
    proxy.push(
      tooManyInBatch([1, 2, 3, 4]),
      tooManyInBatch([1, 2, 3]),
      tooManyInBatch([1, 2]),
      tooManyInBatch([1]),
    )
    expect(await ask(5)).toEqual(places(5))
  })

  it('are not waited for when the wait is longer than a minute', async () => {
    const { proxy, clock, ask } = await fixture()
    proxy.push(tooMany('3600'))
    await expect(ask(1)).rejects.toMatchObject({
      message:
        `The upstream ${proxy.url} refuses further requests: too many requests (HTTP 429) (attempt 1). ` +
        'Try again in 3780 s, lower --fork-rate, or add a second --fork <url>.',
    })
    expect(clock.waits).toEqual([])
  })

  it('of a range of logs are returned as the answer', async () => {
    const { proxy, ask } = await fixture()
    const error = { code: -32005, message: 'query returned more than 10000 results' }
    proxy.push(changed(({ id }) => ({ jsonrpc: '2.0', id, error })))
    expect(await ask(1)).toEqual([error])
  })
})

describe('a rate', () => {
  it('sends the calls of a second at once, and spaces out the rest', async () => {
    const { clock, ask } = await fixture({ rate: 10 })
    await ask(10)
    expect(clock.waits).toEqual([])
    await ask(10)
    await ask(5)
    expect(clock.waits).toEqual([1000, 500])
    await clock.wait(600, new AbortController().signal)
    await ask(6)
    expect(clock.waits).toEqual([1000, 500, 600])
  })

  it('of a day is a budget that is renewed', async () => {
    const { clock, client, ask } = await fixture({ callsPerDay: 12 })
    await ask(10)
    expect(client.callsToday()).toBe(10)
    await expect(ask(3)).rejects.toMatchObject({
      kind: 'rate-limited',
      message:
        'The budget of 12 calls to the upstream in 24 hours is used up: 10 were made, and 3 more are needed. Raise it with --fork-calls-per-day, or use --fork-offline with what is cached.',
    })
    await ask(2)
    await clock.wait(86_400_000, new AbortController().signal)
    expect(client.callsToday()).toBe(0)
    await ask(12)
  })
})

it('a closed client ends open calls', async () => {
  const { proxy, client, ask } = await fixture()
  proxy.push(hanging)
  const arrived = proxy.nextRequest()
  const asked = ask(1)
  await arrived
  client.close()
  await expect(asked).rejects.toThrow(saying('The fork was closed.'))
})
