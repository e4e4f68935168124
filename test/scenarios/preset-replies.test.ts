/**
 * Replies under the presets in the shapes that Hardhat 2.29 and Anvil 1.7 gave to the same requests, and what stays hidden
 * with the REMASC transaction.
 */
import { afterEach, describe, expect, it, vi } from 'vitest'
import WebSocket from 'ws'
import type { NodeOptions } from '../../src/index.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const NOW = 2_000_000_000
const FIRST = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const POOR = `0x${'42'.repeat(20)}`
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const REMASC = '0x0000000000000000000000000000000001000008'
/** MSTORE(0, 42), SSTORE(1, 2), SLOAD(1), POP, RETURN(0, 32). */
const CREATION = '0x602a60005260026001556001545060206000f3'
const word = (value: number) => value.toString(16).padStart(64, '0')

let t: ServedNode
afterEach(() => t?.close())
async function serveNode(options: NodeOptions) {
  t = await servedNode({ now: () => NOW, ...options })
}
const errorOf = async (method: string, ...params: unknown[]) => (await t.reply(method, params)).error

describe.each(['hardhat', 'anvil'] as const)('the preset %s hides REMASC', (preset) => {
  it('in logs, filters and traces', async () => {
    await serveNode({ preset })
    const hash = await t.call('eth_sendTransaction', { from: FIRST, to: BOB, value: '0x1' })
    const ids = [await t.call('eth_newFilter', {}), await t.call('eth_newFilter', { fromBlock: '0x0' })]
    // From block 15 on each REMASC transaction logs payments.
    await t.call('hardhat_mine', '0x13')
    const { hiddenTransactions } = await t.call('eth_getBlockByNumber', 'latest', false)
    expect((await t.call('eth_getTransactionReceipt', hiddenTransactions[0])).logs).not.toEqual([])
    const all = { fromBlock: '0x0', toBlock: 'latest' }
    expect(await t.call('eth_getLogs', all)).toEqual([])
    expect(await t.call('eth_getLogs', { ...all, address: REMASC })).toEqual([])
    const { hash: head } = await t.call('eth_getBlockByNumber', 'latest', false)
    expect(await t.call('eth_getLogs', { blockHash: head })).toEqual([])
    for (const id of ids) {
      expect(await t.call('eth_getFilterChanges', id)).toEqual([])
      expect(await t.call('eth_getFilterLogs', id)).toEqual([])
    }
    expect(await t.call('trace_block', 'latest')).toEqual([])
    expect(await t.call('trace_filter', all)).toHaveLength(1)
    expect(await t.call('trace_replayBlockTransactions', 'latest', ['trace'])).toEqual([])
    for (const options of [{}, { tracer: 'callTracer' }, { tracer: 'prestateTracer' }]) {
      expect(await t.call('debug_traceBlockByNumber', 'latest', options)).toEqual([])
      expect(await t.call('debug_traceBlockByHash', head, options)).toEqual([])
      const traces = await t.call('debug_traceBlockByNumber', '0x1', options)
      expect(traces.map(({ txHash }: { txHash: string }) => txHash)).toEqual([hash])
    }
    expect(await t.call('trace_block', '0x1')).toMatchObject([{ transactionHash: hash }])
  })

  it('in subscriptions', async () => {
    await serveNode({ preset })
    const socket = new WebSocket(t.wsUrl)
    try {
      const received: { method?: string; id?: number }[] = []
      const closed = new Promise<void>((resolve) => {
        socket.on('message', (data) => {
          received.push(JSON.parse(String(data)))
          if (received.at(-1)?.id === 3) resolve()
        })
      })
      await new Promise((resolve) => socket.once('open', resolve))
      const send = (id: number, method: string, ...params: unknown[]) =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      send(1, 'eth_subscribe', 'logs', {})
      send(2, 'hardhat_mine', '0x13')
      send(3, 'eth_blockNumber')
      await closed
      expect(received.filter(({ method }) => method === 'eth_subscription')).toEqual([])
      expect(received.find(({ id }) => id === 3)).toMatchObject({ result: '0x13' })
    } finally {
      socket.terminate()
    }
  })

  it('shows REMASC transactions without the option', async () => {
    await serveNode({ preset, hideRemasc: false })
    await t.call('hardhat_mine', '0x13')
    expect(await t.call('eth_getLogs', { fromBlock: '0x13' })).not.toEqual([])
    expect(await t.call('trace_block', 'latest')).not.toEqual([])
    expect(await t.call('debug_traceBlockByNumber', 'latest')).toHaveLength(1)
  })

  it('and estimates for a sender without a balance, whatever it offers', async () => {
    await serveNode({ preset })
    for (const rest of [{ value: '0x1' }, {}, { gasPrice: '0x77359400' }, { maxFeePerGas: '0x77359400' }]) {
      expect(await t.call('eth_estimateGas', { from: POOR, to: BOB, ...rest })).toBe('0x5208')
    }
    expect(await t.call('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
    await t.call('evm_setAutomine', false)
    await t.call('eth_sendTransaction', { from: FIRST, to: BOB, value: '0x1' })
    expect(await t.call('txpool_status')).toEqual({ pending: '0x1', queued: '0x0' })
  })
})

describe('transactions that wait in the pool when automining is turned on', () => {
  const send = () => t.call('eth_sendTransaction', { from: FIRST, to: BOB, value: '0x1', gas: '0x5208' })

  // What Hardhat 2.29 and 3.18, and Anvil 1.7.1, answered to the same requests.
  it.each([
    ['hardhat', '0x0', { blockNumber: '0x1', transactionIndex: '0x1' }],
    ['anvil', '0x1', { blockNumber: '0x2', transactionIndex: '0x0' }],
  ] as const)('as with the node of the preset %s', async (preset, head, next) => {
    await serveNode({ preset })
    await t.call('evm_setAutomine', false)
    const waits = await send()
    await t.call('evm_setAutomine', true)
    expect(await t.call('eth_blockNumber')).toBe(head)
    expect(await t.call('eth_getTransactionReceipt', await send())).toMatchObject(next)
    expect(await t.call('eth_getTransactionReceipt', waits)).toMatchObject({
      blockNumber: '0x1',
      transactionIndex: '0x0',
    })
  })
})

it('the preset hardhat keeps the timer when automining is turned on, and mines what waits with it', async () => {
  await serveNode({ preset: 'hardhat' })
  await t.call('evm_setAutomine', false)
  const waits = await t.call('eth_sendTransaction', { from: FIRST, to: BOB, value: '0x1', gas: '0x5208' })
  await t.call('evm_setIntervalMining', 50)
  await t.call('evm_setAutomine', true)
  await vi.waitFor(
    async () => expect(await t.call('eth_getTransactionReceipt', waits)).not.toBeNull(),
    20_000,
  )
})

describe('mining on a timer that is turned on beside automining', () => {
  // As Hardhat 2.29 and 3.18, and Anvil 1.7.1, answered.
  it.each([
    ['hardhat', true],
    ['anvil', false],
  ] as const)('as with the node of the preset %s', async (preset, goesOn) => {
    await serveNode({ preset })
    const blockOf = async () => {
      const hash = await t.call('eth_sendTransaction', { from: FIRST, to: BOB, value: '0x1', gas: '0x5208' })
      return (await t.call('eth_getTransactionReceipt', hash))?.blockNumber
    }
    await t.call('evm_setIntervalMining', 3_600_000)
    expect(await blockOf()).toBe(goesOn ? '0x1' : undefined)
    await t.call('evm_setIntervalMining', 0)
    expect(await blockOf()).toBe(goesOn ? '0x2' : undefined)
  })
})

describe('estimates of the preset anvil, as Anvil 1.7.1 answered them, for a sender who cannot pay', () => {
  const RICH = FIRST
  const EMPTY = `0x${'66'.repeat(20)}`
  const TO = `0x${'77'.repeat(20)}`
  const ENDLESS = `0x${'78'.repeat(20)}`
  const REVERTS = `0x${'79'.repeat(20)}`
  const STORES = `0x${'7a'.repeat(20)}`
  const outOfGas = (allowance: number) => ({
    error: { code: -32003, message: `Out of gas: gas required exceeds allowance: ${allowance}` },
  })
  const cannotPay = { error: { code: -32003, message: 'Insufficient funds for gas * price + value' } }
  const estimate = (gas: string) => ({ result: gas })

  it.each([
    ['a call without a price', { from: EMPTY, to: TO }, estimate('0x5219')],
    ['a call at price 0', { from: EMPTY, to: TO, gasPrice: '0x0' }, estimate('0x5219')],
    ['a call without funds', { from: EMPTY, to: TO, gasPrice: '0x64' }, outOfGas(0)],
    ['a call with few', { from: POOR, to: TO, gasPrice: '0x64' }, outOfGas(1220)],
    ['a call with enough', { from: POOR, to: TO, gasPrice: '0x1' }, estimate('0x5219')],
    ['a call with too few for its code', { from: POOR, to: STORES, gasPrice: '0x5' }, outOfGas(24_400)],
    [
      'a call that sends some of them',
      { from: POOR, to: STORES, gasPrice: '0x5', value: '0x3e8' },
      outOfGas(24_200),
    ],
    [
      'a call with a value beyond the funds',
      { from: POOR, to: TO, gasPrice: '0x64', value: '0xffffff' },
      cannotPay,
    ],
    [
      'a call with a value beyond the funds and no price',
      { from: POOR, to: TO, value: '0xffffff' },
      cannotPay,
    ],
    ['a transfer', { from: EMPTY, to: POOR, gasPrice: '0x64', value: '0x1' }, estimate('0x5208')],
    ['a transfer with data', { from: EMPTY, to: POOR, gasPrice: '0x64', data: '0x01' }, outOfGas(0)],
    ['a creation', { from: EMPTY, data: '0x00', gasPrice: '0x64' }, outOfGas(0)],
    ['a call without a sender', { to: TO, gasPrice: '0x64' }, cannotPay],
    ['a call with little gas', { from: RICH, to: TO, gas: '0x64' }, outOfGas(100)],
    ['a call with less gas than funds', { from: POOR, to: TO, gas: '0x64', gasPrice: '0x64' }, outOfGas(100)],
    ['an endless call', { from: RICH, to: ENDLESS, gas: '0xf4240' }, outOfGas(1_000_000)],
    ['an endless call with few', { from: POOR, to: ENDLESS, gasPrice: '0x2' }, outOfGas(61_000)],
    ['a revert without funds', { from: EMPTY, to: REVERTS, gasPrice: '0x64' }, outOfGas(0)],
    [
      'a revert with some',
      { from: POOR, to: REVERTS, gasPrice: '0x2' },
      { error: { code: 3, message: 'execution reverted', data: '0x' } },
    ],
  ])('%s', async (_, request, expected) => {
    await serveNode({ preset: 'anvil' })
    await t.call('anvil_setCode', TO, '0x5a60005260206000f3')
    await t.call('anvil_setCode', ENDLESS, '0x5b600056')
    await t.call('anvil_setCode', REVERTS, '0x60006000fd')
    await t.call('anvil_setCode', STORES, '0x6001600055')
    await t.call('anvil_setBalance', POOR, '0x1dc90')
    const { result, error } = await t.reply('eth_estimateGas', [request])
    expect(error === undefined ? { result } : { error }).toEqual(expected)
  })
})

describe('the tags safe and finalized', () => {
  it.each([
    ['hardhat', '0x64', '0x64'],
    ['anvil', '0x44', '0x24'],
  ] as const)('of %s are blocks %s and %s of 100', async (preset, safe, finalized) => {
    await serveNode({ preset })
    const numberOf = async (tag: string) => (await t.call('eth_getBlockByNumber', tag, false)).number
    if (preset === 'anvil') expect(await numberOf('finalized')).toBe('0x0')
    await t.call('hardhat_mine', '0x64')
    expect([await numberOf('safe'), await numberOf('finalized')]).toEqual([safe, finalized])
    expect(BigInt(await t.call('eth_getBalance', FIRST, 'safe'))).toBe(10n ** 22n)
    expect(await t.call('eth_call', { to: BOB }, 'finalized')).toBe('0x')
    expect(await t.call('eth_getLogs', { fromBlock: 'finalized', toBlock: 'safe' })).toEqual([])
    expect(await t.call('debug_traceBlockByNumber', 'safe')).toEqual([])
  })

  it('are unknown to the reference node', async () => {
    await serveNode({})
    expect(await errorOf('eth_getBlockByNumber', 'safe', false)).toMatchObject({
      code: -32602,
      message: 'invalid blocknumber safe',
    })
    expect(await errorOf('eth_estimateGas', { from: POOR, to: BOB, value: '0x1' })).toEqual({
      code: -32000,
      message: 'insufficient funds for transfer',
    })
    expect(await t.call('txpool_status')).toEqual({ pending: 0, queued: 0 })
  })
})

describe('struct logs without the name of a tracer', () => {
  const call = { from: FIRST, data: CREATION }
  const OPS = 'PUSH1 PUSH1 MSTORE PUSH1 PUSH1 SSTORE PUSH1 SLOAD POP PUSH1 PUSH1 RETURN'.split(' ')

  it('have Hardhat’s form: words without 0x, all slots at each step, no member omitted', async () => {
    await serveNode({ preset: 'hardhat' })
    const { structLogs, gas, ...rest } = await t.call('debug_traceCall', call)
    expect(rest).toEqual({ failed: false, returnValue: `0x${word(42)}` })
    expect(gas).toBeGreaterThan(53_000)
    expect(structLogs.map(({ op }: { op: string }) => op)).toEqual(OPS)
    const members = { depth: 1, gas: expect.any(Number), gasCost: expect.any(Number) }
    expect(structLogs[1]).toEqual({
      ...members,
      op: 'PUSH1',
      pc: 2,
      memory: [],
      stack: [word(42)],
      storage: {},
    })
    const [memory, storage] = [[word(42)], { [word(1)]: word(2) }]
    expect(structLogs[5]).toEqual({
      ...members,
      op: 'SSTORE',
      pc: 9,
      memory,
      stack: [word(2), word(1)],
      storage,
    })
    expect(structLogs[10]).toEqual({ ...members, op: 'PUSH1', pc: 16, memory, stack: [word(32)], storage })
    const bare = { disableMemory: true, disableStack: true, disableStorage: true }
    const [first] = (await t.call('debug_traceCall', call, 'latest', bare)).structLogs
    expect(first).toEqual({ ...members, op: 'PUSH1', pc: 0 })
    const hash = await t.call('eth_sendTransaction', { from: FIRST, to: BOB, value: '0x1' })
    expect(await t.call('debug_traceTransaction', hash)).toEqual({
      failed: false,
      gas: 21_000,
      returnValue: '',
      structLogs: [],
    })
    const failing = await t.call('debug_traceCall', { from: FIRST, data: '0xfe' })
    expect(failing.structLogs).toMatchObject([{ op: 'INVALID', pc: 0 }])
  })

  it('have Anvil’s form: words with 0x, memory on request, slots where one is accessed', async () => {
    await serveNode({ preset: 'anvil' })
    const { structLogs, gas, ...rest } = await t.call('debug_traceCall', call)
    expect(rest).toEqual({ failed: false, returnValue: `0x${word(42)}` })
    expect(structLogs.map(({ op }: { op: string }) => op)).toEqual(OPS)
    const members = { depth: 1, gas: expect.any(Number), gasCost: expect.any(Number), refund: 0 }
    expect(structLogs[4]).toEqual({ ...members, pc: 7, op: 'PUSH1', stack: ['0x2'] })
    const storage = { [`0x${word(1)}`]: `0x${word(2)}` }
    expect(structLogs[5]).toEqual({ ...members, pc: 9, op: 'SSTORE', stack: ['0x2', '0x1'], storage })
    const options = { enableMemory: true, enableReturnData: true }
    const whole = (await t.call('debug_traceCall', call, 'latest', options)).structLogs
    const memory = [`0x${word(42)}`]
    expect(whole[7]).toEqual({
      ...members,
      pc: 12,
      op: 'SLOAD',
      stack: ['0x1'],
      returnData: '0x',
      memory,
      storage,
    })
    const hash = await t.call('eth_sendTransaction', { from: FIRST, to: BOB, value: '0x1' })
    const empty = { failed: false, gas: 21_000, returnValue: '0x', structLogs: [] }
    expect(await t.call('debug_traceTransaction', hash)).toEqual(empty)
    expect(await t.call('debug_traceBlockByNumber', 'latest')).toEqual([{ txHash: hash, result: empty }])
    expect(await t.call('debug_traceTransaction', hash, { tracer: 'structLogger' })).toEqual(empty)
    expect(await t.call('debug_traceTransaction', hash, { tracer: 'rskTracer' })).toHaveProperty(
      'transferInvoke',
    )
  })
})
