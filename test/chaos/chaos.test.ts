/** Chaos on a served node: each fault as clients see it, and the same replies for the same seed. */
import { once } from 'node:events'
import { Wallet } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { ChaosPlanInput } from '../../src/chaos/plan.ts'
import type { RpcError } from '../../src/rpc/error-codes.ts'
import { openTestNode } from '../../src/runners/test-node.ts'
import {
  ALWAYS,
  calmResult,
  disturbedNode,
  FROZEN,
  fetchedFrom,
  PATIENT,
  RECEIVER,
  transfer,
} from '../support/disturbed-node.ts'
import { COW, COW_KEY } from '../support/noting-chain.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { BAD_DAY } from './survivor.ts'

let served: ServedNode
afterEach(() => served.close())

/** Opens a node on which the plan is set after some blocks. */
async function disturbed(plan: ChaosPlanInput | string, blocks = 0): Promise<void> {
  served = await disturbedNode(plan, blocks)
}

const fetched = (method: string, params: unknown[] = [], headers: Record<string, string> = {}) =>
  fetchedFrom(served, method, params, headers)

describe('messages', () => {
  it('get a status, and evm_ calls and calm callers do not', async () => {
    await disturbed({ statuses: [{ status: 429, ...ALWAYS, retryAfter: 7 }] })
    const refused = await fetched('eth_blockNumber')
    expect(refused).toMatchObject({ status: 429, chaos: 'status=429' })
    expect(refused.headers.get('retry-after')).toBe('7')
    expect(await fetched('evm_chaos')).toMatchObject({ status: 200, chaos: null })
    const calm = await fetched('eth_blockNumber', [], { 'X-Tandem-Chaos': 'off' })
    expect(calm).toMatchObject({ status: 200, chaos: null })
    const { text } = await fetched('evm_chaos')
    expect(JSON.parse(text).result.counts).toEqual({ status: 1 })
  })

  it.each([true, false])('are dropped, cut off and left open (fast path: %s)', async (fastHttp) => {
    served = await servedNode(FROZEN, { fastHttp })
    await served.call('evm_setChaos', { connections: { drop: ALWAYS } })
    await expect(fetched('eth_blockNumber')).rejects.toThrow('fetch failed')
    await served.call('evm_setChaos', { connections: { truncate: ALWAYS } })
    await expect(fetched('eth_getBlockByNumber', ['0x0', false])).rejects.toThrow('terminated')
    await served.call('evm_setChaos', { connections: { stall: ALWAYS } })
    const open = fetched('eth_blockNumber').catch((error: Error) => error.message)
    await expect.poll(async () => (await served.call('evm_chaos')).counts.stall, PATIENT).toBe(1)
    // The server closes a half-open connection when it closes.
    await served.server.close()
    expect(await open).toBe('fetch failed')
  })

  it('are held by their latency, with what was done in the header', async () => {
    await disturbed({ latency: [{ distribution: 'uniform', ms: 30 }], stale: { ...ALWAYS, blocks: 1 } }, 3)
    const start = performance.now()
    const { chaos, text } = await fetched('eth_blockNumber')
    expect(performance.now() - start).toBeGreaterThan(28)
    expect(chaos).toBe('latency=30ms; stale=1')
    expect(JSON.parse(text).result).toBe('0x2')
  })

  it('have the limits of providers', async () => {
    await disturbed({ limits: { batch: 2, bodyBytes: 400, logBlocks: 3 } }, 5)
    const one = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
    const batch = await served.post<{ error: { code: number } }>(JSON.stringify([one, one, one]))
    expect(batch.body.error.code).toBe(-32600)
    expect((await served.post(JSON.stringify({ ...one, params: ['x'.repeat(400)] }))).status).toBe(413)
    await expect(served.call('eth_getLogs', { fromBlock: '0x1' })).rejects.toThrow('at most 3 blocks')
    expect(await served.call('eth_getLogs', { fromBlock: '0x3' })).toEqual([])
  })
})

describe('a WebSocket', () => {
  /** Sends calls, and returns what came back until there were so many messages or the socket closed. */
  async function exchange(url: string, calls: readonly object[], most: number) {
    const socket = new WebSocket(url)
    const texts: string[] = []
    await once(socket, 'open')
    for (const [i, call] of calls.entries())
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: i + 1, ...call }))
    await new Promise<void>((resolve) => {
      socket.on('close', () => resolve())
      socket.on('message', (data) => {
        texts.push(String(data))
        if (texts.length === most) socket.close()
      })
    })
    return texts
  }
  const CHAIN_ID = { method: 'eth_chainId' }

  it('gets errors with ids, cut off replies, and its end', async () => {
    await disturbed({ statuses: [{ status: 429, ...ALWAYS }] })
    const [refused] = await exchange(served.wsUrl, [CHAIN_ID], 1)
    expect(JSON.parse(refused as string)).toMatchObject({ id: 1, error: { code: -32005 } })
    expect(await exchange(`${served.wsUrl}/?chaos=off`, [CHAIN_ID], 1)).toEqual([
      '{"jsonrpc":"2.0","id":1,"result":"0x21"}',
    ])
    await served.call('evm_setChaos', { connections: { truncate: ALWAYS } })
    const [part] = await exchange(served.wsUrl, [CHAIN_ID], 1)
    expect('{"jsonrpc":"2.0","id":1,"result":"0x21"}'.startsWith(part as string)).toBe(true)
    expect(() => JSON.parse(part as string)).toThrow()
    await served.call('evm_setChaos', { statuses: [{ status: 502, ...ALWAYS }] })
    expect(await exchange(served.wsUrl, [CHAIN_ID], 1)).toEqual([])
    await served.call('evm_setChaos', { limits: { batch: 1 } })
    const socket = new WebSocket(served.wsUrl)
    await once(socket, 'open')
    socket.send(
      '[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"eth_chainId"}]',
    )
    const [data] = await once(socket, 'message')
    expect(JSON.parse(String(data)).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('at most 1 calls'),
    })
    socket.terminate()
  })

  it('is half-open: answers nothing more, and ends when the time is over', async () => {
    await disturbed({ connections: { stall: { methods: ['eth_chainId'], ...ALWAYS, ms: 50 } } })
    const other = { method: 'eth_blockNumber' }
    expect(await exchange(served.wsUrl, [other, CHAIN_ID, other], 3)).toHaveLength(1)
    expect((await served.call('evm_chaos')).counts).toEqual({ stall: 1 })
  })

  it('misses events, and gets them twice', async () => {
    served = await servedNode(FROZEN)
    const subscribe = { method: 'eth_subscribe', params: ['newHeads'] }
    const mine = { method: 'evm_mine' }
    const events = async (plan: ChaosPlanInput | null, most: number) => {
      await served.call('evm_setChaos', plan)
      const texts = await exchange(served.wsUrl, [subscribe, mine, mine], most)
      return texts.filter((text) => text.includes('eth_subscription'))
    }
    expect(await events(null, 5)).toHaveLength(2)
    const twice = await events({ subscriptions: { duplicate: ALWAYS } }, 7)
    expect(twice).toHaveLength(4)
    expect(twice[1]).toBe(twice[0])
    await served.call('evm_setChaos', { subscriptions: { gap: ALWAYS } })
    expect(await exchange(served.wsUrl, [subscribe, mine, mine], 3)).toHaveLength(3)
    expect((await served.call('evm_chaos')).counts).toEqual({ gap: 2 })
    const metrics = await (await fetch(`${served.url}/metrics`)).text()
    expect(metrics).toContain('tandem_chaos_faults_total{fault="gap"} 2')
  })
})

describe('a filter', () => {
  it('misses entries, and returns them twice', async () => {
    served = await servedNode(FROZEN)
    const id = await served.call('eth_newBlockFilter')
    const changes = async (subscriptions: NonNullable<ChaosPlanInput['subscriptions']>) => {
      await served.call('evm_setChaos', { subscriptions })
      await served.call('evm_mine')
      await served.call('evm_mine')
      const { text, chaos } = await fetched('eth_getFilterChanges', [id])
      return { entries: JSON.parse(text).result, chaos }
    }
    const twice = await changes({ duplicate: ALWAYS })
    const [first, second] = [...new Set(twice.entries)]
    expect(twice).toEqual({ entries: [first, first, second, second], chaos: 'duplicate=2; duplicate=2' })
    expect(await changes({ gap: ALWAYS })).toEqual({ entries: [], chaos: 'gap=0; gap=0' })
    expect((await served.call('evm_chaos')).counts).toEqual({ gap: 2 })
    await served.call('evm_mine')
    // A caller that is left alone misses nothing, and what was missed does not come back.
    expect(await calmResult(served, 'eth_getFilterChanges', id)).toHaveLength(1)
  })

  it('on logs misses them for as long as the window', async () => {
    served = await servedNode(FROZEN)
    const id = await served.call('eth_newFilter', {})
    const logger = await new Wallet(COW_KEY).signTransaction({
      ...{ type: 0, chainId: 33, gasPrice: 1, nonce: 0, gasLimit: 100_000 },
      // Logs twice while it is created.
      data: '0x60006000a060006000a0',
    })
    await served.call('evm_setChaos', { subscriptions: { gap: { ...ALWAYS, window: 1 } } }, 'logs')
    await served.call('eth_sendRawTransaction', logger)
    expect(await served.call('eth_getFilterChanges', id)).toEqual([])
    expect((await served.call('evm_chaos')).counts).toEqual({ gap: 2 })
    expect(await served.call('eth_getFilterLogs', id)).toHaveLength(2)
  })
})

describe('what was done to whom', () => {
  it('stands in the header, the log and the metrics', async () => {
    const lines: { message: string; fields: unknown }[] = []
    const note = (message: string, fields?: unknown) => void lines.push({ message, fields })
    const logger = { debug() {}, info: note, warn: note, error: note }
    served = await servedNode({ ...FROZEN, logger })
    await served.call('evm_mine', { blocks: 3 })
    await served.call('evm_setChaos', { stale: { ...ALWAYS, blocks: 2 } })
    const { chaos, headers } = await fetched('eth_blockNumber')
    expect(chaos).toBe('stale=2')
    expect(lines.filter(({ message }) => message.startsWith('chaos:'))).toEqual([
      {
        message: 'chaos: stale=2',
        fields: { about: 'eth_blockNumber', session: 'http', request: headers.get('x-request-id') },
      },
    ])
    const metrics = await (await fetch(`${served.url}/metrics`)).text()
    expect(metrics).toContain('tandem_chaos_faults_total{fault="stale"} 1')
  })
})

describe('in process', () => {
  it('calls fail as over a network, and each test of a runner meets the same faults', async () => {
    served = await servedNode()
    const test = await openTestNode({ chaos: { statuses: [{ status: 429, probability: 0.5 }] }, seed: '7' })
    const outcomes: string[] = []
    for (const _ of [1, 2]) {
      await test.begin()
      const each: string[] = []
      for (let i = 0; i < 20; i++) {
        const call = test.node.request({ method: 'eth_chainId' })
        each.push(await call.then(String, (error: RpcError) => `${error.code} ${error.message}`))
      }
      outcomes.push(each.join())
      await test.end()
    }
    await test.close()
    expect(outcomes[1]).toBe(outcomes[0])
    expect(outcomes[0]).toContain('0x21')
    expect(outcomes[0]).toContain('Too Many Requests')
  })
})

describe('answers', () => {
  it('of a follower know nothing of later blocks', async () => {
    served = await servedNode(FROZEN)
    const hash = await served.call('eth_sendRawTransaction', await transfer(0))
    const { number, hash: head } = await served.call('eth_getBlockByNumber', 'latest', false)
    await served.call('evm_setChaos', { stale: { ...ALWAYS, blocks: 1 } })
    expect(number).toBe('0x1')
    expect(await served.call('eth_blockNumber')).toBe('0x0')
    expect(await served.call('eth_getBalance', RECEIVER)).toBe('0x0')
    expect(await served.call('eth_getTransactionCount', COW, 'pending')).toBe('0x0')
    for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash']) {
      expect(await served.call(method, hash), method).toBeNull()
    }
    expect(await served.call('eth_getBlockByHash', head, false)).toBeNull()
    expect(await served.call('eth_getBlockByNumber', '0x1', false)).toBeNull()
    expect((await served.call('eth_getBlockByNumber', 'latest', false)).number).toBe('0x0')
    await expect(served.call('eth_getBalance', RECEIVER, '0x1')).rejects.toThrow('Block not found')
    await served.call('evm_setChaos', null)
    expect(await served.call('eth_getBalance', RECEIVER)).toBe('0x1')
  })

  it('hide a receipt for some polls, and raise prices', async () => {
    await disturbed({ receipts: { ...ALWAYS, polls: 2 }, gasPrice: { ...ALWAYS, factor: 5 } })
    const hash = await served.call('eth_sendRawTransaction', await transfer(0))
    const polls = []
    for (let i = 0; i < 3; i++) polls.push(await served.call('eth_getTransactionReceipt', hash))
    expect(polls.map((receipt) => receipt?.status ?? null)).toEqual([null, null, '0x1'])
    const high = BigInt(await served.call('eth_gasPrice'))
    await served.call('evm_setChaos', null)
    expect(high).toBe(5n * BigInt(await served.call('eth_gasPrice')))
  })
})

describe('the same seed', () => {
  /** Replies, headers and statuses to a sequence of calls, and the events of a subscription in process. */
  async function run(seed: string) {
    served = await servedNode({ ...FROZEN, seed })
    const events: unknown[] = []
    served.node.on('message', (message) => events.push(message))
    await served.node.request({ method: 'eth_subscribe', params: ['newHeads'] })
    const { latency: _, connections: __, ...plan } = BAD_DAY
    const subscriptions = { gap: { probability: 0.1 }, duplicate: { probability: 0.1 } }
    const connections = { drop: { probability: 0.1 } }
    // What is due waits for calls alone.
    await served.call('evm_setChaos', { ...plan, subscriptions, connections, idleMs: 600_000 }, seed)
    const seen: string[] = []
    for (let i = 0; i < 40; i++) {
      const [method, params] = [
        ['eth_sendTransaction', [{ from: COW, to: RECEIVER, value: '0x1' }]],
        ['eth_blockNumber', []],
        ['eth_getBlockByNumber', ['latest', true]],
        ['eth_getLogs', [{ fromBlock: '0x0' }]],
      ][i % 4] as [string, unknown[]]
      const { status, chaos, text } = await fetched(method, params).catch(() => ({
        status: 0,
        chaos: '',
        text: '',
      }))
      seen.push(`${status} ${chaos} ${text}`)
    }
    const { counts } = await served.call('evm_chaos')
    await served.close()
    return { seen, counts, events: JSON.stringify(events) }
  }

  it('gives byte-equal replies and events; another seed gives others', async () => {
    const first = await run('7')
    const again = await run('7')
    expect(again).toEqual(first)
    expect(Object.keys(first.counts).length).toBeGreaterThan(3)
    expect(JSON.parse(first.events).length).toBeGreaterThan(3)
    expect((await run('8')).seen).not.toEqual(first.seen)
  })
})
