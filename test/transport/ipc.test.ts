/** JSON-RPC over a Unix socket, as geth's and Anvil's clients use it. */
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { createPublicClient } from 'viem'
import { ipc } from 'viem/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keyFile } from '../support/api-keys.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { serveEcho } from './echo-node.ts'

const request = (id: number, method: string, ...params: unknown[]) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

let path: string
let node: ServedNode | undefined
beforeEach(() => {
  path = join(temporaryFolder(), 'node.ipc')
})
afterEach(async () => {
  await node?.close()
  node = undefined
})

async function open(): Promise<Socket> {
  const socket = connect(path)
  await once(socket, 'connect')
  return socket
}

/** The next lines of a socket. */
async function lines(socket: Socket, count: number): Promise<string[]> {
  let text = ''
  while (text.split('\n').length - 1 < count) text += String((await once(socket, 'data'))[0])
  return text.trimEnd().split('\n')
}

const ids = (answers: readonly string[]) => answers.map((answer) => JSON.parse(answer).id)

describe('a Unix socket', () => {
  it('answers values with and without white space between them, in order, on one line each', async () => {
    node = await servedNode({}, { ipc: path })
    expect(node.server.ipcPath).toBe(path)
    const socket = await open()
    socket.write(`${request(1, 'eth_chainId')}${request(2, 'evm_mine')}\n\n`)
    socket.write(
      `[${request(3, 'eth_blockNumber')},${request(4, 'eth_nothing')}] ${request(5, 'net_version')}`,
    )
    const answers = await lines(socket, 4)
    expect(ids([answers[0], answers[1], answers[3]] as string[])).toEqual([1, 2, 5])
    expect(JSON.parse(answers[2] as string)).toMatchObject([
      { id: 3, result: '0x1' },
      { error: { code: -32601 } },
    ])
    socket.destroy()
  })

  it('reads a message that arrives in pieces, and answers after the peer has ended its side', async () => {
    node = await servedNode({}, { ipc: path })
    const socket = connect({ path, allowHalfOpen: true })
    const text = `${request(1, 'web3_sha3', `0x${'ab'.repeat(40_000)}`)}${request(2, 'eth_chainId')}`
    for (let i = 0; i < text.length; i += 30_000) {
      socket.write(text.slice(i, i + 30_000))
      await turn()
    }
    socket.end()
    expect(ids(await lines(socket, 2))).toEqual([1, 2])
    await once(socket, 'close')
  })

  it('sends the ID of a subscription before its notifications', async () => {
    node = await servedNode({}, { ipc: path })
    const socket = await open()
    socket.write(`${request(1, 'eth_subscribe', 'newHeads')}${request(2, 'evm_mine')}`)
    const [subscribed, ...rest] = (await lines(socket, 3)).map((line) => JSON.parse(line))
    const notification = rest.find(({ method }) => method === 'eth_subscription')
    expect(notification.params).toMatchObject({ subscription: subscribed.result, result: { number: '0x1' } })
    // A socket that goes ends its subscriptions.
    socket.destroy()
    await once(socket, 'close')
    await node.call('evm_mine')
  })

  it("serves viem's transport for such sockets", async () => {
    node = await servedNode({}, { ipc: path })
    const client = createPublicClient({ transport: ipc(path, { reconnect: false }) })
    expect(await client.getChainId()).toBe(33)
    let onData: (data: unknown) => void = () => {}
    const arrived = new Promise((resolve) => {
      onData = resolve
    })
    await client.transport.subscribe({ params: ['newHeads'], onData })
    await node.call('evm_mine')
    expect(await arrived).toMatchObject({ result: { number: '0x1' } })
    const rpcClient = await client.transport.getRpcClient()
    rpcClient.close()
  })

  it('answers invalid JSON and messages beyond the limit with an error, and closes', async () => {
    node = await servedNode({}, { ipc: path, maxBodyBytes: 200 })
    const cases: [string, number[]][] = [
      [`${request(1, 'eth_chainId')}nonsense`, [-32700]],
      [`["${'x'.repeat(300)}"]`, [-32600]],
    ]
    for (const [text, codes] of cases) {
      const socket = await open()
      let printed = ''
      socket.on('data', (chunk) => {
        printed += String(chunk)
      })
      socket.write(text)
      await once(socket, 'close')
      const answers = printed
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(answers.flatMap(({ error }) => (error === undefined ? [] : [error.code]))).toEqual(codes)
      if (codes[0] === -32700) expect(answers[0]).toMatchObject({ id: 1, result: '0x21' })
    }
    // A value that the parser refuses ends nothing.
    const socket = await open()
    socket.write(`{]${request(2, 'eth_chainId')}`)
    expect(ids(await lines(socket, 2))).toEqual([null, 2])
    socket.destroy()
  })

  it('finishes the running message when the server closes, and leaves no file', async () => {
    const echo = await serveEcho({ ipc: path })
    const socket = await open()
    socket.write('["hold"]')
    socket.write('{"held":1}')
    // The echo holds texts that begin so.
    socket.destroy()
    const other = await open()
    other.write('["a"]')
    expect(await lines(other, 1)).toEqual(['echo:["a"]'])
    const closed = once(other, 'close')
    await echo.server.close({ graceMs: 600_000 })
    await closed
    expect(existsSync(path)).toBe(false)
  })

  it('is open to its user only, needs no key, and disconnects a peer that does not read notifications', async () => {
    const keys = keyFile()
    await keys.add('someone')
    node = await servedNode({}, { ipc: path, apiKeys: keys.file, maxSocketBuffer: 1 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const socket = await open()
    socket.write(request(1, 'eth_subscribe', 'newHeads'))
    await lines(socket, 1)
    const closed = once(socket, 'close')
    // The second notification finds more than a byte of the first one unread.
    socket.write(request(2, 'hardhat_mine', '0x14'))
    await closed
    keys.remove()
  })
})

describe('the path of a socket', () => {
  it('may be the socket of a process that died, but no other file', async () => {
    const server = createServer().listen(path)
    await once(server, 'listening')
    await expect(servedNode({}, { ipc: path })).rejects.toThrow(
      `Cannot listen on ${path}: another process serves this socket.`,
    )
    // Renamed, it is left when its server closes, as by a process that is killed.
    renameSync(path, `${path}.old`)
    server.close()
    renameSync(`${path}.old`, path)
    await (await servedNode({}, { ipc: path })).close()
    expect(existsSync(path)).toBe(false)
    writeFileSync(path, 'text')
    await expect(servedNode({}, { ipc: path })).rejects.toThrow(
      `Cannot listen on ${path}: there is a file of another kind at this path.`,
    )
    const missing = join(path, '..', 'none', 'x.ipc')
    await expect(servedNode({}, { ipc: missing })).rejects.toThrow(
      `Cannot listen on ${missing}: the folder is missing or cannot be written.`,
    )
    const long = join(path, '..', 'x'.repeat(200))
    await expect(servedNode({}, { ipc: long })).rejects.toThrow(
      /a socket's path has at most 103 bytes, and this has \d+\./,
    )
    mkdirSync(join(path, '..', 'empty'))
    expect(readdirSync(join(path, '..')).sort()).toEqual(['empty', 'node.ipc'])
  })
})
