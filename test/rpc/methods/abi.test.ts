import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { artifact } from '../../support/contracts.ts'
import { fakeEngine } from '../../support/fake-engine.ts'
import { saying } from '../../support/refusals.ts'
import { ask, dispatcherOf } from '../../support/rpc.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const probe = artifact('Probe')
const coder = new Interface(probe.abi)
const PREFIX = 'VM Exception while processing transaction: '

describe('evm_setAbi', () => {
  let node: Node
  let address: Hex
  const request = (method: string, ...params: unknown[]) => node.request({ method, params })
  const data = (name: string, ...values: unknown[]) => coder.encodeFunctionData(name, values)

  beforeAll(async () => {
    node = await createNode()
    const hash = await request('eth_sendTransaction', { from: ALICE, data: probe.bytecode, gas: '0x4c4b40' })
    const receipt = await request('eth_getTransactionReceipt', hash)
    address = (receipt as { contractAddress: Hex }).contractAddress
  })
  afterAll(() => node.close())

  const failing = (name: string, ...values: unknown[]) => [
    { from: ALICE, to: address, data: data(name, ...values), gas: '0x186a0' },
  ]
  /** What each way of running a message that reverts answers. */
  async function answers(name: string, ...values: unknown[]) {
    const [message] = failing(name, ...values)
    const error = (method: string, ...params: unknown[]) =>
      request(method, ...params).then(
        () => undefined,
        ({ message, data }: { message: string; data: string }) => ({ message, data }),
      )
    return [
      await error('eth_call', message, 'latest'),
      await error('eth_estimateGas', message),
      await error('eth_sendTransaction', message),
    ]
  }

  it('appends the error name to every failure message of the node, and keeps the payload', async () => {
    const payload = coder.encodeErrorResult('Refused', [ALICE, 42n])
    const plain = { message: `${PREFIX}transaction reverted`, data: payload }
    expect(await answers('failWithError')).toEqual([plain, plain, plain])

    expect(await request('evm_setAbi', 'Probe', probe.abi)).toBe(true)
    const named = { ...plain, message: `${plain.message}: Refused(who: ${ALICE}, amount: 42)` }
    expect(await answers('failWithError')).toEqual([named, named, named])
    expect((await answers('failWithReason'))[0]?.message).toBe(`${PREFIX}revert not today`)
  })

  it('can register names for one address', async () => {
    await request('evm_setAbi', address.toUpperCase().replace('0X', '0x'), [
      'error Refused(address caller, uint256 code)',
    ])
    expect((await answers('failWithError'))[2]?.message).toBe(
      `${PREFIX}transaction reverted: Refused(caller: ${ALICE}, code: 42)`,
    )
  })

  it('is not needed for a panic', async () => {
    const [called] = await answers('failWithPanic', 0n)
    expect(called?.message).toBe(`${PREFIX}transaction reverted: panic 0x12 (division or modulo by zero)`)
  })

  it.each([
    [[7, []], 'Invalid contract: expected an address, or the name of a contract.'],
    [['0x12', []], 'Invalid contract: expected an address of 20 bytes.'],
    [['A', 7], 'Invalid abi: expected a list of entries, or an artifact.'],
    [['A', {}], 'Invalid abi: an ABI is a list of entries.'],
    [['A', [{ type: 'function' }]], 'Invalid abi: entry 0 has no name.'],
    [['A', { abi: null }], 'Invalid abi: an ABI is a list of entries.'],
    [
      ['A', ['error E()', { type: 7 }]],
      'Invalid abi: entry 1 is neither a signature nor an object with a type.',
    ],
    [['A', ['funktion f()']], 'Invalid abi: parseAbi: wrong signature "funktion f()".'],
    [['A', new Array(5001).fill('error E()')], 'Invalid abi: expected at most 5000 entries.'],
    [['A', { abi: new Array(5001).fill('error E()') }], 'Invalid abi: expected at most 5000 entries.'],
    [
      ['A', [{ name: 'f', inputs: [{ type: `uint8${'[1]'.repeat(90)}` }] }]],
      'Invalid abi: entry 0: inputs[0] has too long a type.',
    ],
    [['A'], 'method parameters invalid'],
  ])('%j is refused', async (params, words) => {
    const dispatcher = dispatcherOf(fakeEngine().engine)
    expect((await ask(dispatcher, 'evm_setAbi', params)).error).toEqual({
      code: -32602,
      message: words,
    })
  })

  it('refuses a contract that exceeds the total limit', async () => {
    const entry = { type: 'error', name: 'E'.repeat(8_388_608) }
    const { error } = await ask(dispatcherOf(fakeEngine().engine), 'evm_setAbi', ['A', [entry]])
    expect(error?.code).toBe(-32602)
    expect(error?.message).toMatch(
      /^Invalid abi: it has \d{7} characters of names, and there is room for 8388608\.$/,
    )
  })
})

describe('evm_contracts and evm_contractAbi', () => {
  const HERE = '0x00000000000000000000000000000000000dead2'
  let node: Node
  // biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
  const request = (method: string, ...params: unknown[]): Promise<any> => node.request({ method, params })
  beforeAll(async () => {
    node = await createNode()
  })
  afterAll(() => node.close())

  it('are empty at first', async () => {
    expect(await request('evm_contracts')).toEqual([])
    expect(await request('evm_contractAbi', 'Probe')).toBeNull()
    expect(await request('evm_contractAbi', HERE)).toBeNull()
  })

  it('return the registered contracts, the latest first, with the selectors and mutabilities that ethers computes', async () => {
    const hash = await request('eth_sendTransaction', { from: ALICE, data: probe.bytecode, gas: '0x4c4b40' })
    const { contractAddress } = await request('eth_getTransactionReceipt', hash)
    const deployedBytecode = await request('eth_getCode', contractAddress, 'latest')
    await request('evm_setAbi', 'Probe', { ...probe, deployedBytecode })
    const small = new Interface([
      'function old(tuple(uint8 kind, bytes4[] ids) order) payable returns (bool done)',
      'event Moved(address indexed from, string what)',
    ])
    await request('evm_setAbi', HERE, JSON.parse(small.formatJson()))

    const kinds = (kind: string) => coder.fragments.filter(({ type }) => type === kind).length
    expect(await request('evm_contracts')).toEqual([
      { name: null, address: HERE, functions: 1, events: 1, errors: 0 },
      {
        name: 'Probe',
        address: null,
        functions: kinds('function'),
        events: kinds('event'),
        errors: kinds('error'),
      },
    ])
    const byAddress = await request('evm_contractAbi', contractAddress)
    expect(byAddress).toEqual(await request('evm_contractAbi', 'Probe'))
    expect(byAddress.name).toBe('Probe')
    const entries: { type: string; name: string; selector: string; stateMutability: string }[] = byAddress.abi
    const functions = entries.filter(({ type }) => type === 'function')
    expect(functions.map(({ name, selector, stateMutability }) => [name, selector, stateMutability])).toEqual(
      functions.map(({ name }) => {
        const fragment = coder.getFunction(name)
        return [name, fragment?.selector, fragment?.stateMutability]
      }),
    )
    const named = coder.format().filter((line) => !/^(receive|fallback)/.test(line))
    expect(new Interface(byAddress.abi).format()).toEqual(named)
    const { name, abi } = await request('evm_contractAbi', HERE)
    expect([name, new Interface(abi).format()]).toEqual([null, small.format()])
    expect(abi[1].selector).toBe(small.getEvent('Moved')?.topicHash)
  })

  it('read the mutability of compilers before Solidity 0.5', async () => {
    await request('evm_setAbi', 'Old', [
      { type: 'function', name: 'read', constant: true, inputs: [] },
      { type: 'function', name: 'pay', payable: true, inputs: [] },
    ])
    const { abi } = await request('evm_contractAbi', 'Old')
    expect(abi.map((entry: { stateMutability: string }) => entry.stateMutability)).toEqual([
      'view',
      'payable',
    ])
  })
})

describe('the setting abi', () => {
  const fixture = new URL('../../../fixtures/contracts/Probe.json', import.meta.url).pathname

  it('registers names at the start', async () => {
    const node = await createNode({ abi: [fixture] })
    const message = { data: '0x', to: null }
    expect(node.engine.names.isEmpty).toBe(false)
    const revert = coder.encodeErrorResult('Refused', [ALICE, 1n]).slice(2)
    // Init code that copies the payload behind itself to memory and reverts with it.
    const code = `0x6044600c60003960446000fd${revert}`
    await expect(
      node.request({ method: 'eth_call', params: [{ ...message, data: code }, 'latest'] }),
    ).rejects.toThrow(saying(`${PREFIX}transaction reverted: Refused(who: ${ALICE}, amount: 1)`))
    await node.close()
  })

  it('names a path that is missing', async () => {
    await expect(createNode({ abi: ['/nowhere'] })).rejects.toThrow(
      saying('Cannot read ABIs from /nowhere: there is no such file or folder.'),
    )
  })
})
