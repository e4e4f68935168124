/** Subscriptions over WebSocket, through reorganisations and new connections (acceptance checks 157 to 167). */
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { contractAddress } from '../../src/chain/transaction.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { transfer } from '../support/forge.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

/** One event whose topic is the value that came. */
const LOGGER = deployer(assemble('CALLVALUE PUSH1 0 PUSH1 0 LOG1 STOP'))
const ADDRESS = contractAddress(transfer(0, {}).from, 0n)
const TOPIC = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`

let served: ServedNode
beforeEach(async () => {
  served = await servedNode({ mining: 'manual' })
  await send(0n, null)
  await served.node.engine.commands.mine()
})
afterEach(() => served.close())

function raw(nonce: bigint, value: number): string {
  return toHex(transfer(0, { nonce, to: ADDRESS, value: BigInt(value) }).raw)
}
async function send(nonce: bigint, value: number | null): Promise<void> {
  const transaction =
    value === null
      ? transfer(0, { nonce, to: null, value: 0n, data: LOGGER })
      : transfer(0, { nonce, to: ADDRESS, value: BigInt(value) })
  await served.node.engine.commands.submit(transaction)
}

/** A notification, whose result is a header, a log or a hash. */
interface News {
  readonly subscription: string
  readonly result: Readonly<Record<string, string & { readonly [i: number]: string }>>
}

/** A reply or a notification, or a list of replies. */
interface Message {
  readonly id?: number
  readonly result?: unknown
  readonly error?: unknown
  readonly method?: string
  readonly params?: News
}

/** A client that records its notifications in order. */
async function client() {
  const socket = new WebSocket(served.wsUrl)
  const all: (Message & { readonly [i: number]: Message })[] = []
  socket.on('message', (data) => all.push(JSON.parse(String(data))))
  await once(socket, 'open')
  let id = 0
  return {
    socket,
    all,
    async call(method: string, ...params: unknown[]): Promise<unknown> {
      const mine = ++id
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: mine, method, params }))
      for (;;) {
        const reply = all.find((message) => message.id === mine)
        if (reply !== undefined) return reply.error ?? reply.result
        await once(socket, 'message')
      }
    },
    /** The notifications of all subscriptions so far; those sent before the request arrive before its response. */
    async news(): Promise<News[]> {
      await this.call('eth_chainId')
      return all.flatMap(({ method, params }) => (method === 'eth_subscription' && params ? [params] : []))
    },
  }
}

describe('over WebSocket', () => {
  it('a reorganisation is notified in order: removed logs, new headers, new logs', async () => {
    const one = await client()
    const heads = await one.call('eth_subscribe', 'newHeads')
    const logs = await one.call('eth_subscribe', 'logs', { address: ADDRESS, topics: [[TOPIC(1), TOPIC(3)]] })
    const pending = await one.call('eth_subscribe', 'newPendingTransactions')
    const { commands } = served.node.engine
    await send(1n, 1)
    await commands.mine()
    await send(2n, 2)
    await commands.mine()
    const headers = async () => (await one.news()).filter(({ subscription }) => subscription === heads)
    const hashes = async () => (await headers()).map(({ result }) => result.hash)
    const before = await hashes()
    const reorg = { depth: 2, blocks: [{ transactions: [raw(1n, 3)] }, {}, {}] }
    const { removed, added } = await served.call('evm_reorg', reorg)
    expect(removed).toEqual(before.toReversed())
    expect(added).toEqual((await hashes()).slice(2))
    const notified = (await one.news()).map(({ subscription, result }) => {
      if (subscription === heads) return `head ${Number(result.number)}`
      if (subscription === pending) return 'pending'
      expect(subscription).toBe(logs)
      return `${result.removed ? 'removed' : 'log'} ${Number(result.topics?.[0])} in ${Number(result.blockNumber)}`
    })
    expect(notified).toEqual([
      'pending',
      'head 2',
      'log 1 in 2',
      'pending',
      'head 3',
      'removed 1 in 2',
      'head 2',
      'head 3',
      'head 4',
      'log 3 in 2',
      // The transaction of value 2 waits again.
      'pending',
    ])
  })

  it('the id of a subscription is known before its first notification, and none follow its end', async () => {
    const one = await client()
    const both = [
      { jsonrpc: '2.0', id: 'a', method: 'eth_subscribe', params: ['newHeads'] },
      { jsonrpc: '2.0', id: 'b', method: 'evm_mine', params: [] },
    ]
    one.socket.send(JSON.stringify(both))
    const news = await one.news()
    expect(one.all[0]?.[0]?.result).toBe(news[0]?.subscription)
    await served.call('evm_mine')
    expect(await one.call('eth_unsubscribe', news[0]?.subscription)).toBe(true)
    await served.call('evm_mine')
    expect(await one.news()).toHaveLength(2)
    expect(one.all.findIndex(({ result }) => result === true)).toBeGreaterThan(
      one.all.findLastIndex(({ method }) => method === 'eth_subscription'),
    )
  })

  it('a socket does not receive what another subscribed to, and its subscriptions end with it', async () => {
    const [one, two] = [await client(), await client()]
    const id = await one.call('eth_subscribe', 'newHeads')
    expect(await two.call('eth_unsubscribe', id)).toBe(false)
    await served.call('evm_mine')
    expect([(await one.news()).length, (await two.news()).length]).toEqual([1, 0])
    one.socket.close()
    await once(one.socket, 'close')
    const again = await client()
    expect(await again.call('eth_unsubscribe', id)).toBe(false)
    await served.call('evm_mine')
    expect(await again.news()).toEqual([])
  })

  it('queued notifications are sent before the node closes the socket', async () => {
    const one = await client()
    await one.call('eth_subscribe', 'newHeads')
    const { commands } = served.node.engine
    await commands.mine({ blocks: 30 })
    const closed = once(one.socket, 'close')
    await served.server.close()
    const [code] = await closed
    expect(code).toBe(1001)
    expect(one.all.filter(({ method }) => method === 'eth_subscription')).toHaveLength(30)
  })

  it('refusals leave the socket open', async () => {
    const one = await client()
    expect(await one.call('eth_subscribe', 'nope')).toEqual({ code: -32601, message: 'method not found' })
    expect(await one.call('eth_unsubscribe')).toMatchObject({ code: -32602 })
    expect(await one.call('eth_subscribe', 'logs', { topics: [null, [null]], address: 'x' })).toMatchObject({
      code: -32602,
    })
    expect(await one.call('eth_subscribe', 'logs', { topics: [null, [null]] })).toMatch(/^0x[0-9a-f]{32}$/)
  })

  it('over HTTP subscriptions are refused', async () => {
    expect((await served.reply('eth_subscribe', ['newHeads'])).error).toEqual({
      code: -32601,
      message: 'method not found',
    })
  })
})

describe('many subscribers', () => {
  it('receive each block once, in order, while the chain grows fast', async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, client))
    await Promise.all(clients.map((one) => one.call('eth_subscribe', 'newHeads')))
    await served.call('evm_mine', { blocks: 100 })
    const expected = Array.from({ length: 100 }, (_, i) => i + 2)
    for (const one of clients) {
      expect((await one.news()).map(({ result }) => Number(result.number))).toEqual(expected)
    }
  })
})
