/** Overrides as viem, ethers and web3.js send them, over real sockets. */
import { JsonRpcProvider, toBeHex, WebSocketProvider } from 'ethers'
import { createPublicClient, custom, encodeFunctionData, http, webSocket } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Web3, WebSocketProvider as Web3Socket } from 'web3'
import { artifact } from '../support/contracts.ts'
import { returning, word } from '../support/override-cases.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const POOR = `0x${'42'.repeat(20)}` as const
const CALLED = '0x00000000000000000000000000000000000dead1'
const token = artifact('Token') as unknown as { abi: never[]; bytecode: `0x${string}` }
type Hex = `0x${string}`
/** Returns NUMBER plus slot 1. */
const code = returning('4360015401') as Hex
const slotOne = { slot: word(1) as Hex, value: word(7) as Hex }

let served: ServedNode
let address: Hex
beforeAll(async () => {
  served = await servedNode()
  const data = `${token.bytecode}${word(1000).slice(2)}`
  const hash = await served.call('eth_sendTransaction', { from: COW, data, gas: '0x4c4b40' })
  address = (await served.call('eth_getTransactionReceipt', hash)).contractAddress
})
afterAll(() => served.close())

describe.each(['http', 'webSocket', 'in process'] as const)('viem, %s', (name) => {
  const socket = () => webSocket(served.wsUrl, { reconnect: false, keepAlive: false })
  const transport = () =>
    name === 'http' ? http(served.url) : name === 'webSocket' ? socket() : custom(served.node)
  const client = () => createPublicClient({ transport: transport() })

  it('accepts call with state and block overrides', async () => {
    const { data } = await client().call({
      to: CALLED,
      stateOverride: [{ address: CALLED, code, stateDiff: [slotOne] }],
      blockOverrides: {
        number: 100n,
        time: 5n,
        gasLimit: 10_000_000n,
        feeRecipient: POOR,
        baseFeePerGas: 0n,
      },
    })
    expect(data).toBe(word(107))
    expect((await client().call({ to: CALLED, blockOverrides: { number: 100n } })).data).toBeUndefined()
  })

  it('accepts readContract and estimateGas with state overrides', async () => {
    // OpenZeppelin's ERC-20 has its total supply in slot 2.
    const read = await client().readContract({
      address,
      abi: token.abi,
      functionName: 'totalSupply',
      stateOverride: [{ address, stateDiff: [{ slot: word(2) as Hex, value: word(99) as Hex }] }],
    } as never)
    expect(read).toBe(99n)
    const gas = client().estimateGas({
      account: POOR,
      to: COW,
      value: 5n,
      stateOverride: [{ address: POOR, balance: 5n }],
    })
    expect(await gas).toBe(21_000n)
    await expect(client().estimateGas({ account: POOR, to: COW, value: 5n })).rejects.toThrow(/funds/)
  })

  it('accepts simulateBlocks and simulateCalls', async () => {
    const [block] = await client()
      .simulateBlocks({
        blocks: [
          {
            blockOverrides: { number: 2n },
            stateOverrides: [{ address: CALLED, code, stateDiff: [slotOne] }],
            calls: [{ to: CALLED }],
          },
        ],
      } as never)
      .then((blocks) => blocks.slice(-1))
    expect(block?.calls[0]).toMatchObject({ status: 'success', data: word(9) })
    const { results } = await client().simulateCalls({
      account: POOR,
      calls: [
        { to: address, data: encodeFunctionData({ abi: token.abi, functionName: 'totalSupply' } as never) },
      ],
      stateOverrides: [{ address: POOR, balance: 10n ** 18n }],
    })
    expect(results[0]).toMatchObject({ status: 'success', data: word(1000) })
  })
})

/** What a client that sends JSON-RPC as it is gets for each method. */
async function expectOverrides(send: (method: string, params: unknown[]) => Promise<unknown>): Promise<void> {
  const state = { [CALLED]: { code, stateDiff: { [slotOne.slot]: slotOne.value } } }
  const block = { number: toBeHex(100) }
  const call = { from: COW, to: CALLED }
  expect(await send('eth_call', [call, 'latest', state, block])).toBe(word(107))
  expect(Number(await send('eth_estimateGas', [call, 'latest', state, block]))).toBeGreaterThan(21_000)
  expect(await send('eth_createAccessList', [call, 'latest', state, block])).toMatchObject({
    accessList: [{ address: CALLED, storageKeys: [word(1)] }],
  })
  expect(await send('trace_call', [call, ['trace'], 'latest', state, block])).toMatchObject({
    output: word(107),
  })
  const options = { tracer: 'callTracer', stateOverrides: state, blockOverrides: block }
  expect(await send('debug_traceCall', [call, 'latest', options])).toMatchObject({ output: word(107) })
}

describe('over real sockets', () => {
  it('ethers over HTTP and a WebSocket', async () => {
    const overHttp = new JsonRpcProvider(served.url, undefined, { cacheTimeout: -1 })
    await expectOverrides((method, params) => overHttp.send(method, params))
    overHttp.destroy()
    const overSocket = new WebSocketProvider(served.wsUrl)
    await expectOverrides((method, params) => overSocket.send(method, params))
    await overSocket.destroy()
  })

  it('web3.js over HTTP and a WebSocket', async () => {
    for (const url of [served.url, served.wsUrl]) {
      const { requestManager, provider } = new Web3(url)
      await expectOverrides((method, params) => requestManager.send({ method, params } as never))
      if (provider instanceof Web3Socket) provider.disconnect()
    }
  })
})
