/** Replays, traced calls and storage ranges; expected values are worked out from the programs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeBlock } from '../../../src/chain/block.ts'
import { contractAddress } from '../../../src/chain/transaction.ts'
import { fromBigIntFixed } from '../../../src/encoding/bytes.ts'
import { keccakHex } from '../../../src/encoding/hash.ts'
import { type Hex, toFixedHex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { saying } from '../../support/refusals.ts'

const A: Hex = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B: Hex = '0x7986b3df570230288501eea3d890bd66948c9b79'
const UNKNOWN = `0x${'9'.repeat(64)}`
const word = (value: bigint) => toFixedHex(value, 32)
/** Slots 0 to 7 get the value of the call. */
const WRITER = `${[0, 1, 2, 3, 4, 5, 6, 7].map((slot) => `CALLVALUE ${slot === 0 ? 'PUSH1 0' : slot} SSTORE`).join(' ')} STOP`
const SLOTS = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n]

interface Replay {
  readonly output: Hex
  readonly stateDiff: Record<Hex, Record<string, unknown>> | null
  readonly trace: readonly unknown[]
  readonly vmTrace: { readonly code: Hex; readonly ops: readonly Record<string, unknown>[] } | null
}
interface Range {
  readonly storage: Record<Hex, { readonly key: Hex; readonly value: Hex }>
  readonly nextKey: Hex | null
}

let node: Node
const call = (method: string, ...params: unknown[]) => node.request({ method, params })
const replay = (method: string, ...params: unknown[]) => call(method, ...params) as Promise<Replay>
const range = (...params: unknown[]) => call('debug_storageRangeAt', ...params) as Promise<Range>
const writer = contractAddress(A, 0n)
let write: Hex

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await call('eth_sendTransaction', { from: A, data: toHex(deployer(assemble(WRITER))), gas: '0xf4240' })
  await call('evm_mine')
  write = (await call('eth_sendTransaction', { from: A, to: writer, value: '0x5', gas: '0xf4240' })) as Hex
  await call('eth_sendTransaction', { from: A, to: writer, value: '0x6', gas: '0xf4240' })
  await call('evm_mine')
})
afterAll(() => node.close())

describe('a replayed transaction', () => {
  it('has the requested traces', async () => {
    expect(await call('trace_replayTransaction', write, [])).toEqual({
      output: '0x',
      stateDiff: null,
      trace: [],
      vmTrace: null,
    })
    const { trace } = await replay('trace_replayTransaction', write, ['trace'])
    const [row] = (await call('trace_transaction', write)) as Record<string, unknown>[]
    const { blockHash, blockNumber, transactionHash, transactionPosition, ...bare } = row as Record<
      string,
      unknown
    >
    expect(trace).toEqual([bare])
    expect(await call('trace_replayTransaction', UNKNOWN, ['trace'])).toBeNull()
    await expect(call('trace_replayTransaction', write, ['steps'])).rejects.toMatchObject({ code: -32602 })
  })

  it('has changed accounts', async () => {
    const { stateDiff } = await replay('trace_replayTransaction', write, ['stateDiff'])
    expect(stateDiff?.[writer]).toEqual({
      balance: { '*': { from: '0x0', to: '0x5' } },
      code: '=',
      nonce: '=',
      storage: Object.fromEntries(
        SLOTS.map((slot) => [word(slot), { '*': { from: word(0n), to: word(5n) } }]),
      ),
    })
    expect(stateDiff?.[A]?.nonce).toEqual({ '*': { from: '0x1', to: '0x2' } })
  })

  it('has steps with the values that they push and store', async () => {
    const { vmTrace } = await replay('trace_replayTransaction', write, ['vmTrace'])
    expect(vmTrace?.code).toBe(toHex(assemble(WRITER)))
    // 1,000,000 gas less 21,000; CALLVALUE 2, PUSH1 3, SSTORE of a new word 20,000.
    expect(vmTrace?.ops.slice(0, 3)).toEqual([
      {
        cost: 2,
        pc: 0,
        op: 'CALLVALUE',
        idx: '0',
        sub: null,
        ex: { mem: null, push: ['0x5'], store: null, used: 978998 },
      },
      {
        cost: 3,
        pc: 1,
        op: 'PUSH1',
        idx: '1',
        sub: null,
        ex: { mem: null, push: ['0x0'], store: null, used: 978995 },
      },
      {
        cost: 20000,
        pc: 3,
        op: 'SSTORE',
        idx: '2',
        sub: null,
        ex: { mem: null, push: [], store: { key: '0x0', val: '0x5' }, used: 958995 },
      },
    ])
  })

  it('equals its entry in the replay of its block', async () => {
    const all = (await call('trace_replayBlockTransactions', '0x2', ['stateDiff'])) as (Replay & {
      transactionHash: Hex
    })[]
    const { transactions } = (await call('eth_getBlockByNumber', '0x2', false)) as { transactions: Hex[] }
    expect(all.map(({ transactionHash }) => transactionHash)).toEqual(transactions)
    const { transactionHash, ...first } = all[0] as (typeof all)[0]
    expect(first).toEqual(await call('trace_replayTransaction', write, ['stateDiff']))
    expect(all[1]?.stateDiff?.[writer]?.balance).toEqual({ '*': { from: '0x5', to: '0xb' } })
  })
})

describe('traced calls', () => {
  const request = { from: A, to: writer, value: '0x9', gas: '0xf4240' }

  it('show the changes of a call without applying them', async () => {
    const { stateDiff } = await replay('trace_call', request, ['stateDiff'], 'latest')
    expect(stateDiff?.[writer]?.balance).toEqual({ '*': { from: '0xb', to: '0x14' } })
    expect(await call('eth_getBalance', writer, 'latest')).toBe('0xb')
  })

  it('run on the state after the previous call', async () => {
    const [, second] = (await call('trace_callMany', [
      [request, []],
      [request, ['stateDiff']],
    ])) as Replay[]
    expect(second?.stateDiff?.[writer]).toMatchObject({
      balance: { '*': { from: '0x14', to: '0x1d' } },
      storage: {},
    })
  })

  it('may be signed transactions, which pay for gas', async () => {
    const signed = (await call('eth_signTransaction', {
      from: A,
      to: B,
      value: '0x3',
      gas: '0x5208',
      gasPrice: '0x10',
      nonce: '0x3',
    })) as { raw: Hex } | Hex
    const raw = typeof signed === 'string' ? signed : signed.raw
    const before = BigInt((await call('eth_getBalance', A, 'latest')) as Hex)
    const { stateDiff, trace } = await replay('trace_rawTransaction', raw, ['stateDiff', 'trace'])
    const paid = before - 3n - 21_000n * 16n
    expect(stateDiff?.[A]?.balance).toEqual({
      '*': { from: `0x${before.toString(16)}`, to: `0x${paid.toString(16)}` },
    })
    expect(trace).toMatchObject([{ type: 'call', action: { from: A, to: B, value: '0x3' } }])
    expect(await call('eth_getBalance', A, 'latest')).toBe(`0x${before.toString(16)}`)
  })

  it('of a transaction that cannot be in a block are refused', async () => {
    const old = (await call('eth_signTransaction', {
      from: A,
      to: B,
      gas: '0x5208',
      gasPrice: '0x10',
      nonce: '0x0',
    })) as { raw: Hex } | Hex
    const raw = typeof old === 'string' ? old : old.raw
    await expect(call('trace_rawTransaction', raw, [])).rejects.toThrow(
      saying("nonce 0 is not the account's 3"),
    )
  })
})

const hashAt = async (height: string) =>
  ((await call('eth_getBlockByNumber', height, false)) as { hash: Hex }).hash

describe('a storage range', () => {
  const hashOf = (slot: bigint) => keccakHex(fromBigIntFixed(slot, 32))
  const sorted = SLOTS.map((slot) => ({ slot, hash: hashOf(slot) })).sort((a, b) =>
    a.hash < b.hash ? -1 : 1,
  )
  const full = (value: bigint) =>
    Object.fromEntries(sorted.map(({ slot, hash }) => [hash, { key: word(slot), value: word(value) }]))

  it('is that from before the transaction at an index', async () => {
    expect(await range('0x2', 0, writer, '0x', 100)).toEqual({ storage: {}, nextKey: null })
    expect(await range('0x2', 1, writer, '0x', 100)).toEqual({ storage: full(5n), nextKey: null })
    expect(await range('0x2', 2, writer, '0x', 100)).toEqual({ storage: full(6n), nextKey: null })
    expect(await range('0x2', 3, writer, '0x', 100)).toEqual({ storage: full(6n), nextKey: null })
    await expect(range('0x2', 4, writer, '0x', 100)).rejects.toThrow(
      saying(`transaction index 4 out of range for block ${await hashAt('0x2')}`),
    )
    expect(await range('0xff', 0, writer, '0x', 100)).toBeNull()
  })

  it.each([1, 3])(
    'stops at a number of slots and continues from the next key, after %i transactions',
    async (index) => {
      const hashes: string[] = []
      let start: Hex | null = '0x'
      while (start !== null) {
        const found: Range = await range('0x2', index, writer, start, 3)
        hashes.push(...Object.keys(found.storage))
        start = found.nextKey
      }
      expect(hashes).toEqual(sorted.map(({ hash }) => hash))
    },
  )
})

describe('a block as RLP', () => {
  const rlpOf = async (number: number) => {
    const view = await node.engine.queries.block({ number })
    if (view === undefined) throw new Error('no block')
    return toHex(encodeBlock(view.executed.block, node.engine.config))
  }

  it('is traced like the block', async () => {
    const options = { tracer: 'callTracer' }
    expect(await call('debug_traceBlock', await rlpOf(2), options)).toEqual(
      await call('debug_traceBlockByNumber', '0x2', options),
    )
  })

  it('is traced when it is unknown, and is not stored', async () => {
    const other = await createNode({ mining: 'manual' })
    try {
      const ask = (method: string, ...params: unknown[]) => other.request({ method, params })
      expect(await ask('debug_traceBlock', await rlpOf(1), { tracer: 'callTracer' })).toEqual(
        await call('debug_traceBlockByNumber', '0x1', { tracer: 'callTracer' }),
      )
      expect(await ask('eth_blockNumber')).toBe('0x0')
      await expect(ask('debug_traceBlock', await rlpOf(2))).rejects.toThrow(
        saying(`block 2: the parent ${await hashAt('0x1')} is unknown`),
      )
    } finally {
      await other.close()
    }
    await expect(call('debug_traceBlock', '0xc0')).rejects.toMatchObject({ code: -32602 })
  })
})
