/** Upstreams behind WebSocket URLs. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createNode } from '../../../src/node.ts'
import { createRpcClient } from '../../../src/state/remote/rpc-client.ts'
import { remoteSettings, testClock, testDeps } from '../../support/remote.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import {
  readWord,
  request,
  tokenAbi,
  type UpstreamChain,
  upstreamChain,
} from '../../support/upstream-chain.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into what passes
type Message = any

/** A server whose `answer` gets each message; connections by number. */
async function socketServer(answer: (message: Message, socket: WebSocket, connection: number) => void) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  let connections = 0
  server.on('connection', (socket) => {
    const number = ++connections
    socket.on('message', (data) => answer(JSON.parse(String(data)), socket, number))
  })
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of server.clients) socket.terminate()
    server.close()
    await once(server, 'close')
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections }
}

function clientOf(url: string, clock = testClock()) {
  const client = createRpcClient(remoteSettings([url]), testDeps({ clock }))
  onTestFinished(() => client.close())
  return client
}

const result = ({ id }: Message, value: unknown) => ({ jsonrpc: '2.0', id, result: value })
const call = (name: string) => ({ method: name, params: [] })

describe('a client over WebSocket', () => {
  it('matches answers to requests by their ids, on one connection', async () => {
    const held: (() => void)[] = []
    const server = await socketServer((message, socket) => {
      const reply = Array.isArray(message)
        ? message.map((each) => result(each, each.method)).reverse()
        : result(message, message.method)
      held.push(() => socket.send(JSON.stringify(reply)))
      // In reverse order, once all are here.
      if (held.length === 3) for (const answer of held.reverse()) answer()
    })
    const client = clientOf(server.url)
    const answers = await Promise.all([
      client.send([call('a')]),
      client.send([call('b'), call('c')]),
      client.send([call('d')]),
    ])
    expect(answers).toEqual([[{ result: 'a' }], [{ result: 'b' }, { result: 'c' }], [{ result: 'd' }]])
    expect(server.connections()).toBe(1)
  })

  it('connects again after the connection was lost, and repeats what had no answer', async () => {
    const server = await socketServer((message, socket, connection) => {
      if (connection === 1) socket.terminate()
      else socket.send(JSON.stringify(result(message, 7)))
    })
    expect(await clientOf(server.url).send([call('a')])).toEqual([{ result: 7 }])
    expect(server.connections()).toBe(2)
  })

  it('gives up on a server that does not listen, in a sentence', async () => {
    await expect(clientOf('ws://127.0.0.1:1').send([call('a')])).rejects.toThrow(
      /upstream ws:\/\/127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/,
    )
  })

  it('ends what it waits for when it is closed', async () => {
    let asked = () => {}
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const server = await socketServer(() => asked())
    const client = clientOf(server.url)
    const waiting = client.send([call('a')])
    await isAsked
    client.close()
    await expect(waiting).rejects.toThrow(/The fork was closed/)
  })
})

describe('a fork over WebSocket', () => {
  let upstream: ServedNode
  let chain: UpstreamChain
  beforeAll(async () => {
    upstream = await servedNode()
    chain = await upstreamChain(upstream.node)
  })
  afterAll(() => upstream.close())

  it('reads and writes on the state of its upstream', async () => {
    const url = String(upstream.wsUrl).replace(/\/$/, '')
    const fork = await createNode({ fork: `${url}@latest`, forkCache: false })
    onTestFinished(() => fork.close())
    const balance = tokenAbi.encodeFunctionData('balanceOf', [chain.accounts[1]])
    expect(await readWord(fork, chain.token, balance)).toBe(1000n)
    await request(fork, 'evm_mine')
    expect(await request(fork, 'eth_blockNumber')).not.toBe(await request(upstream.node, 'eth_blockNumber'))
  })
})
