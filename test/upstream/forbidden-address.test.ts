/** Link-local and metadata addresses: never connected to, however they are written and whatever resolves to them. */
import { lookup } from 'node:dns'
import { describe, expect, it, onTestFinished } from 'vitest'
import { forbiddenHost, type Resolver } from '../../src/upstream/forbidden-address.ts'
import { RpcClient } from '../../src/upstream/rpc-client.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { remoteSettings, testClock, testDeps } from '../support/remote.ts'

const REFUSAL = 'link-local and metadata addresses are never connected to'

describe('a URL', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'ws://169.254.0.1:8546',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]:80/',
    'http://[0:0:0:0:0:ffff:a9fe:a9fe]/',
    'http://[::a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[::ffff:0:169.254.169.254]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[fe80::1]/',
    'http://[febf::1]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://METADATA.google.internal./',
    'https://metadata/',
  ])('%s is refused', (url) => expect(forbiddenHost(url)).toBe(REFUSAL))

  it.each([
    'http://127.0.0.1:4444',
    'http://10.0.0.1',
    'http://169.253.1.1',
    'http://169.255.1.1',
    'http://[::1]:4444',
    'http://[fec0::1]/',
    'http://[fd00:ec2::253]/',
    'https://metadata.example',
    'wss://node.example/169.254.169.254',
  ])('%s is accepted', (url) => expect(forbiddenHost(url)).toBeUndefined())
})

describe('a name', () => {
  const resolving =
    (...addresses: string[]): Resolver =>
    (_, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )

  function clientOf(url: string, resolve: Resolver) {
    const client = new RpcClient(remoteSettings([url]), testDeps({ clock: testClock(), resolve }))
    onTestFinished(() => client.close())
    return client.send([{ method: 'eth_chainId', params: [] }])
  }

  it.each(['http', 'ws'])(
    'that resolves to a forbidden address is not connected to over %s, nor retried',
    async (scheme) => {
      const url = `${scheme}://node.example:1`
      for (const addresses of [['169.254.169.254'], ['::ffff:a9fe:a9fe'], ['127.0.0.1', 'fe80::1']]) {
        await expect(clientOf(url, resolving(...addresses))).rejects.toMatchObject({
          message: `The upstream ${url} cannot be used: node.example is ${addresses.at(-1)}; ${REFUSAL} (attempt 1). Check the URL, or add a second --fork <url>.`,
        })
      }
    },
  )

  it('that resolves to an allowed address is connected to', async () => {
    const proxy = await faultProxy(({ id }) => ({ jsonrpc: '2.0', id, result: '0x21' }))
    onTestFinished(() => proxy.close())
    const { port } = new URL(proxy.url)
    expect(await clientOf(`http://node.example:${port}`, resolving('127.0.0.1'))).toEqual([
      { result: '0x21' },
    ])
    const own: Resolver = (name, done) =>
      lookup(name, { all: true }, (error, found) => done(error, found ?? []))
    expect(await clientOf(`http://localhost:${port}`, own)).toEqual([{ result: '0x21' }])
  })
})
