/**
 * Steps that share state. Expected values: what really mined transactions did, and the gas of the opcodes involved.
 */
import type { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { A, B } from '../../support/fake-chain.ts'
import { saying } from '../../support/refusals.ts'
import {
  account,
  type Contracts,
  deployContracts,
  type Hex,
  type Log,
  quantity,
  type Step,
  tokenAbi,
  vault,
  vaultAbi,
  word,
} from '../../support/steps.ts'

const [C1, C2, C3] = [account('c1'), account('c2'), account('c3')]
const call = (abi: Interface, name: string, ...args: unknown[]) => abi.encodeFunctionData(name, args)

let node: Node
let contracts: Contracts
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>
const simulate = (steps: readonly object[], more: object = {}) =>
  ask<Step[]>('evm_simulate', { steps, ...more })

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await ask('evm_mine', 2_000_000_000)
  contracts = await deployContracts(node)
})
afterAll(() => node.close())

/** Returns the word that the opcodes push. */
const returning = (opcodes: string) => `0x${opcodes}60005260206000f3`
/** Adds one to slot 0 and returns what it has then. */
const COUNTER = returning('60005460010180600055')

describe('evm_simulate', () => {
  it('gives what the same transactions do when they are mined, and writes nothing', async () => {
    const transactions = [
      { from: A, to: contracts.safe, value: '0x64' },
      { from: A, to: contracts.safe, data: call(vaultAbi, 'redeem', B, 7) },
      { from: B, to: contracts.safe, data: call(vaultAbi, 'redeem', B, 8) },
      { from: A, to: contracts.token, data: call(tokenAbi, 'transfer', B, 5n) },
      { from: A, data: vault.bytecode, gas: '0x5b8d80' },
    ].map((one) => ({ gas: '0x7a120', gasPrice: '0x3b9aca00', ...one }))
    const head = await ask<{ number: Hex; stateRoot: Hex }>('eth_getBlockByNumber', 'latest', false)
    const [number, time] = [BigInt(head.number) + 1n, 2_000_001_000]
    const steps = await simulate([{ warp: { blocks: 1, time } }, ...transactions.map((send) => ({ send }))])
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toEqual(head)
    expect(await ask('txpool_status')).toEqual({ pending: 0, queued: 0 })

    const hashes: unknown[] = []
    for (const one of transactions) hashes.push(await ask('eth_sendTransaction', one))
    await ask('evm_mine', time)
    const last = new Map<string, Hex>()
    for (const [index, step] of steps.slice(1).entries()) {
      const receipt = await ask<Step & { blockNumber: Hex }>('eth_getTransactionReceipt', hashes[index])
      expect(receipt.blockNumber).toBe(quantity(number))
      expect(step.block).toEqual({ number: receipt.blockNumber, timestamp: quantity(time) })
      expect([step.status, BigInt(step.gasUsed)]).toEqual([receipt.status, BigInt(receipt.gasUsed)])
      expect(step.contractAddress).toBe(receipt.contractAddress ?? undefined)
      const shown = ({ address, topics, data }: Log) => ({ address, topics, data })
      expect(step.logs.map(shown)).toEqual(receipt.logs.map(shown))
      for (const { address, balance, nonce, code, storage = [] } of step.stateChanges) {
        if (balance) last.set(`eth_getBalance ${address}`, balance.to)
        if (nonce) last.set(`eth_getTransactionCount ${address}`, nonce.to)
        if (code) last.set(`eth_getCode ${address}`, code.to)
        for (const { slot, to } of storage) last.set(`eth_getStorageAt ${address} ${slot}`, to)
      }
    }
    expect(steps.map(({ status }) => status)).toEqual([undefined, '0x1', '0x1', '0x0', '0x1', '0x1'])
    expect(last.size).toBeGreaterThan(15)
    for (const [what, value] of last) {
      const [method = '', ...params] = what.split(' ')
      expect([what, await ask(method, ...params, 'latest')]).toEqual([what, value])
    }
  })

  it('runs each step on what the ones before it left, in the block that they led to', async () => {
    const [one, , two, moved, rewound, ...rest] = await simulate(
      [
        { call: { to: C1 } },
        {
          set: {
            [C1]: { stateDiff: { '0x0': '0x28' } },
            [C2]: { code: returning('43') },
            [C3]: { code: returning('42') },
          },
        },
        { send: { from: A, to: C1 } },
        { warp: { seconds: 60, blocks: 5 } },
        { warp: { time: 2_100_000_000 } },
        { call: { to: C2 } },
        { call: { to: C3 } },
      ],
      {
        stateOverrides: { [C1]: { code: COUNTER } },
        blockOverrides: { number: '0x64', time: 2_000_002_000 },
      },
    )
    const block = { number: '0x64', timestamp: quantity(2_000_002_000) }
    expect([one?.block, two?.block]).toEqual([block, block])
    expect([one?.returnData, two?.returnData]).toEqual([word(1), word(41)])
    expect(one?.stateChanges).toEqual([
      { address: C1, storage: [{ slot: word(0), from: word(0), to: word(1) }] },
    ])
    expect(two?.stateChanges.find(({ address }) => address === C1)?.storage).toEqual([
      { slot: word(0), from: word(40), to: word(41) },
    ])
    expect(moved).toEqual({ kind: 'warp', block: { number: '0x69', timestamp: quantity(2_000_002_060) } })
    expect(rewound?.block).toEqual({ number: '0x69', timestamp: quantity(2_100_000_000) })
    expect(rest.map(({ returnData }) => returnData)).toEqual([word(0x69), word(2_100_000_000)])
  })

  it('takes back the writes of a message that fails, and goes on', async () => {
    const code = `0x${COUNTER.slice(2, -12)}5060006000fd`
    const steps = await simulate(
      [
        { call: { from: C2, to: C1, value: '0x5' } },
        { send: { from: C2, to: C1, gasPrice: '0x1', gas: '0xea60' } },
        { call: { from: C2, data: '0xfe' } },
        { send: { from: C2, to: C1, nonce: '0x5' } },
        { send: { from: C2, to: C1, nonce: '0x0' } },
        { send: { from: C2, to: C1, value: '0x186a1', gas: '0xea60' } },
        { send: { from: C2, to: C1, gas: '0x5207' } },
        { call: { from: C2, to: C1, gas: '0x5207' } },
        { send: { from: C2, to: C1, gas: '0xffffffff' } },
      ],
      {
        stateOverrides: { [C1]: { code }, [C2]: { balance: '0x186a0' } },
        blockOverrides: { baseFeePerGas: '0x0', gasLimit: '0x30d40' },
      },
    )
    const [, sent] = steps
    const fee = BigInt(sent?.gasUsed ?? 0)
    expect(steps.map(({ status, error }) => [status, error])).toEqual([
      ['0x0', { message: 'transaction reverted' }],
      ['0x0', { message: 'transaction reverted' }],
      ['0x0', { message: 'invalid opcode' }],
      ['0x0', { message: `nonce too high: address ${C2}, tx: 5 state: 1` }],
      ['0x0', { message: `nonce too low: address ${C2}, tx: 0 state: 1` }],
      [
        '0x0',
        {
          message: `insufficient funds for gas * price + value: address ${C2} have ${100_000n - fee} want 100001`,
        },
      ],
      ['0x0', { message: 'intrinsic gas too low: have 20999, want 21000' }],
      ['0x0', { message: 'gas: 20999 is below the intrinsic gas 21000' }],
      ['0x0', { message: `block gas limit reached: 4294967295 exceeds the ${200_000n - fee} left` }],
    ])
    expect(sent?.stateChanges).toEqual([
      {
        address: C2,
        balance: { from: '0x186a0', to: quantity(100_000n - fee) },
        nonce: { from: '0x0', to: '0x1' },
      },
    ])
    for (const step of [steps[0], ...steps.slice(2)]) {
      expect([step?.stateChanges, step?.assetChanges, step?.logs]).toEqual([[], [], []])
    }
    expect(steps.map(({ trace }) => trace?.error)).toEqual([
      'execution reverted',
      'execution reverted',
      'invalid opcode: INVALID',
      ...Array(6).fill(undefined),
    ])
    expect(steps.map(({ trace }) => trace !== undefined)).toEqual([true, true, true, ...Array(6).fill(false)])
  })

  it('keeps the nonce of a call, but for creations, whose addresses differ', async () => {
    const steps = await simulate([
      { call: { from: C1, to: C2 } },
      { call: { from: C1, data: '0x00' } },
      { call: { from: C1, data: '0x00' } },
    ])
    expect(steps.map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1'])
    expect(steps[0]?.stateChanges).toEqual([])
    expect(new Set(steps.map(({ contractAddress }) => contractAddress)).size).toBe(3)
    expect(steps[1]?.stateChanges[0]).toMatchObject({ address: C1, nonce: { from: '0x0', to: '0x1' } })
  })

  it('checks prices by the rules for blocks, of transactions only', async () => {
    const priced = (gasPrice: string) => ({ from: A, to: B, gas: '0x5208', gasPrice })
    const steps = await simulate(
      [
        { send: priced('0x1') },
        { send: priced('0xc9') },
        { send: priced('0xc8') },
        { call: priced('0x1') },
        { send: { from: A, to: B, gas: '0x5208' } },
      ],
      { blockOverrides: { baseFeePerGas: '0x2' } },
    )
    expect(steps.map(({ error }) => error?.message)).toEqual([
      `max fee per gas less than block base fee: address ${A}, maxFeePerGas: 1, baseFee: 2`,
      'gas price 201 is above 100 times the minimum gas price 2',
      undefined,
      undefined,
      undefined,
    ])
    const balance = steps[4]?.stateChanges.find(({ address }) => address === A)?.balance
    expect(BigInt(balance?.from ?? 0) - BigInt(balance?.to ?? 0)).toBe(2n * 21_000n)
  })

  it('shares the gas of a block among its transactions until a warp', async () => {
    const send = { from: A, to: B, gas: '0x7530', gasPrice: '0x0' }
    const steps = await simulate([{ send }, { send }, { warp: { blocks: 1 } }, { send }], {
      blockOverrides: { gasLimit: '0xc350', baseFeePerGas: '0x0' },
    })
    expect(steps.map(({ error }) => error?.message)).toEqual([
      undefined,
      'block gas limit reached: 30000 exceeds the 29000 left',
      undefined,
      undefined,
    ])
  })

  it('deletes a contract that destroys itself', async () => {
    const [step, later] = await simulate([{ call: { to: C1 } }, { call: { to: C2 } }], {
      stateOverrides: {
        [C1]: { code: `0x73${C3.slice(2)}ff`, balance: '0x9', nonce: '0x1', state: {} },
        [C2]: { code: returning(`73${C1.slice(2)}3b`) },
      },
    })
    expect(step?.assetChanges).toEqual([
      { type: 'native', change: 'transfer', from: C1, to: C3, amount: '0x9' },
    ])
    expect(step?.stateChanges).toEqual([
      {
        address: C1,
        balance: { from: '0x9', to: '0x0' },
        nonce: { from: '0x1', to: '0x0' },
        code: { from: `0x73${C3.slice(2)}ff`, to: '0x' },
      },
      { address: C3, balance: { from: '0x0', to: '0x9' } },
    ])
    expect(later?.returnData).toBe(word(0))
  })

  it('runs between the transactions of a block', async () => {
    const own = await createNode({ mining: 'manual' })
    try {
      const on = <T>(method: string, ...params: unknown[]) => own.request({ method, params }) as Promise<T>
      for (let i = 0; i < 2; i++)
        await on('eth_sendTransaction', { from: A, to: C1, value: '0x1', gasPrice: '0x1' })
      await on('evm_mine')
      const steps = [{ call: { from: C1, to: C2, value: '0x0' } }, { call: { to: C3 } }]
      const stateOverrides = { [C3]: { code: returning(`73${C1.slice(2)}31`) } }
      const balance = async (transactionIndex?: number) => {
        const [, step] = await on<Step[]>('evm_simulate', { steps, stateOverrides, transactionIndex })
        return BigInt(step?.returnData ?? 0)
      }
      expect([await balance(0), await balance(1), await balance()]).toEqual([0n, 1n, 2n])
      await expect(balance(7)).rejects.toEqual(
        saying("simulation.transactionIndex: 7 is not below the block's 3 transactions"),
      )
    } finally {
      await own.close()
    }
  })

  it('names events and errors whose ABI is registered', async () => {
    const own = await createNode()
    try {
      const on = <T>(method: string, ...params: unknown[]) => own.request({ method, params }) as Promise<T>
      await on('evm_setAbi', 'Vault', [...vaultAbi.format(), ...tokenAbi.format()])
      const deploy = { from: A, data: vault.bytecode, gas: '0x5b8d80' }
      const [created] = await on<Step[]>('evm_simulate', { steps: [{ call: deploy }] })
      const to = created?.contractAddress
      const [, step, transfer] = await on<Step[]>('evm_simulate', {
        steps: [
          { call: deploy },
          { call: { from: B, to, data: call(vaultAbi, 'redeem', B, 1) } },
          { call: { from: B, to: C1 } },
        ],
        stateOverrides: {
          [C1]: {
            code: `0x6001600052${['', ...[B, A].map((one) => word(one).slice(2)), tokenAbi.getEvent('Transfer')?.topicHash.slice(2)].join('7f')}60206000a3`,
          },
        },
      })
      expect(step?.error).toEqual({
        message: `transaction reverted: Empty(asker: ${B})`,
        data: vaultAbi.encodeErrorResult('Empty', [B]),
      })
      expect(transfer?.logs[0]?.decoded).toEqual({
        name: 'Transfer',
        arguments: [
          { name: 'from', type: 'address', value: A },
          { name: 'to', type: 'address', value: B },
          { name: 'value', type: 'uint256', value: '1' },
        ],
        text: `Transfer(from: ${A}, to: ${B}, value: 1)`,
      })
    } finally {
      await own.close()
    }
  })

  const step = (one: unknown) => ({ steps: [{ warp: { seconds: 1 } }, one] })

  it.each([
    [[], 'Invalid simulation: expected an object.'],
    [{}, 'Invalid simulation.steps: expected an array.'],
    [{ steps: Array(101).fill(0) }, 'Invalid simulation.steps: expected at most 100 items.'],
    [
      { steps: [], gas: 1 },
      'Invalid simulation.gas: expected steps, stateOverrides, blockOverrides or transactionIndex only.',
    ],
    [step(null), 'Invalid simulation.steps[1]: expected an object.'],
    [step({}), 'Invalid simulation.steps[1]: expected exactly one of call, send, set and warp.'],
    [
      step({ call: {}, set: {} }),
      'Invalid simulation.steps[1]: expected exactly one of call, send, set and warp.',
    ],
    [step({ wait: 1 }), 'Invalid simulation.steps[1].wait: expected call, send, set or warp only.'],
    [step({ call: { to: '0x1' } }), 'Invalid simulation.steps[1].call.to: expected an address.'],
    [
      step({ send: { value: 'x' } }),
      'Invalid simulation.steps[1].send.value: expected a number, in hex with 0x or in decimal digits.',
    ],
    [
      step({ send: { chainId: '0x1' } }),
      "chainId does not match node's (have=1, want=33) (simulation.steps[1].send.chainId)",
    ],
    [
      step({ call: { chainId: '0x1' } }),
      "chainId does not match node's (have=1, want=33) (simulation.steps[1].call.chainId)",
    ],
    [step({ send: { data: 'x' } }), 'Invalid simulation.steps[1].send.data: expected hex text.'],
    [
      step({ set: { [C1]: { balance: '5' } } }),
      `Invalid simulation.steps[1].set.${C1}.balance: expected a hex number with 0x, within range.`,
    ],
    [step({ set: { C1: {} } }), 'Invalid simulation.steps[1].set key C1: expected an address.'],
    [
      step({ set: { [C1]: { state: {}, stateDiff: {} } } }),
      `simulation.steps[1].set.${C1}.state and simulation.steps[1].set.${C1}.stateDiff cannot be set at the same time`,
    ],
    [
      step({ set: { '0x0000000000000000000000000000000001000006': { code: '0x' } } }),
      'simulation.steps[1].set: Precompiled contracts can not be overridden',
    ],
    [step({ warp: {} }), 'Invalid simulation.steps[1].warp: expected seconds, blocks or time.'],
    [
      step({ warp: { second: 1 } }),
      'Invalid simulation.steps[1].warp.second: expected seconds, blocks or time only.',
    ],
    [
      step({ warp: { seconds: 1, time: 1 } }),
      'simulation.steps[1].warp.seconds and simulation.steps[1].warp.time cannot be set at the same time',
    ],
    [
      step({ warp: { seconds: -1 } }),
      'Invalid simulation.steps[1].warp.seconds: expected a whole number from 0 to 8640000000000.',
    ],
    [
      { ...step({ warp: { time: 5 } }), blockOverrides: { time: 9 } },
      'simulation.steps[1].warp.time: 5 is below 10, the timestamp of the previous step',
    ],
    [
      step({ warp: { seconds: 8_640_000_000_000 } }),
      'simulation.steps[1].warp.seconds: the timestamp would exceed the latest one, 8640000000000',
    ],
    [
      step({ warp: { blocks: Number.MAX_SAFE_INTEGER } }),
      `simulation.steps[1].warp.blocks: the block number would exceed ${Number.MAX_SAFE_INTEGER}`,
    ],
    [
      { steps: [], stateOverrides: { x: {} } },
      'Invalid simulation.stateOverrides key x: expected an address.',
    ],
    [
      { steps: [], blockOverrides: { time: -1 } },
      'Invalid simulation.blockOverrides.time: expected a whole number from 0 to 8640000000000.',
    ],
  ])('refuses %j', async (simulation, message) => {
    await expect(ask('evm_simulate', simulation)).rejects.toEqual(saying(message))
  })
})
