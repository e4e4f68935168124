import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
const REMASC = '0x0000000000000000000000000000000001000008'
const UNKNOWN = `0x${'9'.repeat(64)}`
/** Deploys the word 1. */
const WORD = '0x600160005260206000f3'
const ONE = `${'0'.repeat(63)}1`
/** Counts the calls in slot 0, logs, and returns the call data's first word. */
const COUNTER = `
  PUSH1 0 SLOAD PUSH1 1 ADD PUSH1 0 SSTORE  PUSH1 0 CALLDATALOAD PUSH1 0 MSTORE
  PUSH1 32 PUSH1 0 LOG0  PUSH1 32 PUSH1 0 RETURN`

interface StructLogs {
  readonly structLogs: readonly Record<string, unknown>[]
  readonly [member: string]: unknown
}

let node: Node
const call = (method: string, ...params: unknown[]) => node.request({ method, params }) as Promise<never>
const send = async (fields: object): Promise<Hex> => call('eth_sendTransaction', { from: A, ...fields })
const trace = async (hash: Hex, options?: object): Promise<StructLogs> =>
  call('debug_traceTransaction', hash, ...(options === undefined ? [] : [options]))

let transfer: Hex
let creation: Hex
let counted: Hex
let counter: Hex

beforeAll(async () => {
  node = await createNode({ minedReverts: 'hash' })
  transfer = await send({ to: B, value: '0x1', gas: '0x5208' })
  creation = await send({ data: WORD, gas: '0x186a0' })
  const deployment = await send({ data: toHex(deployer(assemble(COUNTER))), gas: '0x7a120' })
  const receipt = (await call('eth_getTransactionReceipt', deployment)) as { contractAddress: Hex }
  counter = receipt.contractAddress
  await send({ to: counter, data: '0x01', gas: '0x186a0' })
  counted = await send({ to: counter, data: '0xa1b2c3d405', gas: '0x186a0' })
})
afterAll(() => node.close())

describe('the default tracer', () => {
  it('gives struct logs of a creation, and its return value', async () => {
    const { structLogs, ...rest } = await trace(creation)
    expect(structLogs[0]).toEqual({
      op: 'PUSH1',
      depth: 0,
      pc: 0,
      gas: 46_862,
      gasCost: 3,
      memory: [],
      stack: [],
      storage: {},
    })
    expect(structLogs).toHaveLength(6)
    expect(rest).toMatchObject({ result: ONE, error: '', reverted: false, storageSize: 0 })
  })

  it('shows slots with their values before and after', async () => {
    const { structLogs, ...rest } = await trace(counted)
    const slot = '0'.repeat(64)
    const two = `${'0'.repeat(63)}2`
    expect(rest).toMatchObject({
      contractAddress: counter.slice(2),
      initStorage: { [slot]: ONE },
      currentStorage: { [slot]: two },
      storageSize: 1,
    })
    // Every step lists the slots; the new value shows from the step after the SSTORE on.
    const storing = structLogs.findIndex(({ op }) => op === 'SSTORE')
    expect(structLogs.slice(0, storing + 1).map(({ storage }) => storage)).toEqual(
      Array.from({ length: storing + 1 }, () => ({ [slot]: ONE })),
    )
    expect(structLogs[storing + 1]?.storage).toEqual({ [slot]: two })
  })

  it.each([
    ['disableStack', 'stack', ['memory', 'storage']],
    ['DISABLEMEMORY', 'memory', ['stack', 'storage']],
    ['disablestorage', 'storage', ['memory', 'stack']],
  ])('omits members that %s disables', async (option, absent, present) => {
    for (const value of [true, 'true']) {
      for (const options of [{ [option]: value }, { tracerConfig: { [option]: value } }]) {
        for (const log of (await trace(counted, options)).structLogs) {
          expect(log).not.toHaveProperty(absent)
          for (const key of present) expect(log).toHaveProperty(key)
        }
      }
    }
    expect((await trace(counted, { [option]: 'false' })).structLogs[0]).toHaveProperty(absent)
  })

  it('shows a transfer without struct logs', async () => {
    expect(await trace(transfer)).toEqual({
      programInvoke: null,
      transferInvoke: {
        ownerAddress: B.slice(2).padStart(64, '0'),
        callerAddress: A.slice(2).padStart(64, '0'),
        gas: 0,
        callValue: ONE,
        msgData: '',
      },
      subtraces: [],
      result: null,
      error: null,
      reverted: false,
    })
  })
})

describe('the tracers', () => {
  it('are found by name, ignoring case', async () => {
    expect(await trace(counted, { tracer: 'RSKTRACER' })).toEqual(await trace(counted))
    expect(await trace(counted, { tracer: 'calltracer' })).toMatchObject({ type: 'CALL' })
  })

  it('are refused when the name is unknown', async () => {
    await expect(trace(counted, { tracer: 'nope' })).rejects.toMatchObject({
      code: -32602,
      message:
        'Invalid options.tracer: there is no tracer "nope"; there are rskTracer, structLogger, callTracer, prestateTracer, 4byteTracer, noopTracer, erc7562Tracer, muxTracer.',
    })
    for (const options of [null, 7, [], { tracer: 7 }, { tracerConfig: 7 }, { disableStack: 'perhaps' }]) {
      await expect(call('debug_traceTransaction', counted, options)).rejects.toMatchObject({ code: -32602 })
    }
    const inside = { tracer: 'muxTracer', tracerConfig: { nope: {} } }
    await expect(trace(counted, inside)).rejects.toMatchObject({ code: -32602 })
    const nested = { tracer: 'muxTracer', tracerConfig: { muxTracer: {} } }
    await expect(trace(counted, nested)).rejects.toMatchObject({ code: -32602 })
  })

  it('structLogger has geth’s shape', async () => {
    const { structLogs, ...rest } = await trace(counted, { tracer: 'structLogger' })
    const { gasUsed } = (await call('eth_getTransactionReceipt', counted)) as { gasUsed: Hex }
    expect(rest).toEqual({
      gas: Number(gasUsed),
      failed: false,
      returnValue: `0xa1b2c3d405${'0'.repeat(54)}`,
    })
    expect(structLogs[1]).toEqual({
      pc: 2,
      op: 'SLOAD',
      gas: expect.any(Number),
      gasCost: 200,
      depth: 1,
      stack: ['0x0'],
      storage: { ['0'.repeat(64)]: ONE },
    })
    const all = await trace(counted, { tracer: 'structLogger', enableMemory: true, enableReturnData: true })
    expect(all.structLogs.at(-1)).toMatchObject({ op: 'RETURN', memory: [`a1b2c3d405${'0'.repeat(54)}`] })
    const two = await trace(counted, { tracer: 'structLogger', limit: 2, disableStack: true })
    expect(two.structLogs).toHaveLength(2)
    expect(two.structLogs[0]).not.toHaveProperty('stack')
  })

  it('callTracer shows a transfer as one call', async () => {
    expect(await trace(transfer, { tracer: 'callTracer' })).toEqual({
      type: 'CALL',
      from: A,
      to: B,
      value: '0x1',
      // As on the reference node, when no code runs.
      gas: '0x0',
      gasUsed: '0x5208',
      input: '0x',
      output: '0x',
    })
  })

  it('callTracer gives logs on request, and with onlyTopCall the top call only', async () => {
    const logs = [
      { index: 0, address: counter, topics: [], data: `0xa1b2c3d405${'0'.repeat(54)}`, position: '0x0' },
    ]
    const withLog = await trace(counted, { tracer: 'callTracer', tracerConfig: { withLog: true } })
    expect(withLog).toMatchObject({ logs })
    expect(await trace(counted, { tracer: 'callTracer' })).not.toHaveProperty('logs')
    await call('evm_mine', { blocks: 12 })
    const rewards = async (options: object) =>
      ((await call('debug_traceBlockByNumber', 'latest', { tracer: 'callTracer', ...options })) as never)[0]
    const whole = (await rewards({})) as { result: { calls: object[] } }
    expect(whole.result.calls).toHaveLength(5)
    expect(await rewards({ onlyTopCall: true })).toMatchObject({ result: { to: REMASC } })
    expect(((await rewards({ onlyTopCall: true })) as { result: object }).result).not.toHaveProperty('calls')
  })

  it('callTracer gives the address of a creation, like the reference node', async () => {
    const { contractAddress } = (await call('eth_getTransactionReceipt', creation)) as {
      contractAddress: Hex
    }
    expect(await trace(creation, { tracer: 'callTracer' })).toMatchObject({
      type: 'CREATE',
      to: contractAddress,
      input: WORD,
      output: contractAddress,
    })
  })

  it('prestateTracer shows accounts before the transaction, and their changes', async () => {
    const slot = `0x${'0'.repeat(64)}`
    const found = (await trace(counted, { tracer: 'prestateTracer' })) as unknown as Record<Hex, object>
    expect(found[A]).toEqual({ balance: expect.any(String), nonce: 4 })
    expect(found[counter]).toEqual({
      balance: '0x0',
      code: toHex(assemble(COUNTER)),
      storage: { [slot]: `0x${ONE}` },
    })
    const difference = await trace(counted, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } })
    expect(difference).toMatchObject({
      pre: { [counter]: { storage: { [slot]: `0x${ONE}` } } },
      post: { [A]: { nonce: 5 }, [counter]: { storage: { [slot]: `0x${ONE.slice(0, 63)}2` } } },
    })
    const made = await trace(creation, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } })
    expect(Object.keys(made.pre as object)).toEqual([A])
    expect(Object.values(made.post as object)).toContainEqual({ code: `0x${ONE}` })
    const bare = { diffMode: true, disableCode: true, disableStorage: true }
    expect(await trace(counted, { tracer: 'prestateTracer', tracerConfig: bare })).toMatchObject({
      post: { [A]: { nonce: 5 } },
    })
  })

  it('prestateTracer shows what a constructor stores, as that of geth does for each SSTORE', async () => {
    const node = await createNode()
    const request = (method: string, ...params: unknown[]) => node.request({ method, params })
    const [from] = (await request('eth_accounts')) as Hex[]
    // Stores 42 in slot 7, and returns one byte of code.
    const data = '0x602a60075560016000f3'
    const hash = await request('eth_sendTransaction', { from, data, gas: '0x30d40' })
    const made = await request('debug_traceTransaction', hash, {
      tracer: 'prestateTracer',
      tracerConfig: { diffMode: true },
    })
    const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
    const { post } = made as { post: object }
    expect(Object.values(post)).toContainEqual({ code: '0x00', storage: { [word(7)]: word(42) } })
    await node.close()
  })

  it('4byteTracer, noopTracer and muxTracer have geth’s results', async () => {
    expect(await trace(counted, { tracer: '4byteTracer' })).toEqual({ '0xa1b2c3d4-1': 1 })
    expect(await trace(counted, { tracer: 'noopTracer' })).toEqual({})
    const parts = ['4byteTracer', 'callTracer', 'prestateTracer', 'structLogger', 'rskTracer', 'noopTracer']
    const tracerConfig = Object.fromEntries(parts.map((name) => [name, {}]))
    const apart = await Promise.all(parts.map(async (tracer) => [tracer, await trace(counted, { tracer })]))
    expect(await trace(counted, { tracer: 'muxTracer', tracerConfig })).toEqual(Object.fromEntries(apart))
  })
})

describe('whole blocks', () => {
  it('give the result of each transaction, with or without its hash', async () => {
    const { hash, transactions } = (await call('eth_getBlockByNumber', '0x5', false)) as {
      hash: Hex
      transactions: Hex[]
    }
    expect(transactions[0]).toBe(counted)
    expect(await call('debug_traceBlockByNumber', '0x5')).toEqual([
      await trace(counted),
      expect.objectContaining({ subtraces: [] }),
    ])
    for (const tracer of ['callTracer', 'prestateTracer', 'structLogger']) {
      const all = await call('debug_traceBlockByHash', hash, { tracer })
      expect(all).toEqual([
        { txHash: counted, result: await trace(counted, { tracer }) },
        { txHash: transactions[1], result: expect.anything() },
      ])
      expect(await call('debug_traceBlockByNumber', '0x5', { tracer })).toEqual(all)
    }
  })

  it('are null when unknown, empty at genesis, and may be pending', async () => {
    expect(await call('debug_traceBlockByHash', UNKNOWN)).toBeNull()
    expect(await call('debug_traceBlockByNumber', '0xffffff')).toBeNull()
    expect(await call('debug_traceBlockByNumber', 'earliest')).toEqual([])
    expect(await call('debug_traceBlockByNumber', 'pending', { tracer: 'callTracer' })).toMatchObject([
      { result: { to: REMASC } },
    ])
    expect(await call('debug_traceTransaction', UNKNOWN)).toBeNull()
  })
})

describe('debug_traceCall', () => {
  it('runs on the state of a block, with state overrides', async () => {
    const run = (block: string, options: object) =>
      call('debug_traceCall', { from: A, to: counter, data: '0x01' }, block, options)
    const slot = `0x${'0'.repeat(64)}`
    const tracer = 'prestateTracer'
    expect(await run('0x4', { tracer })).toMatchObject({ [counter]: { storage: { [slot]: `0x${ONE}` } } })
    const stateOverrides = { [counter]: { stateDiff: { [slot]: `0x${'0'.repeat(62)}ff` } } }
    expect(await run('latest', { tracer, stateOverrides })).toMatchObject({
      [counter]: { storage: { [slot]: `0x${'0'.repeat(62)}ff` } },
    })
    expect(await run('latest', { tracer: 'callTracer' })).toMatchObject({ type: 'CALL', to: counter })
    expect(((await run('latest', {})) as StructLogs).structLogs[0]).toMatchObject({ op: 'PUSH1', depth: 0 })
  })

  it('refuses unsupported requests', async () => {
    const message = { from: A, to: counter }
    await expect(call('debug_traceCall', message, '0x5', { txIndex: '0x2' })).rejects.toMatchObject({
      code: -32602,
      message: "options.txIndex: 2 is not below the block's 2 transactions",
    })
    await expect(call('debug_traceCall', message, '0x5', { txIndex: 'zz' })).rejects.toMatchObject({
      code: -32602,
      message: 'Invalid options.txIndex: expected a whole number from 0 to 2147483647.',
    })
    await expect(call('debug_traceCall', { ...message, gas: '0x1' })).rejects.toMatchObject({ code: -32602 })
    await expect(call('debug_traceCall', message, '0xffff')).rejects.toMatchObject({ code: -32602 })
  })
})

describe('the rest of the namespace', () => {
  it('has no queued messages of peers', async () => {
    expect(await call('debug_wireProtocolQueueSize')).toBe('0x0')
  })

  it('shows the quota of a sender', async () => {
    const limited = await createNode({ accountQuota: true, now: () => 1_700_000_000 })
    const quota = (address: string) =>
      limited.request({ method: 'debug_accountTransactionQuota', params: [address] })
    expect(await quota(A)).toBeNull()
    await limited.request({
      method: 'eth_sendTransaction',
      params: [{ from: A, to: B, gas: '0x5208', value: '0x1' }],
    })
    expect(await quota(A)).toEqual({ timestamp: 1_700_000_000_000, availableVirtualGas: expect.any(Number) })
    await expect(quota('0x12')).rejects.toMatchObject({
      code: -32602,
      message: 'invalid argument 0: hex string has length 2, want 40 for RSK address',
    })
    await limited.close()
  })
})
