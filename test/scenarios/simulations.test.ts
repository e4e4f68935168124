/** Simulated blocks as viem, ethers and web3.js ask for them, over real sockets. */
import { JsonRpcProvider, WebSocketProvider } from 'ethers'
import { createPublicClient, custom, ethAddress, http, type PublicClient, parseAbi, webSocket } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Web3, WebSocketProvider as Web3Socket } from 'web3'
import { artifact } from '../support/contracts.ts'
import { word } from '../support/override-cases.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

type Hex = `0x${string}`
const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const [POOR, OTHER] = [`0x${'42'.repeat(20)}`, `0x${'43'.repeat(20)}`] as const
const token = artifact('Token')
const abi = parseAbi([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
])

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
  let client: PublicClient
  beforeAll(() => {
    const socket = () => webSocket(served.wsUrl, { reconnect: false, keepAlive: false })
    const transport =
      name === 'http'
        ? http(served.url)
        : name === 'webSocket'
          ? socket()
          : custom(served.node, { retryCount: 0 })
    client = createPublicClient({ transport })
  })

  it('simulates blocks, each on the one before', async () => {
    const head = await client.getBlock()
    const transfer = { to: address, abi, functionName: 'transfer' } as const
    const balance = { to: address, abi, functionName: 'balanceOf', args: [POOR] } as const
    const amount = [POOR, 7n] as const
    const blocks = await client.simulateBlocks({
      blocks: [
        {
          stateOverrides: [{ address: COW, balance: 100n }],
          calls: [
            { ...transfer, account: COW, args: amount },
            { account: COW, to: POOR, value: 100n },
            { ...transfer, account: OTHER, args: amount },
          ],
        },
        { blockOverrides: { time: head.timestamp + 500n }, calls: [balance] },
      ],
      traceTransfers: true,
      returnFullTransactions: true,
    })
    expect(blocks.map(({ number }) => Number(number) - Number(head.number))).toEqual([1, 2])
    expect(blocks[0]?.parentHash).toBe(head.hash)
    expect(blocks[1]?.timestamp).toBe(head.timestamp + 500n)
    const [sent, paid, failed] = blocks[0]?.calls ?? []
    expect(sent).toMatchObject({ status: 'success', result: true })
    expect([sent, paid].map((call) => call?.logs?.map((log) => log.address))).toEqual([
      [address],
      [ethAddress],
    ])
    const error = { data: { errorName: 'ERC20InsufficientBalance', args: [expect.anything(), 0n, 7n] } }
    expect(failed).toMatchObject({ status: 'failure', error: { cause: error } })
    expect(blocks[1]?.calls[0]).toMatchObject({ status: 'success', result: 7n })
  })

  it('finds the assets that calls move', async () => {
    const before = await client.getBalance({ address: COW })
    const { assetChanges, results } = await client.simulateCalls({
      account: COW,
      calls: [
        { to: address, abi, functionName: 'transfer', args: [POOR, 7n] },
        { to: POOR, value: 5n },
      ],
      traceAssetChanges: true,
    })
    expect(results).toMatchObject([{ status: 'success', result: true }, { status: 'success' }])
    expect(assetChanges).toEqual([
      {
        token: { address: ethAddress, decimals: 18, symbol: 'ETH' },
        value: { pre: before, post: before - 5n, diff: -5n },
      },
      {
        token: { address, decimals: 18, symbol: 'TDM' },
        value: { pre: 1000n, post: 993n, diff: -7n },
      },
    ])
  })

  it('gets errors of its own', async () => {
    const calls = [{ account: POOR, to: OTHER, value: 5n }]
    await expect(client.simulateBlocks({ blocks: [{ calls }] })).rejects.toMatchObject({
      name: 'InsufficientFundsError',
    })
  })
})

/** What a client that sends JSON-RPC as it is gets. */
async function expectSimulation(send: (params: unknown[]) => Promise<unknown>): Promise<void> {
  const call = { from: POOR, to: OTHER, value: '0x5' }
  const block = { stateOverrides: { [POOR]: { balance: '0x5' } }, calls: [call] }
  expect(await send([{ blockStateCalls: [block], traceTransfers: true }, 'latest'])).toMatchObject([
    { calls: [{ status: '0x1', logs: [{ address: ethAddress, data: word(5) }] }] },
  ])
}

describe('over real sockets', () => {
  it('ethers over HTTP and a WebSocket', async () => {
    const overHttp = new JsonRpcProvider(served.url, undefined, { cacheTimeout: -1 })
    const overSocket = new WebSocketProvider(served.wsUrl)
    for (const provider of [overHttp, overSocket]) {
      await expectSimulation((params) => provider.send('eth_simulateV1', params))
    }
    const refused = overHttp.send('eth_simulateV1', [{ blockStateCalls: [{ calls: [{ gas: '0x1' }] }] }])
    await expect(refused).rejects.toMatchObject({ error: { code: -38013 } })
    overHttp.destroy()
    await overSocket.destroy()
  })

  it('web3.js over HTTP and a WebSocket', async () => {
    for (const url of [served.url, served.wsUrl]) {
      const { requestManager, provider } = new Web3(url)
      const send = (params: unknown[]) => requestManager.send({ method: 'eth_simulateV1', params } as never)
      await expectSimulation(send)
      if (provider instanceof Web3Socket) provider.disconnect()
    }
  })
})
