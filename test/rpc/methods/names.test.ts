/** Names of contracts, and decoding by the ABIs that the node knows; expected values from ethers' codec and Solidity's documents. */
import { Interface, id } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { artifact } from '../../support/contracts.ts'
import { saying } from '../../support/refusals.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const NOBODY = '0x00000000000000000000000000000000000dead1'
const CONSOLE = '0x000000000000000000636f6e736f6c652e6c6f67'
const probe = artifact('Probe')
const coder = new Interface([
  'function set(address to, uint256[] amounts) returns (bool, string note)',
  'event Moved(address indexed from, string what)',
  'error Refused(address who, uint256 amount)',
])

let node: Node
let address: Hex
// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
const request = (method: string, ...params: unknown[]): Promise<any> => node.request({ method, params })

beforeAll(async () => {
  node = await createNode()
  const hash = await request('eth_sendTransaction', { from: ALICE, data: probe.bytecode, gas: '0x4c4b40' })
  address = (await request('eth_getTransactionReceipt', hash)).contractAddress
})
afterAll(() => node.close())

describe('evm_contractNames', () => {
  it('returns the names of precompiled contracts, registered addresses, and contracts by their code', async () => {
    const list = ['0x0000000000000000000000000000000001000006', NOBODY, address]
    expect(await request('evm_contractNames', list)).toEqual(['bridge', null, null])
    await request('evm_setAbi', 'Probe', {
      ...probe,
      deployedBytecode: await request('eth_getCode', address, 'latest'),
    })
    expect(await request('evm_contractNames', list)).toEqual(['bridge', null, 'Probe'])
    expect(await request('evm_contractNames', list, 'earliest')).toEqual(['bridge', null, null])
  })
})

describe('evm_decode', () => {
  it('returns null for data that no ABI matches, and needs none for a reason, a panic and the console', async () => {
    const standard = new Interface([
      'error Error(string)',
      'error Panic(uint256)',
      'function log(string,uint256)',
    ])
    const items = [
      { kind: 'call', address: NOBODY, data: '0xa9059cbb' },
      { kind: 'error', data: standard.encodeErrorResult('Error', ['<b>not today</b>']) },
      { kind: 'error', data: standard.encodeErrorResult('Panic', [0x11]) },
      { kind: 'call', address: CONSOLE, data: standard.encodeFunctionData('log', ['paid %d', 7]) },
      { kind: 'error', data: '0x' },
      { kind: 'event', address: NOBODY, data: '0x', topics: [id('Unknown()')] },
      { kind: 'event', data: '0x' },
    ]
    expect(await request('evm_decode', items)).toEqual([
      null,
      {
        name: 'Error',
        arguments: [{ name: 'message', type: 'string', value: '<b>not today</b>' }],
        text: '<b>not today</b>',
      },
      { name: 'Panic', arguments: [], text: 'panic 0x11 (arithmetic overflow or underflow)' },
      { name: 'console.log', arguments: [], text: 'paid 7' },
      null,
      null,
      null,
    ])
  })

  it('decodes functions, results, events, errors and creations', async () => {
    await request('evm_setAbi', 'Mover', JSON.parse(coder.formatJson()))
    const moved = coder.encodeEventLog('Moved', [ALICE, 'a "b"'])
    const [call, event, error, creation] = await request('evm_decode', [
      {
        kind: 'call',
        address: NOBODY,
        data: coder.encodeFunctionData('set', [ALICE, [1, 2]]),
        output: coder.encodeFunctionResult('set', [true, 'done']),
      },
      { kind: 'event', address: NOBODY, data: moved.data, topics: moved.topics },
      { kind: 'error', address: NOBODY, data: coder.encodeErrorResult('Refused', [ALICE, 5]) },
      { kind: 'creation', data: probe.bytecode },
    ])
    expect(call).toEqual({
      name: 'set',
      arguments: [
        { name: 'to', type: 'address', value: ALICE },
        { name: 'amounts', type: 'uint256[]', value: '[1, 2]' },
      ],
      text: `set(to: ${ALICE}, amounts: [1, 2])`,
      output: 'true, note: "done"',
    })
    expect(event.text).toBe(`Moved(from: ${ALICE}, what: "a \\"b\\"")`)
    expect(error.text).toBe(`Refused(who: ${ALICE}, amount: 5)`)
    expect(creation.name).toBe('Probe')
  })

  it('decodes events of widespread standards without an ABI', async () => {
    const erc20 = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)'])
    const erc721 = new Interface([
      'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
    ])
    const logs = [erc20, erc721].map((coder) => coder.encodeEventLog('Transfer', [ALICE, NOBODY, 5]))
    const items = logs.map(({ data, topics }) => ({ kind: 'event', address: CONSOLE, data, topics }))
    const decoded = await request('evm_decode', items)
    expect(decoded.map(({ text }: { text: string }) => text)).toEqual([
      `Transfer(from: ${ALICE}, to: ${NOBODY}, value: 5)`,
      `Transfer(from: ${ALICE}, to: ${NOBODY}, tokenId: 5)`,
    ])
  })

  it.each([
    [[{ kind: 'other', data: '0x' }], 'Invalid items[0].kind: expected call, creation, error or event.'],
    [[{ kind: 'call' }], 'Invalid items[0].data: expected hex text.'],
    [new Array(1001).fill({ kind: 'call', data: '0x' }), 'Invalid items: expected at most 1000 items.'],
  ])('refuses malformed items', async (items, message) => {
    await expect(request('evm_decode', items)).rejects.toThrow(saying(message))
  })
})

describe('evm_consoleOutput', () => {
  it('returns what transactions and calls wrote, and their failures, the oldest first', async () => {
    const own = await createNode({ preset: 'hardhat' })
    const ask = (method: string, ...params: unknown[]) => own.request({ method, params })
    const data = new Interface(['function log(string)']).encodeFunctionData('log', ['hello'])
    await ask('eth_call', { to: CONSOLE, data })
    // Passes its input on to the console, then fails: CALLDATACOPY, STATICCALL, INVALID.
    const failing = '0x00000000000000000000000000000000000c0de2'
    const code = `0x365f5f375f5f365f73${CONSOLE.slice(2)}5afa50fe`
    await ask('hardhat_setCode', failing, code)
    const [from] = (await ask('eth_accounts')) as string[]
    await ask('eth_sendTransaction', { from, to: failing, data, gas: '0x186a0' }).catch(() => {})
    const { transactions } = (await ask('eth_getBlockByNumber', 'latest', false)) as { transactions: Hex[] }
    const entries = (await ask('evm_consoleOutput')) as { age: number; failure: string | null }[]
    await own.close()
    expect(entries.every(({ age }) => age >= 0)).toBe(true)
    expect(entries.map(({ age: _, ...entry }) => entry)).toEqual([
      { transactionHash: null, console: ['hello'], failure: null },
      { transactionHash: transactions[0], console: ['hello'], failure: expect.any(String) },
    ])
  })
})
