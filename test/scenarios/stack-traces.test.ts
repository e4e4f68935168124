/** The stack of failed code in replies, in errors of callers in process, and by `evm_stackTrace`; clients still decode reverts. */
import { Contract, JsonRpcProvider } from 'ethers'
import { type BaseError, ContractFunctionRevertedError, createPublicClient, http, parseAbi } from 'viem'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Web3 } from 'web3'
import type { Hex } from '../../src/encoding/hex.ts'
import type { NodeOptions } from '../../src/index.ts'
import type { RpcError } from '../../src/rpc/error-codes.ts'
import { createEthersClients } from '../../src/runners/ethers.ts'
import { createViemClients } from '../../src/runners/viem.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { caseBuildInfo, compiledCases } from '../support/stack-trace-cases.ts'

const CAUGHT = '0_8/call-message/external-calls/try-catch-and-back-and-forth'
const CUSTOM = '0_8/custom-errors/complex-custom-error'
/** The selectors of `test1()` and `test()`. */
const TEST1 = '0x6b59084d'
const TEST = '0xf8a8fd6d'

/** The data of an error with a stack. */
interface Explained {
  readonly data?: string
  readonly stack: string
  readonly stackTrace: readonly object[]
}

let compiled: ReturnType<typeof compiledCases>
beforeAll(() => {
  compiled = compiledCases('0.8.35')
})

let t: ServedNode
afterEach(() => t?.close())

/** A node with a contract of a case, whose sources it knows. */
async function serveCase(name: string, options: NodeOptions = {}): Promise<Hex> {
  t = await servedNode(options)
  await t.call('evm_addSources', caseBuildInfo(name, compiled))
  const [from] = await t.call('eth_accounts')
  const code = compiled.outputs[name]?.contracts['c.sol']?.C?.evm.bytecode.object
  const hash = await t.call('eth_sendTransaction', { from, data: `0x${code}`, gas: '0x3d0900' })
  return (await t.call('eth_getTransactionReceipt', hash)).contractAddress
}

/** The frames that EDR expects of the case. */
const FRAMES = [
  { kind: 'call', contract: 'C', function: 'test1', file: 'c.sol', line: 14, column: 7 },
  { kind: 'call', contract: 'D', function: 'test2', file: 'd.sol', line: 8, column: 5 },
  { kind: 'call', contract: 'C', function: 'test3', file: 'c.sol', line: 19, column: 5 },
  {
    kind: 'revert',
    contract: 'D',
    function: 'fail',
    file: 'd.sol',
    line: 12,
    column: 5,
    message: 'reverted: D failed',
  },
]
const STACK = `    at D.fail (d.sol:12:5)
    at C.test3 (c.sol:19:5)
    at D.test2 (d.sol:8:5)
    at C.test1 (c.sol:14:7)`

describe('a reply', () => {
  it.each(['eth_call', 'eth_estimateGas', 'eth_sendTransaction'])(
    '%s has the stack in its data',
    async (method) => {
      const to = await serveCase(CAUGHT, { stackTraces: 'data' })
      const [from] = await t.call('eth_accounts')
      const { error } = await t.reply<string, Explained>(method, [{ from, to, data: TEST1, gas: '0x3d0900' }])
      expect(error.data?.stackTrace).toEqual(FRAMES)
      expect(error.data?.stack).toBe(STACK)
      expect(error.data?.data).toMatch(/^0x08c379a0/)
      expect(error.message).toBe('VM Exception while processing transaction: revert D failed')
    },
  )

  it('has it behind the message where that is chosen', async () => {
    const to = await serveCase(CAUGHT, { stackTraces: 'message' })
    const { error } = await t.reply('eth_call', [{ to, data: TEST1 }])
    expect(error.message).toBe(`VM Exception while processing transaction: revert D failed\n${STACK}`)
  })

  it('is what it was when the setting is off, and where no sources are known', async () => {
    const to = await serveCase(CAUGHT)
    const plain = await t.reply('eth_call', [{ to, data: TEST1 }])
    expect(plain.error.data).toMatch(/^0x08c379a0/)
    await t.close()
    t = await servedNode({ stackTraces: 'data' })
    const { error } = await t.reply('eth_call', [{ data: '0x60006000fd' }])
    expect(error.data).toBe('0x')
  })

  it('has the stack of an exception, which has no revert data', async () => {
    const to = await serveCase(CAUGHT, { stackTraces: 'data', strictCalls: true })
    const { error } = await t.reply<string, Explained>('eth_call', [{ to, data: TEST1, gas: '0x5400' }])
    expect(error.data?.stackTrace.at(-1)).toMatchObject({ kind: 'out-of-gas', contract: 'C', file: 'c.sol' })
  })
})

describe.each(['rsk', 'hardhat', 'anvil'] as const)('clients of the preset %s still decode', (preset) => {
  const abi = ['function test1()', 'function test()'] as const

  it('a reason', async () => {
    const to = await serveCase(CAUGHT, { preset, stackTraces: 'data' })
    const provider = new JsonRpcProvider(t.url, undefined, { cacheTimeout: -1 })
    const thrown = await new Contract(to, abi, provider)
      .getFunction('test1')
      .staticCall()
      .catch((error) => error)
    expect(thrown).toMatchObject({ code: 'CALL_EXCEPTION', reason: 'D failed' })
    provider.destroy()
    const web3 = new Web3(t.url)
    const contract = new web3.eth.Contract([{ type: 'function', name: 'test1', inputs: [], outputs: [] }], to)
    const refused = await contract.methods
      .test1?.()
      .call()
      .catch((error: unknown) => error)
    expect(JSON.stringify(refused, Object.getOwnPropertyNames(Object(refused)))).toContain('D failed')
  })

  it('a custom error', async () => {
    const to = await serveCase(CUSTOM, { preset, stackTraces: 'data' })
    const definition =
      'error MyError(uint256 x, uint256[] xs, address a, bytes4 b, (uint256 x, uint256 y) p, (uint256 x, uint256 y)[] ps)'
    const provider = new JsonRpcProvider(t.url, undefined, { cacheTimeout: -1 })
    const thrown = await new Contract(to, [...abi, definition], provider)
      .getFunction('test')
      .staticCall()
      .catch((error) => error)
    expect(thrown.revert).toMatchObject({ name: 'MyError' })
    provider.destroy()
    // viem decodes revert data under the code 3 only, which the reference node does not have.
    if (preset === 'rsk') return
    const client = createPublicClient({ transport: http(t.url, { retryCount: 0 }) })
    const failed: BaseError = await client
      .readContract({
        address: to,
        abi: [
          ...parseAbi(['function test() view', 'struct Point { uint256 x; uint256 y; }']),
          ...parseAbi([
            'error MyError(uint256 x, uint256[] xs, address a, bytes4 b, Point p, Point[] ps)',
            'struct Point { uint256 x; uint256 y; }',
          ]),
        ],
        functionName: 'test',
      })
      .catch((error) => error)
    const reverted = failed.walk((cause) => cause instanceof ContractFunctionRevertedError)
    expect(reverted).toMatchObject({ data: { errorName: 'MyError' } })
  })
})

describe('in process', () => {
  const failing = async (to: Hex) =>
    t.node.request({ method: 'eth_call', params: [{ to, data: TEST1 }] }).then(
      () => expect.unreachable(),
      (error: RpcError) => error,
    )

  it('the stack of an error shows the lines of the contracts first', async () => {
    const error = await failing(await serveCase(CAUGHT))
    expect(error.stack?.split('\n').slice(1, 5).join('\n')).toBe(STACK)
    expect(error.stack).toMatch(/stack-traces\.test|node\.(ts|js)/)
    expect(error.stackTrace).toEqual(FRAMES)
    expect(error.data).toMatch(/^0x08c379a0/)
  })

  it('so does that of errors of ethers, and the cause of those of viem', async () => {
    const to = await serveCase(CAUGHT)
    const { provider, signers } = await createEthersClients(t.node)
    const send = new Contract(to, ['function test1()'], signers[0]).getFunction('test1')
    const thrown = await send().catch((error) => error)
    expect(thrown.reason).toBe('D failed')
    expect(thrown.stack).toContain(`\n${STACK}\n`)
    provider.destroy()
    const { publicClient } = createViemClients(t.node)
    const failed: BaseError = await publicClient.call({ to, data: TEST1 }).catch((error) => error)
    expect((failed.walk() as Error).stack).toContain(STACK)
  })
})

describe('evm_stackTrace', () => {
  it('explains a mined transaction, failures that were caught, and the call sites of all calls', async () => {
    const to = await serveCase(CAUGHT, { minedReverts: 'hash' })
    const [from] = await t.call('eth_accounts')
    const hash = await t.call('eth_sendTransaction', { from, to, data: TEST1, gas: '0x3d0900' })
    const found = await t.call('evm_stackTrace', hash)
    expect(found.failed).toBe(true)
    expect(found.stackTrace).toEqual(FRAMES)
    expect(found.caught).toEqual([{ traceAddress: [0], stackTrace: [FRAMES[3]] }])
    expect(found.calls).toEqual([
      { traceAddress: [], contract: 'C', function: 'test1' },
      { traceAddress: [0], contract: 'D', function: 'fail', site: { ...FRAMES[0], line: 13, column: 9 } },
      { traceAddress: [1], contract: 'D', function: 'test2', site: FRAMES[0] },
      { traceAddress: [1, 0], contract: 'C', function: 'test3', site: FRAMES[1] },
      { traceAddress: [1, 0, 0], contract: 'D', function: 'fail', site: FRAMES[2] },
    ])
    expect(await t.call('evm_stackTrace', { to, data: TEST1 })).toEqual(found)
  })

  it('names a custom error with its arguments', async () => {
    const to = await serveCase(CUSTOM)
    const { stackTrace } = await t.call('evm_stackTrace', { to, data: TEST })
    expect(stackTrace).toEqual([
      {
        kind: 'custom-error',
        contract: 'C',
        function: 'test',
        file: 'c.sol',
        line: 29,
        column: 12,
        message:
          'reverted with MyError(x: 0, xs: [1, 2, 3], a: 0x00000000000000000000000000000000deadbeef, b: 0x12345678, p: (x: 4, y: 5), ps: [(x: 6, y: 7), (x: 8, y: 9)])',
      },
    ])
  })

  it('explains a creation that fails, and one that succeeds', async () => {
    await serveCase(CAUGHT)
    const { object } = compiled.outputs[CAUGHT]?.contracts['c.sol']?.C?.evm.bytecode ?? { object: '' }
    const succeeded = await t.call('evm_stackTrace', { data: `0x${object}` })
    expect(succeeded).toMatchObject({ failed: false, stackTrace: [], caught: [] })
    expect(succeeded.calls[0]).toEqual({ traceAddress: [], contract: 'C', function: 'constructor' })
    const failed = await t.call('evm_stackTrace', { data: `0x${object}`, value: '0x1' })
    expect(failed.stackTrace).toMatchObject([
      { kind: 'function-not-payable', contract: 'C', function: 'constructor', file: 'c.sol', line: 8 },
    ])
  })

  it('has 1024 frames at most, whatever a source map and a list of bases say', async () => {
    t = await servedNode()
    const [to] = await t.call('eth_accounts')
    const content = 'x'.repeat(100)
    const declared = {
      nodeType: 'ContractDefinition',
      id: 1,
      name: 'C',
      linearizedBaseContracts: Array.from({ length: 10_000 }, () => 1),
      src: '0:100:0',
      nodes: ['a', 'b'].map((name) => ({ nodeType: 'FunctionDefinition', name, src: '0:100:0' })),
    }
    // JUMPDEST PUSH1 0 JUMP: each jump is said to enter a function.
    const deployedBytecode = { object: '5b600056', sourceMap: '0:1:0:-;1:1:0:-;2:1:0:i' }
    await t.call('evm_addSources', {
      solcVersion: '0.8.35',
      input: { language: 'Solidity', sources: { 'c.sol': { content } } },
      output: {
        sources: { 'c.sol': { id: 0, ast: { nodeType: 'SourceUnit', nodes: [declared] } } },
        contracts: { 'c.sol': { C: { abi: [], evm: { deployedBytecode } } } },
      },
    })
    await t.call('hardhat_setCode', to, '0x5b600056')
    const { stackTrace } = await t.call('evm_stackTrace', { to, gas: '0x20000' })
    expect(stackTrace.length).toBeGreaterThan(1000)
    expect(stackTrace.length).toBeLessThanOrEqual(1024)
    expect(stackTrace.at(-1)).toMatchObject({ kind: 'out-of-gas', contract: 'C', function: 'b' })
  })
})
