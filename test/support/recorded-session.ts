/** A session of a node over HTTP, WebSocket and in process, as users have them, recorded to a file. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { createNode } from '../../src/node/node.ts'
import type { NodeOptions } from '../../src/options/options.ts'
import { serve } from '../../src/transport/server.ts'
import { artifact } from './contracts.ts'
import { noteData } from './noting-chain.ts'

const { bytecode } = artifact('Probe')

/** A client of a socket: one call after another, and the notifications in between. */
class SocketClient {
  readonly #socket: WebSocket
  #id = 0
  #waiting: ((reply: { result: unknown }) => void) | undefined

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString())
      if ('id' in message) this.#waiting?.(message)
    })
  }

  async call(method: string, ...params: unknown[]): Promise<unknown> {
    const reply = new Promise<{ result: unknown }>((resolve) => {
      this.#waiting = resolve
    })
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params }))
    return (await reply).result
  }
}

/** Records a session of about 40 calls; resolves when the file is complete. */
export async function recordSession(record: string, options: NodeOptions = {}): Promise<void> {
  const node = await createNode({ ...options, record })
  const server = await serve(node, { port: 0 })
  const post = async (body: string) => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer letmein' },
      body,
    })
    return JSON.parse((await response.text()) || 'null')
  }
  const http = async (method: string, ...params: unknown[]) =>
    (await post(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))).result
  const socket = new WebSocket(server.wsUrl)
  await once(socket, 'open')
  const ws = new SocketClient(socket)
  try {
    const [from] = (await node.request({ method: 'eth_accounts' })) as string[]
    await ws.call('eth_subscribe', 'newHeads')
    await ws.call('eth_subscribe', 'logs', {})
    const filter = await http('eth_newFilter', { fromBlock: '0x0' })
    const deployed = await http('eth_sendTransaction', { from, data: bytecode, gas: '0x200000' })
    const { contractAddress: to } = await http('eth_getTransactionReceipt', deployed)
    for (let i = 1; i <= 3; i++) {
      const hash = await ws.call('eth_sendTransaction', { from, to, data: noteData(i), gas: '0x40000' })
      await http('eth_getTransactionReceipt', hash)
    }
    await http('eth_getFilterChanges', filter)
    await http('eth_getLogs', { fromBlock: '0x0' })
    await node.request({ method: 'evm_increaseTime', params: [3600] })
    await node.request({ method: 'evm_mine' })
    await http('eth_getBlockByNumber', 'latest', false)
    await node.override(to, { balance: 5n })
    await http('eth_getBalance', to, 'latest')
    await http('personal_newAccount', 'the password')
    await http('personal_dumpRawKey', from)
    await http('personal_unlockAccount', from, 'another password', null)
    await node.request({ method: 'eth_call', params: [{ to, data: '0xdeadbeef' }] }).catch(() => {})
    await post('{"jsonrpc":"2.0","id":123456789012345678901,"method":"eth_blockNumber"}')
    await post('no json')
    await post(JSON.stringify([1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' }))))
    await Promise.all(Array.from({ length: 5 }, () => http('eth_blockNumber')))
  } finally {
    const closed = once(socket, 'close')
    socket.close()
    await closed
    await server.close()
    await node.close()
  }
}
