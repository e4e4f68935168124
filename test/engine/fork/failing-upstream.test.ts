/** A fork whose upstream fails, refuses or hangs: whoever waits for it receives the reason in time, the others go on. */
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import type { NodeOptions } from '../../../src/options/options.ts'
import {
  answering,
  cutOff,
  type Fault,
  type FaultProxy,
  faultProxy,
  halved,
  hanging,
  reset,
  tooMany,
} from '../../support/fault-proxy.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { request, type UpstreamChain, upstreamChain, WALK_LIST } from '../../support/upstream-chain.ts'

const STRANGER: Hex = '0x00000000000000000000000000000000000dead1'
const OTHER: Hex = '0x00000000000000000000000000000000000dead2'

let upstream: ServedNode
let chain: UpstreamChain
let proxy: FaultProxy

beforeAll(async () => {
  upstream = await servedNode()
  chain = await upstreamChain(upstream.node)
  proxy = await faultProxy(upstream.url)
  return async () => {
    await proxy.close()
    await upstream.close()
  }
})

afterEach(() => proxy.always(undefined))

async function forkOf(options: NodeOptions = {}): Promise<Node> {
  const node = await createNode({ fork: proxy.url, forkCache: false, rpcTimeoutMs: 1000, ...options })
  onTestFinished(() => node.close())
  return node
}

/** The answer's error. */
async function errorOf(answer: Promise<unknown>): Promise<{ code: number; message: string; data: unknown }> {
  return answer.then(
    (result) => Promise.reject(new Error(`answered ${JSON.stringify(result)}`)),
    ({ code, message, data }) => ({ code, message, data }),
  )
}

const balance = (node: Node, address: Hex, block: string = 'latest') =>
  request<Hex>(node, 'eth_getBalance', address, block)

/** The words around a reason, as a pattern; those of a broken connection are Node's. */
const UNUSABLE = 'cannot be used:'
const CHECK = '\\(attempt \\d+\\)\\. Check the URL, or add a second --fork <url>\\.'

describe.each<[string, Fault, string, number | undefined]>([
  ['answers HTTP 500', answering('boom', 500), `${UNUSABLE} HTTP 500 ${CHECK}`, 500],
  [
    'answers HTTP 429',
    tooMany(),
    `refuses further requests: too many requests \\(HTTP 429\\) \\(attempt \\d+\\)\\. Try again in \\d+ s, lower --fork-rate, or add a second --fork <url>\\.`,
    429,
  ],
  ['hangs', hanging, `${UNUSABLE} no answer within \\d+ ms ${CHECK}`, undefined],
  [
    'answers garbage',
    answering('garbage'),
    `${UNUSABLE} the answer is not JSON, or cut off ${CHECK}`,
    undefined,
  ],
  [
    'closes half-way',
    cutOff,
    `${UNUSABLE} [^.]*(terminated|aborted|closed|reset|SOCKET)[^.]* ${CHECK}`,
    undefined,
  ],
  ['sends half an answer', halved, `${UNUSABLE} the answer is not JSON, or cut off ${CHECK}`, undefined],
  ['resets connections', reset, `${UNUSABLE} [^.]*(ECONNRESET|closed)[^.]* ${CHECK}`, undefined],
])('an upstream that %s', (_, fault, why, status) => {
  it('is named with the attempt, and is called again by the next request', async () => {
    // What fails at once is given up after so many attempts, long before the time is over.
    const fork = await forkOf(fault === hanging ? {} : { rpcTimeoutMs: 60_000, forkRetries: 1 })
    proxy.always(fault)
    const { code, message, data } = await errorOf(balance(fork, STRANGER))
    expect(code).toBe(-32002)
    expect(message).toMatch(new RegExp(`^The upstream ${proxy.url} ${why}$`))
    expect(data).toEqual({ url: proxy.url, attempt: expect.any(Number), ...(status && { status }) })
    proxy.always(undefined)
    expect(await balance(fork, STRANGER)).toBe('0x0')
    expect(await balance(fork, OTHER, '0x1')).toBe('0x0')
  })
})

describe('while the upstream hangs', () => {
  it('commands that do not need it are carried out, and one that does fails with its name', async () => {
    const fork = await forkOf()
    const [from, to] = chain.accounts
    await request(fork, 'eth_sendTransaction', { from, to, value: '0x1' })
    proxy.always(hanging)
    let isStuck = true
    const stuck = errorOf(
      request(fork, 'eth_sendTransaction', { from, to: chain.list, data: WALK_LIST, gas: '0x100000' }),
    ).finally(() => {
      isStuck = false
    })
    await proxy.nextRequest()
    await request(fork, 'eth_sendTransaction', { from, to, value: '0x2' })
    await request(fork, 'evm_mine')
    expect(isStuck).toBe(true)
    expect(await stuck).toMatchObject({
      code: -32002,
      message: expect.stringMatching(
        `^The upstream ${proxy.url} ${UNUSABLE} no answer within \\d+ ms ${CHECK}$`,
      ),
    })
    const height = Number(await request<Hex>(fork, 'eth_blockNumber'))
    expect(await request(fork, 'txpool_status')).toEqual({ pending: 0, queued: 0 })
    proxy.always(undefined)
    const hash = await request(fork, 'eth_sendTransaction', {
      from,
      to: chain.list,
      data: WALK_LIST,
      gas: '0x100000',
    })
    expect(await request(fork, 'eth_getTransactionReceipt', hash)).toMatchObject({
      status: '0x1',
      blockNumber: `0x${(height + 1).toString(16)}`,
    })
  })

  it('calls that wait for it do not use up the limit of calls of their caller', async () => {
    const fork = await servedNode({ fork: proxy.url, forkCache: false, rpcTimeoutMs: 60_000, maxHeavy: 4 })
    onTestFinished(() => fork.close())
    const warm = [{ to: chain.list, data: WALK_LIST }, 'latest']
    const answer = await fork.call('eth_call', ...warm)
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const asked = new Promise<void>((resolve) => {
      proxy.always(async (passing) => {
        resolve()
        await released
        await answering(await passing.forward())(passing)
      })
    })
    let settled = 0
    const calls = Array.from({ length: 16 }, (_, i) =>
      fork
        .call('eth_call', { to: `0x${(0xdead00 + i).toString(16).padStart(40, '0')}` }, 'latest')
        .finally(() => {
          settled++
        }),
    )
    const cold = Promise.allSettled(calls)
    await asked
    expect(await fork.call('eth_call', ...warm)).toBe(answer)
    expect(settled).toBe(0)
    release()
    expect(await cold).toEqual(calls.map(() => ({ status: 'fulfilled', value: '0x' })))
  })

  it('a pooled transaction that needs it stays in the pool, and is mined when it answers again', async () => {
    const fork = await forkOf({ mining: 'manual' })
    const [from] = chain.accounts
    const hash = await request(fork, 'eth_sendTransaction', {
      from,
      to: chain.list,
      data: WALK_LIST,
      gas: '0x100000',
    })
    proxy.always(hanging)
    expect(await errorOf(request(fork, 'evm_mine'))).toMatchObject({ code: -32002 })
    proxy.always(undefined)
    await request(fork, 'evm_mine')
    expect(await request(fork, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
  })

  it('reads of blocks and logs below the fork fail with its name, and succeed when it answers again', async () => {
    const fork = await forkOf()
    proxy.always(hanging)
    const calls: [string, ...unknown[]][] = [
      ['eth_getBlockByNumber', '0x1', true],
      ['eth_getLogs', { fromBlock: '0x0', toBlock: '0x2' }],
      ['eth_getTransactionReceipt', `0x${'1'.repeat(64)}`],
      ['eth_getCode', STRANGER, '0x2'],
    ]
    const answers = await Promise.all(calls.map((call) => errorOf(request(fork, ...call))))
    expect(answers.map(({ code }) => code)).toEqual([-32002, -32002, -32002, -32002])
    proxy.always(undefined)
    expect(await request(fork, 'eth_getBlockByNumber', '0x1', true)).toMatchObject({ number: '0x1' })
  })
})

it('a fork does not start on an upstream that hangs, and reports why within --fork-timeout', async () => {
  proxy.always(hanging)
  await expect(createNode({ fork: proxy.url, forkCache: false, forkTimeoutMs: 300 })).rejects.toThrow(
    `The upstream ${proxy.url} cannot be used: no answer within 300 ms (attempt 1). Check the URL, or add a second --fork <url>.`,
  )
})
