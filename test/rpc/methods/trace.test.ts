import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { openSession, type Session } from '../../../src/rpc/session.ts'
import { assemble, deployer } from '../../support/assembler.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
const C = '0x00000000000000000000000000000000000dead1'
const REMASC = '0x0000000000000000000000000000000001000008'
const ZERO = '0x0000000000000000000000000000000000000000'
const UNKNOWN = `0x${'9'.repeat(64)}`
/** Emits one log and deploys nothing. */
const LOGGING = `0x7f${'1'.repeat(64)}60006000a100`
const FAILING = '0x60006000fd'

interface Row {
  readonly action: Record<string, unknown>
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly transactionPosition: number
  readonly type: string
  readonly result: Record<string, unknown> | null
  readonly error?: string
}

let node: Node
const call = (method: string, ...params: unknown[]) => node.request({ method, params })
const rows = (method: string, ...params: unknown[]) => call(method, ...params) as Promise<Row[]>
const send = async (fields: object) => (await call('eth_sendTransaction', { from: A, ...fields })) as Hex
let transfer: Hex
let creation: Hex
let failed: Hex

beforeAll(async () => {
  node = await createNode({ minedReverts: 'hash' })
  transfer = await send({ to: B, value: '0x1', gas: '0x5208' })
  creation = await send({ data: LOGGING, gas: '0x186a0' })
  failed = await send({ data: FAILING, gas: '0x186a0' })
  await send({ from: B, to: C, value: '0x2' })
  await call('evm_mine')
})
afterAll(() => node.close())

describe('trace_transaction', () => {
  it('shows a transfer as one call without gas', async () => {
    const { hash } = (await call('eth_getBlockByNumber', '0x1', false)) as { hash: Hex }
    expect(await call('trace_transaction', transfer)).toEqual([
      {
        action: { callType: 'call', from: A, to: B, gas: '0x0', input: '0x', value: '0x1' },
        blockHash: hash,
        blockNumber: 1,
        transactionHash: transfer,
        transactionPosition: 0,
        type: 'call',
        subtraces: 0,
        traceAddress: [],
        result: { gasUsed: '0x5208', output: '0x' },
      },
    ])
  })

  it('shows a creation with its init code, its gas as in the receipt', async () => {
    const [row] = await rows('trace_transaction', creation)
    const receipt = (await call('eth_getTransactionReceipt', creation)) as Record<string, unknown>
    expect(row?.type).toBe('create')
    expect(row?.action).toEqual({ from: A, gas: '0x186a0', init: LOGGING, value: '0x0' })
    expect(row?.result).toEqual({ gasUsed: receipt.gasUsed, code: '0x', address: receipt.contractAddress })
  })

  it('shows a failed creation without a result', async () => {
    expect(await rows('trace_transaction', failed)).toMatchObject([{ result: null, error: 'Reverted' }])
  })

  it('returns null for unknown and pooled transactions', async () => {
    expect(await call('trace_transaction', UNKNOWN)).toBeNull()
    await expect(call('trace_transaction', 'hello')).rejects.toMatchObject({ code: -32602 })
  })
})

describe('trace_block', () => {
  it('ends with REMASC, by number, tag and hash', async () => {
    const { hash } = (await call('eth_getBlockByNumber', '0x1', false)) as { hash: Hex }
    const all = await rows('trace_block', '0x1')
    expect(all).toHaveLength(2)
    expect(all[1]).toMatchObject({
      action: { from: ZERO, to: REMASC, gas: '0x0', value: '0x0' },
      transactionPosition: 1,
      result: { gasUsed: '0x0', output: '0x' },
    })
    expect(await rows('trace_block', hash)).toEqual(all)
    expect(await rows('trace_block', 'LATEST')).toMatchObject([{ blockNumber: 5 }])
  })

  it('shows the payments of a block with a payout', async () => {
    const snapshot = await call('evm_snapshot')
    await call('evm_mine', { blocks: 12 })
    const [root, ...payments] = await rows('trace_block', 'latest')
    expect(root).toMatchObject({ subtraces: 5, traceAddress: [] })
    expect(payments).toHaveLength(5)
    for (const [i, payment] of payments.entries()) {
      expect(payment).toMatchObject({ action: { from: REMASC, gas: '0x0' }, traceAddress: [i], subtraces: 0 })
    }
    await call('evm_revert', snapshot)
  })

  it('runs the pending block as well', async () => {
    expect(await rows('trace_block', 'pending')).toMatchObject([{ blockNumber: 6, action: { to: REMASC } }])
  })

  it('is empty for genesis, null for a missing block, and refuses an invalid block', async () => {
    expect(await call('trace_block', 'earliest')).toEqual([])
    expect(await call('trace_block', '0xffffff')).toBeNull()
    expect(await call('trace_block', UNKNOWN)).toBeNull()
    await expect(call('trace_block', 'safe')).rejects.toMatchObject({
      code: -32602,
      message: 'invalid blocknumber safe',
    })
    await expect(call('trace_block', '5')).rejects.toMatchObject({ message: 'invalid blocknumber 5' })
    await expect(call('trace_block', {})).rejects.toMatchObject({ code: -32602 })
  })
})

describe('trace_get', () => {
  it('indexes frames within the transaction', async () => {
    const [row] = await rows('trace_transaction', creation)
    expect(await call('trace_get', creation, ['0x0'])).toEqual(row)
    expect(await call('trace_get', creation, '0x0')).toEqual(row)
    expect(await call('trace_get', UNKNOWN, ['0x0'])).toBeNull()
  })

  it.each([
    [['0x1'], 'Invalid positions: the transaction has 1 traces.'],
    [[], "'positions' cannot be null or empty"],
    [null, "'positions' cannot be null or empty"],
    [['0x0', '0x1'], "'positions' accepts only one index"],
    [[7], 'Invalid positions: expected a hex index.'],
  ])('refuses %j', async (positions, message) => {
    await expect(call('trace_get', creation, positions)).rejects.toMatchObject({ code: -32602, message })
  })
})

describe('replies that exceed the limit', () => {
  /** Hands a quarter of a megabyte on to an account without code, eight times. */
  const GENEROUS = `
    a: PUSH1 0 PUSH1 0 PUSH3 262144 PUSH1 0 PUSH1 0 CALLER GAS CALL POP
       PUSH1 0 SLOAD PUSH1 1 ADD DUP1 PUSH1 0 SSTORE PUSH1 8 GT @a JUMPI STOP`
  const session = openSession('test')

  it('are not built for clients that read them as text', async () => {
    const generous = await createNode({ maxResponseBytes: 1_000_000 })
    const ask = async (caller: Session, method: string, ...params: unknown[]) =>
      (await generous.dispatcher.dispatch({ jsonrpc: '2.0', id: 1, method, params }, caller)) as unknown as {
        readonly result: unknown
        readonly error: unknown
      }
    try {
      const data = toHex(deployer(assemble(GENEROUS)))
      const made = await ask(session, 'eth_sendTransaction', { from: A, gas: '0x100000', data })
      const receipt = await ask(session, 'eth_getTransactionReceipt', made.result)
      const { contractAddress: to } = receipt.result as { contractAddress: Hex }
      const { result: sent } = await ask(session, 'eth_sendTransaction', { from: A, to, gas: '0x200000' })
      const remote = { ...session, remote: '192.0.2.1' }
      for (const [method, ...params] of [
        ['trace_transaction', sent],
        ['trace_block', 'latest'],
        ['trace_filter', {}],
        ['debug_traceTransaction', sent, { tracer: 'callTracer' }],
        ['debug_traceTransaction', sent, { tracer: 'muxTracer', tracerConfig: { callTracer: {} } }],
        ['debug_traceBlockByNumber', 'latest', { tracer: 'callTracer' }],
      ] as const) {
        const { error } = await ask(remote, method, ...params)
        const message = 'Response size limit of 1000000 bytes exceeded'
        expect({ method, error }).toEqual({ method, error: { code: -32011, message } })
        expect((await ask(session, method, ...params)).error).toBeUndefined()
      }
      expect((await ask(remote, 'trace_filter', { count: 2 })).result).toHaveLength(2)
      const onlyTop = { tracer: 'callTracer', onlyTopCall: true }
      expect((await ask(remote, 'debug_traceTransaction', sent, onlyTop)).result).toMatchObject({ to })
    } finally {
      await generous.close()
    }
  })
})

describe('trace_filter', () => {
  const hashes = async (filter: object) =>
    (await rows('trace_filter', filter)).map(({ transactionHash }) => transactionHash)

  it('finds transactions by sender, receiver, and both', async () => {
    expect(await hashes({ fromAddress: A })).toEqual([transfer, creation, failed])
    expect(await hashes({ fromAddress: [A.toUpperCase().replace('0X', '0x')] })).toHaveLength(3)
    expect(await hashes({ fromAddress: [A, B] })).toHaveLength(4)
    expect(await hashes({ toAddress: B })).toEqual([transfer])
    expect(await hashes({ fromAddress: B, toAddress: [B, C] })).toHaveLength(1)
    expect(await hashes({ fromAddress: A, toAddress: C })).toEqual([])
  })

  it('finds no creation by the created contract: a creation has no receiver', async () => {
    const { contractAddress } = (await call('eth_getTransactionReceipt', creation)) as {
      contractAddress: Hex
    }
    expect(await hashes({ toAddress: contractAddress })).toEqual([])
  })

  it('finds REMASC transactions by the sender in their trace', async () => {
    expect(await hashes({ fromAddress: ZERO })).toHaveLength(5)
    expect(await hashes({ toAddress: REMASC, fromBlock: '0x5' })).toHaveLength(1)
    expect(await hashes({ toAddress: REMASC, fromBlock: '0x5', toBlock: 'pending' })).toHaveLength(2)
    expect(await hashes({ toAddress: REMASC, fromBlock: 'pending', toBlock: 'pending' })).toHaveLength(1)
  })

  it('returns stable pages', async () => {
    const all = await rows('trace_filter', {})
    expect(all).toHaveLength(9)
    for (let after = 0; after < 10; after++) {
      for (const count of [0, 1, 3]) {
        expect(await rows('trace_filter', { after, count })).toEqual(all.slice(after, after + count))
        expect(await rows('trace_filter', { after: String(after), count: String(count) })).toHaveLength(
          all.slice(after, after + count).length,
        )
      }
    }
  })

  it('is restricted to its blocks', async () => {
    expect(await hashes({ fromBlock: '0x2', toBlock: '0x3', fromAddress: A })).toEqual([creation, failed])
    expect(await hashes({ fromBlock: '0xff' })).toEqual([])
    expect(await hashes({ fromBlock: '0xff', toBlock: 'latest' })).toEqual([])
    expect(await hashes({ fromBlock: '0xff', toBlock: 'pending' })).toEqual([])
    expect(await hashes({ fromBlock: '0x1', toBlock: '0xff', fromAddress: A })).toHaveLength(3)
  })

  it.each([
    [{ count: 10_001 }, 'Count value too big. Maximum 10000 traces allowed.'],
    [{ after: 10_001 }, 'After value too big. Maximum 10000 traces allowed.'],
    [{ after: -1 }, 'After value cannot be negative.'],
    [{ count: -1 }, 'Count value cannot be negative.'],
    [{ count: '0x5' }, 'Invalid filter.count: expected a whole number.'],
    [{ fromBlock: '0x2', toBlock: '0x1' }, 'fromBlock cannot be greater than toBlock'],
    [{ fromBlock: '0xff', toBlock: '0xfe' }, 'fromBlock cannot be greater than toBlock'],
    [{ fromBlock: 'pending', toBlock: 'latest' }, 'fromBlock cannot be greater than toBlock'],
    [{ fromBlock: 'latest', toBlock: 'earliest' }, 'fromBlock cannot be greater than toBlock'],
    [null, 'Invalid trace_filter parameters.'],
    [
      { toBlok: 'latest' },
      'Invalid filter.toBlok: expected fromBlock, toBlock, fromAddress, toAddress, after or count only.',
    ],
    [{ fromAddress: '0x12' }, 'invalid argument 0: hex string has length 2, want 40 for RSK address'],
    [{ fromBlock: null }, 'Invalid filter.fromBlock: expected a hex block number or a tag.'],
    [{ fromBlock: '7' }, 'invalid blocknumber 7'],
  ])('refuses %j', async (filter, message) => {
    await expect(call('trace_filter', filter)).rejects.toMatchObject({ code: -32602, message })
  })

  it('names a limit of one block in the singular', async () => {
    const hosted = await createNode({ profile: 'hosted', maxTraceBlocks: 1, maxTraces: 1 })
    try {
      await hosted.engine.commands.mine({ blocks: 2 })
      await expect(
        hosted.request({ method: 'trace_filter', params: [{ fromBlock: '0x0' }] }),
      ).rejects.toMatchObject({
        message:
          'query covers more than 1 block: a query may cover at most 1 block, and return at most 1 trace',
      })
    } finally {
      await hosted.close()
    }
  })

  it('has its own limits in the hosted profile', async () => {
    const hosted = await createNode({ profile: 'hosted' })
    try {
      const ask = (filter: object) => hosted.request({ method: 'trace_filter', params: [filter] })
      await hosted.engine.commands.mine({ blocks: 2001 })
      expect(await ask({})).toHaveLength(6)
      await expect(ask({ count: 101 })).rejects.toMatchObject({
        code: -32602,
        message: 'Count value too big. Maximum 100 traces allowed.',
      })
      await expect(ask({ fromBlock: '0x0' })).rejects.toMatchObject({
        code: -32005,
        message:
          'query covers more than 2000 blocks: a query may cover at most 2000 blocks, and return at most 100 traces',
      })
      expect(await ask({ fromBlock: '0x2' })).toHaveLength(100)
      expect(await ask({ fromBlock: '0x2', after: 500 })).toHaveLength(100)
    } finally {
      await hosted.close()
    }
  })

  it('has the limits that an operator sets', async () => {
    const own = await createNode({ profile: 'hosted', maxTraces: 150, maxTraceBlocks: 200 })
    try {
      const ask = (filter: object) => own.request({ method: 'trace_filter', params: [filter] })
      await own.engine.commands.mine({ blocks: 201 })
      await expect(ask({ count: 151 })).rejects.toMatchObject({ code: -32602 })
      await expect(ask({ fromBlock: '0x1' })).rejects.toMatchObject({ code: -32005 })
      expect(await ask({ fromBlock: '0x2' })).toHaveLength(150)
    } finally {
      await own.close()
    }
  })
})
