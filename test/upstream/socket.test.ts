/** Upstreams behind WebSocket URLs. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createNode } from '../../src/node/node.ts'
import { RpcClient } from '../../src/upstream/rpc-client.ts'
import { remoteSettings, testClock, testDeps } from '../support/remote.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { readWord, request, tokenAbi, type UpstreamChain, upstreamChain } from '../support/upstream-chain.ts'

/** A call of the client. */
interface Message {
  readonly id: number
  readonly method: string
}

/** A server whose `answer` gets each message; connections by number. */
async function socketServer<M = Message>(
  answer: (message: M, socket: WebSocket, connection: number) => void,
) {
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
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    open: () => server.clients.size,
  }
}

function clientOf(url: string, clock = testClock()) {
  const client = new RpcClient(remoteSettings([url]), testDeps({ clock }))
  onTestFinished(() => client.close())
  return client
}

const result = ({ id }: Message, value: unknown) => ({ jsonrpc: '2.0', id, result: value })
const call = (name: string) => ({ method: name, params: [] })

describe('a client over WebSocket', () => {
  it('matches answers to requests by their ids, on one connection', async () => {
    const held: (() => void)[] = []
    const server = await socketServer<Message | Message[]>((message, socket) => {
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

  it('connects again after the connection was lost, and repeats unanswered requests', async () => {
    const server = await socketServer((message, socket, connection) => {
      if (connection === 1) socket.terminate()
      else socket.send(JSON.stringify(result(message, 7)))
    })
    expect(await clientOf(server.url).send([call('a')])).toEqual([{ result: 7 }])
    expect(server.connections()).toBe(2)
  })

  it('gives up with a message on a server that does not listen', async () => {
    await expect(clientOf('ws://127.0.0.1:1').send([call('a')])).rejects.toMatchObject({
      message:
        'The upstream ws://127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1 (attempt 4). ' +
        'Check the URL, or add a second --fork <url>.',
    })
  })

  it('closes a connection whose reply is not JSON, and repeats the request on another', async () => {
    const closed: Promise<unknown>[] = []
    const server = await socketServer((message, socket, connection) => {
      if (connection === 1) closed.push(once(socket, 'close'))
      socket.send(connection === 1 ? '{"jsonrpc":' : JSON.stringify(result(message, 7)))
    })
    expect(await clientOf(server.url).send([call('a')])).toEqual([{ result: 7 }])
    await Promise.all(closed)
    expect(closed).toHaveLength(1)
    expect(server.open()).toBe(1)
  })

  it('drops a request whose deadline passed before the connection was open', async () => {
    const clock = testClock()
    const server = createServer()
    const sockets: Duplex[] = []
    const messages: Message[] = []
    const accepting = new WebSocketServer({ noServer: true })
    accepting.on('connection', (socket) => {
      socket.on('message', (data) => {
        const message: Message = JSON.parse(String(data))
        messages.push(message)
        socket.send(JSON.stringify(result(message, 7)))
      })
    })
    server.on('upgrade', (request, socket, head) => {
      sockets.push(socket)
      // The first handshake has no end.
      if (sockets.length > 1)
        accepting.handleUpgrade(request, socket, head, (made) => accepting.emit('connection', made))
      else {
        socket.once('end', () => accepting.emit('given up')).resume()
        clock.expire()
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const givenUp = once(accepting, 'given up')
    const { port } = server.address() as AddressInfo
    const client = clientOf(`ws://127.0.0.1:${port}`, clock)
    expect(await client.send([call('a')])).toEqual([{ result: 7 }])
    await givenUp
    expect(messages.map(({ method }) => method)).toEqual(['a'])
    expect(clock.running()).toBe(0)
  })

  it('opens another connection when one stops answering', async () => {
    const clock = testClock()
    const server = await socketServer((message, socket, connection) => {
      if (connection > 1 || message.method === 'a') socket.send(JSON.stringify(result(message, connection)))
      else clock.expire()
    })
    const client = clientOf(server.url, clock)
    expect(await client.send([call('a')])).toEqual([{ result: 1 }])
    expect(await client.send([call('b')])).toEqual([{ result: 2 }])
  })

  it('keeps a connection that answers others while one request takes too long', async () => {
    const clock = testClock()
    const held: (() => void)[] = []
    const server = await socketServer((message, socket) => {
      const reply = () => socket.send(JSON.stringify(result(message, message.method)))
      if (message.method !== 'slow' || held.length > 0) reply()
      else held.push(reply)
    })
    const client = clientOf(server.url, clock)
    const slow = client.send([call('slow')])
    expect(await client.send([call('a')])).toEqual([{ result: 'a' }])
    expect(held).toHaveLength(1)
    clock.expire()
    expect(await slow).toEqual([{ result: 'slow' }])
    expect(server.connections()).toBe(1)
  })

  it('ends its pending requests when it is closed', async () => {
    let asked = () => {}
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const server = await socketServer(() => asked())
    const client = clientOf(server.url)
    const waiting = client.send([call('a')])
    await isAsked
    client.close()
    await expect(waiting).rejects.toMatchObject({ message: 'The fork was closed.' })
  })
})

/** The program of a process, which reads what it trusts at its start: one call by the built client to the URL it is given. */
const ASK = `
  import { RpcClient } from './dist/upstream/rpc-client.js'
  import { systemDeps } from './dist/upstream/environment.js'
  const settings = { urls: [process.argv[1]], headers: [], headerOrigins: [], timeoutMs: 5000, retries: 0, rate: 0, callsPerDay: 0 }
  const client = new RpcClient(settings, systemDeps(() => {}))
  const answer = await client.send([{ method: 'a', params: [] }]).catch((error) => error.message)
  process.stdout.write(typeof answer === 'string' ? answer : JSON.stringify(answer))
  client.close()
`

describe('wss', () => {
  const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url))

  /** A server with the first certificate, and a process that asks it, which trusts another one or none. */
  async function ask(trusted: string | undefined): Promise<string> {
    const server = createTlsServer({
      cert: readFileSync(fixture('first.cert.pem')),
      key: readFileSync(fixture('first.key.pem')),
    })
    const sockets = new WebSocketServer({ server })
    sockets.on('connection', (socket) => {
      socket.on('message', (data) => socket.send(JSON.stringify(result(JSON.parse(String(data)), 'asked'))))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      for (const socket of sockets.clients) socket.terminate()
      server.close()
    })
    const url = `wss://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', ASK, url], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: trusted === undefined ? env : { ...env, NODE_EXTRA_CA_CERTS: fixture(trusted) },
    })
    return stdout
  }

  it('is used when its certificate is trusted', async () => {
    expect(await ask('first.cert.pem')).toBe('[{"result":"asked"}]')
  })

  it.each([undefined, 'second.cert.pem'])(
    'is refused when its certificate is not trusted: %s',
    async (trusted) => {
      expect(await ask(trusted)).toMatch(
        /The upstream wss:\/\/127\.0\.0\.1:\d+ cannot be used: .*(certificate|signature)/,
      )
    },
  )
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
