/**
 * Simulated blocks. Expected values follow from the standard of eth_simulateV1 (ethereum/execution-apis)
 * and from the gas of the opcodes involved; those marked so were answered by Anvil 1.7.1.
 */
import { AbiCoder, keccak256 } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../../src/index.ts'
import { A } from '../../../support/fake-chain.ts'

const word = (value: bigint | number | string) => `0x${BigInt(value).toString(16).padStart(64, '0')}`
const account = (digits: string) => `0x${digits.padEnd(39, '0')}1`
const [C0, C1, C2, C3] = [account('c0'), account('c1'), account('c2'), account('c3')] as const
const IDENTITY = '0x0000000000000000000000000000000000000004'
const NOWHERE = `0x${'0'.repeat(40)}`
const TRANSFER = keccak256(Buffer.from('Transfer(address,address,uint256)'))

/** Returns the word that the opcodes push. */
const returning = (opcodes: string) => `0x${opcodes}60005260206000f3`
const REVERT = '0x60006000fd'
const INVALID = '0xfe'
/** Adds one to slot 0 and returns what it has then. */
const COUNTER = returning('60005460010180600055')
/** Logs nothing with the topic ff…ff. */
const LOGGING = `0x7f${'ff'.repeat(32)}80600080a100`
/** Reverts with `Error("nope")`. */
const REASON = AbiCoder.defaultAbiCoder().encode(['string'], ['nope']).slice(2)
const REVERT_NOPE = (() => {
  const payload = `08c379a0${REASON}`
  const size = payload.length / 2
  // CODECOPY of what follows the ten bytes of code, REVERT.
  return `0x60${size.toString(16)}600a5f3960${size.toString(16)}5ffd${payload}`
})()

let node: Node
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>

interface Call {
  readonly status: string
  readonly returnData: string
  readonly gasUsed: string
  readonly logs: readonly {
    address: string
    topics: string[]
    data: string
    blockHash: string
    logIndex: string
  }[]
  readonly error?: { code: number; message: string; data?: string }
}
interface Block {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly gasUsed: string
  readonly gasLimit: string
  readonly miner: string
  readonly stateRoot: string
  readonly logsBloom: string
  readonly minimumGasPrice: string
  readonly transactions: readonly unknown[]
  readonly calls: readonly Call[]
}
const simulate = (payload: object, block: unknown = 'latest') =>
  ask<Block[]>('eth_simulateV1', payload, block)
/** The calls of a single block. */
async function callsOf(block: object, more: object = {}): Promise<readonly Call[]> {
  return (await simulate({ blockStateCalls: [block], ...more }))[0]?.calls ?? []
}

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await ask('evm_mine', 2_000_000_000)
})
afterAll(() => node.close())

describe('eth_simulateV1', () => {
  it('runs calls in a block on top of the head, and keeps nothing', async () => {
    const head = await ask<Block>('eth_getBlockByNumber', 'latest', false)
    const [block] = await simulate({
      blockStateCalls: [
        {
          stateOverrides: { [C0]: { balance: '0x3e8' } },
          calls: [
            { from: C0, to: C1, value: '0x3e8' },
            { from: C1, to: C2, value: '0x3e8' },
          ],
        },
      ],
    })
    expect(block).toMatchObject({
      number: '0x2',
      parentHash: head.hash,
      // The chain's goal is ten seconds on regtest.
      timestamp: `0x${(2_000_000_010).toString(16)}`,
      miner: NOWHERE,
      minimumGasPrice: '0x0',
      gasLimit: head.gasLimit,
      gasUsed: '0xa410',
    })
    const plain = { status: '0x1', returnData: '0x', gasUsed: '0x5208', maxUsedGas: '0x5208', logs: [] }
    expect(block?.calls).toEqual([plain, plain])
    expect(block?.transactions).toHaveLength(2)
    expect(block?.stateRoot).not.toBe(head.stateRoot)
    expect(await ask('eth_blockNumber')).toBe('0x1')
    expect(await ask('eth_getBalance', C2, 'latest')).toBe('0x0')
  })

  it('gives the same results as Anvil 1.7.1, except for Anvil’s faults', async () => {
    const calls = await callsOf(
      {
        stateOverrides: { [C0]: { balance: '0x7d0' }, [C2]: { code: REVERT }, [C3]: { code: INVALID } },
        calls: [
          { from: C1, to: C2 },
          { from: C1, to: C3, gas: '0x7530' },
          { from: C0, to: C1, value: '0x3e8' },
        ],
      },
      { traceTransfers: true, returnFullTransactions: true },
    )
    expect(calls.map(({ status, gasUsed, logs }) => [status, gasUsed, logs.length])).toEqual([
      ['0x0', '0x520e', 0],
      ['0x0', '0x7530', 0],
      ['0x1', '0x5208', 1],
    ])
    expect(calls[2]?.logs[0]).toMatchObject({
      address: '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
      topics: [TRANSFER, word(C0), word(C1)],
      data: word(1000),
      logIndex: '0x0',
      transactionIndex: '0x2',
      removed: false,
    })
    // Anvil answers -3200 and "execution failed"; the standard has a code for each kind of failure.
    expect(calls.map(({ error }) => error)).toEqual([
      { code: 3, message: 'execution reverted', data: '0x' },
      { code: -32015, message: 'vm execution error: invalid opcode' },
      undefined,
    ])
  })

  it('has transfers and logs in execution order, and drops those of failed frames', async () => {
    // LOG0, then calls C2 with 1 wei and C3 with 2 wei, then LOG1.
    const send = (to: string, value: number) =>
      `5f5f5f5f60${value.toString(16).padStart(2, '0')}73${to.slice(2)}5af150`
    const code = `0x5f5fa0${send(C2, 1)}${send(C3, 2)}60095f5fa100`
    const [block] = await simulate({
      blockStateCalls: [
        {
          stateOverrides: { [C0]: { balance: '0xff' }, [C1]: { code }, [C3]: { code: REVERT } },
          calls: [{ from: C0, to: C1, value: '0x9' }],
        },
      ],
      traceTransfers: true,
    })
    const logs = block?.calls[0]?.logs ?? []
    expect(logs.map(({ address, topics, data }) => [address.slice(0, 4), topics.at(-1), data])).toEqual([
      ['0xee', word(C1), word(9)],
      [C1.slice(0, 4), undefined, '0x'],
      ['0xee', word(C2), word(1)],
      [C1.slice(0, 4), word(9), '0x'],
    ])
    expect(logs.map(({ logIndex }) => logIndex)).toEqual(['0x0', '0x1', '0x2', '0x3'])
    // Transfers are no part of the bloom.
    const untraced = await simulate({
      blockStateCalls: [
        {
          stateOverrides: { [C0]: { balance: '0xff' }, [C1]: { code }, [C3]: { code: REVERT } },
          calls: [{ from: C0, to: C1, value: '0x9' }],
        },
      ],
    })
    expect(untraced[0]?.calls[0]?.logs).toHaveLength(2)
    expect(untraced[0]?.logsBloom).toBe(block?.logsBloom)
    expect(untraced[0]?.hash).toBe(block?.hash)
  })

  it('carries state from block to block, and numbers logs throughout a block', async () => {
    const blocks = await simulate({
      blockStateCalls: [
        {
          stateOverrides: { [C1]: { code: COUNTER }, [C2]: { code: LOGGING } },
          calls: [{ to: C1 }, { to: C1 }],
        },
        { calls: [{ to: C1 }, { to: C2 }, { to: C2 }] },
        { stateOverrides: { [C1]: { stateDiff: { '0x0': word(40) } } }, calls: [{ to: C1 }] },
      ],
    })
    expect(blocks.map(({ calls }) => calls.map(({ returnData }) => returnData))).toEqual([
      [word(1), word(2)],
      [word(3), '0x', '0x'],
      [word(41)],
    ])
    expect(blocks.map(({ number }) => number)).toEqual(['0x2', '0x3', '0x4'])
    expect(blocks[1]?.parentHash).toBe(blocks[0]?.hash)
    expect(blocks[1]?.calls.map(({ logs }) => logs[0]?.logIndex)).toEqual([undefined, '0x0', '0x1'])
    expect(blocks[1]?.calls[1]?.logs[0]?.blockHash).toBe(blocks[1]?.hash)
  })

  it('fills gaps of height with empty blocks, whose hashes code can read', async () => {
    const blocks = await simulate({
      blockStateCalls: [
        { blockOverrides: { number: '0x3' } },
        {
          blockOverrides: { number: '0x5', time: 2_000_000_100 },
          // BLOCKHASH(NUMBER - 1)
          stateOverrides: { [C1]: { code: returning('6001430340') } },
          calls: [{ to: C1 }],
        },
      ],
    })
    expect(
      blocks.map(({ number, timestamp }) => [Number(number), Number(timestamp) - 2_000_000_000]),
    ).toEqual([
      [2, 10],
      [3, 20],
      [4, 30],
      [5, 100],
    ])
    expect(blocks[3]?.calls[0]?.returnData).toBe(blocks[2]?.hash)
  })

  it('gives code access to the overridden block', async () => {
    const code = (opcode: string) => ({ code: returning(opcode) })
    const blocks = await simulate({
      blockStateCalls: [
        {
          blockOverrides: {
            time: 2_100_000_000,
            gasLimit: '0x989681',
            feeRecipient: C0,
            baseFeePerGas: '0x14',
            difficulty: '0x63',
          },
          stateOverrides: {
            [account('d1')]: code('43'),
            [account('d2')]: code('42'),
            [account('d3')]: code('45'),
            [account('d4')]: code('41'),
            [account('d5')]: code('48'),
            [account('d6')]: code('44'),
          },
          calls: ['d1', 'd2', 'd3', 'd4', 'd5', 'd6'].map((digits) => ({ to: account(digits), gas: 50_000 })),
        },
      ],
    })
    expect(blocks[0]?.calls.map(({ returnData }) => returnData)).toEqual(
      [2, 2_100_000_000, 0x989681, C0, 0x14, 0x63].map(word),
    )
    expect(blocks[0]).toMatchObject({ miner: C0, minimumGasPrice: '0x14', gasLimit: '0x989681' })
  })

  it('shows the reason of a revert, whose payload is in the error only', async () => {
    const [call] = await callsOf({ stateOverrides: { [C1]: { code: REVERT_NOPE } }, calls: [{ to: C1 }] })
    const data = `0x08c379a0${REASON}`
    expect(call).toMatchObject({
      status: '0x0',
      returnData: '0x',
      error: { code: 3, message: 'execution reverted: nope', data },
    })
  })

  it('returns full transactions on request, with the maximum fee of EIP-1559 as gas price', async () => {
    const [block] = await simulate({
      blockStateCalls: [
        {
          blockOverrides: { baseFeePerGas: '0xf' },
          stateOverrides: { [C0]: { balance: '0xe8d4a51000', nonce: '0x5' } },
          calls: [{ from: C0, to: C1, maxFeePerGas: '0x10', value: '0x1', gas: '0x5208' }],
        },
      ],
      validation: true,
      returnFullTransactions: true,
    })
    expect(block?.transactions).toEqual([
      expect.objectContaining({
        blockHash: block?.hash,
        blockNumber: '0x2',
        transactionIndex: '0x0',
        from: C0,
        nonce: '0x5',
        gasPrice: '0x10',
        type: '0x0',
      }),
    ])
  })

  it('runs on the pending block, after its transactions', async () => {
    const own = await createNode({ mining: 'manual' })
    try {
      const call = <T>(method: string, ...params: unknown[]) => own.request({ method, params }) as Promise<T>
      await call('eth_sendTransaction', { from: A, to: C0, value: '0x5', gas: '0x5208', gasPrice: '0x1' })
      const payload = { blockStateCalls: [{ calls: [{ from: C0, to: C1, value: '0x5' }] }] }
      const blocks = await call<Block[]>('eth_simulateV1', payload, 'pending')
      expect(blocks[0]).toMatchObject({ number: '0x2', calls: [{ status: '0x1' }] })
      await expect(call('eth_simulateV1', payload)).rejects.toMatchObject({ code: -38014 })
    } finally {
      await own.close()
    }
  })

  it('accepts any nonce without validation', async () => {
    const calls = await callsOf({
      stateOverrides: { [C0]: { balance: '0xffffffffff', nonce: '0xa' } },
      calls: [
        { from: C0, to: C1, nonce: '0x0' },
        { from: C0, to: C1 },
      ],
    })
    expect(calls.map(({ status }) => status)).toEqual(['0x1', '0x1'])
  })

  it('replaces a precompiled contract by code for the calls of its block', async () => {
    const blocks = await simulate({
      blockStateCalls: [
        {
          stateOverrides: { [IDENTITY]: { code: returning('602a') } },
          calls: [{ to: IDENTITY, data: '0x1234' }],
        },
        { stateOverrides: { [IDENTITY]: { balance: '0x5' } }, calls: [{ to: IDENTITY, data: '0x1234' }] },
      ],
    })
    expect(blocks.map(({ calls }) => calls[0]?.returnData)).toEqual([word(42), '0x1234'])
  })

  it('limits all calls together to the gas cap', async () => {
    const own = await createNode({ mining: 'manual', callGasCap: 100_000 })
    const run = (blockStateCalls: object[]) =>
      own.request({ method: 'eth_simulateV1', params: [{ blockStateCalls, returnFullTransactions: true }] })
    try {
      const calls = [{ to: C1 }, { to: C1, gas: '0x7a1200', data: '0x' }]
      const blocks = await run([{ calls }, { calls: calls.slice(0, 1) }])
      // What the calls before left, also where more is asked for.
      expect(blocks).toMatchObject([
        { transactions: [{ gas: '0x186a0' }, { gas: '0x13498' }] },
        { transactions: [{ gas: '0xe290' }] },
      ])
      await expect(run([{ calls }, { calls: [...calls, { to: C1 }] }])).rejects.toMatchObject({
        code: -38026,
        message:
          'gas cap reached: all calls together may use 16000 more (payload.blockStateCalls[1].calls[2])',
      })
    } finally {
      await own.close()
    }
  })

  it('keeps the gas limit and fee recipient of an override, but not its difficulty and hashes', async () => {
    const hash = `0x${'12'.repeat(32)}`
    const blocks = await simulate({
      blockStateCalls: [
        {
          blockOverrides: {
            gasLimit: '0x989681',
            feeRecipient: C0,
            prevRandao: '0x63',
            baseFeePerGas: '0x5',
            blockHash: { 1: hash },
          },
          stateOverrides: { [C1]: { code: returning('600140') } },
          calls: [{ to: C1 }],
        },
        { blockOverrides: { number: 4 }, calls: [{ to: C1 }] },
      ],
    })
    const { hash: head, difficulty } = await ask<Block & { difficulty: string }>(
      'eth_getBlockByNumber',
      '0x1',
      false,
    )
    const kept = { gasLimit: '0x989681', miner: C0 }
    expect(blocks).toMatchObject([
      { ...kept, difficulty: '0x63', minimumGasPrice: '0x5' },
      { ...kept, difficulty, minimumGasPrice: '0x0', calls: [] },
      { ...kept, difficulty, minimumGasPrice: '0x0' },
    ])
    expect(blocks.map(({ calls }) => calls[0]?.returnData)).toEqual([hash, undefined, head])
  })

  it('has the gas before the refund', async () => {
    // Clears slot 0: 5,000 gas and a refund of 15,000, at most half of the gas used.
    const [call] = await callsOf({
      stateOverrides: { [C1]: { code: '0x5f5f55', stateDiff: { '0x0': '0x1' } } },
      calls: [{ to: C1 }],
    })
    expect(call).toMatchObject({
      maxUsedGas: `0x${(26_004).toString(16)}`,
      gasUsed: `0x${(13_002).toString(16)}`,
    })
  })
})
