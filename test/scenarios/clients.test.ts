/** The other client libraries: viem and web3.js, over HTTP, WebSocket and in process. */
import {
  type BaseError,
  createPublicClient,
  createTestClient,
  createWalletClient,
  custom,
  decodeErrorResult,
  defineChain,
  http,
  webSocket,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Web3 } from 'web3'
import { artifact } from '../support/contracts.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const COW = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const token = artifact('Token') as unknown as { abi: never[]; bytecode: `0x${string}` }
const probe = artifact('Probe') as unknown as { abi: never[]; bytecode: `0x${string}` }

const chain = defineChain({
  id: 33,
  name: 'local',
  nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})

let served: ServedNode
beforeAll(async () => {
  served = await servedNode()
})
afterAll(() => served.close())

describe.each(['http', 'webSocket', 'in process'] as const)('viem, %s', (name) => {
  const transport = () =>
    name === 'http'
      ? http(served.url)
      : name === 'webSocket'
        ? webSocket(served.wsUrl, { reconnect: false, keepAlive: false })
        : custom({ request: (call) => served.node.request(call) })

  it('deploys, sends, reads, decodes a revert, and uses snapshots', async () => {
    const account = privateKeyToAccount(COW)
    const reader = createPublicClient({ chain, transport: transport(), pollingInterval: 20, cacheTime: 0 })
    const writer = createWalletClient({ account, chain, transport: transport() })
    const tester = createTestClient({ mode: 'ganache', chain, transport: transport() })
    expect(await reader.getChainId()).toBe(33)

    const hash = await writer.deployContract({
      abi: token.abi,
      bytecode: token.bytecode,
      args: [10n ** 18n] as never,
    })
    const { contractAddress } = await reader.waitForTransactionReceipt({ hash })
    const address = contractAddress as `0x${string}`
    const contract = { address, abi: token.abi }
    const read = (owner: string) =>
      reader.readContract({ ...contract, functionName: 'balanceOf', args: [owner] } as never)

    const id = await tester.snapshot()
    const sent = await writer.writeContract({
      ...contract,
      functionName: 'transfer',
      args: [BOB, 77n],
    } as never)
    expect((await reader.waitForTransactionReceipt({ hash: sent })).status).toBe('success')
    expect(await read(BOB)).toBe(77n)
    expect(await reader.getLogs({ address, fromBlock: 0n })).toHaveLength(3)
    await tester.revert({ id })
    expect(await read(BOB)).toBe(0n)

    // viem decodes custom errors of code 3 only; the chain's code is -32015, so the payload is read by hand.
    const refusal = await reader
      .simulateContract({ ...contract, functionName: 'mint', args: [BOB, 1n], account: BOB } as never)
      .catch((error: BaseError) => error)
    const cause = (refusal as BaseError).walk((error) => 'data' in (error as object)) as unknown as {
      data: `0x${string}`
    }
    expect(decodeErrorResult({ abi: token.abi, data: cause.data })).toMatchObject({
      errorName: 'OwnableUnauthorizedAccount',
    })
  })
})

describe.each(['http', 'ws'] as const)('web3.js, %s', (name) => {
  it('deploys, sends from a local account, and reads events', async () => {
    const web3 = new Web3(name === 'http' ? served.url : served.wsUrl)
    try {
      const [from] = await web3.eth.getAccounts()
      const made = await new web3.eth.Contract(probe.abi)
        .deploy({ data: probe.bytecode })
        .send({ from: from as string, gas: '3000000', gasPrice: '0', type: 0 } as never)
      const methods = made.methods as unknown as Record<
        string,
        (...args: unknown[]) => { send(o: object): Promise<{ status: bigint }>; call(): Promise<unknown> }
      >
      const receipt = await methods.note?.(7, '0xabcd').send({ from, gas: '200000', gasPrice: '0', type: 0 })
      expect(Number(receipt?.status)).toBe(1)
      expect(await methods.counter?.().call()).toBe(1n)
      const events = await made.getPastEvents('allEvents' as never, { fromBlock: 0 })
      expect(events).toHaveLength(1)
      await expect(methods.failWithReason?.().call()).rejects.toThrow(
        'Error happened while trying to execute a function inside a smart contract',
      )
    } finally {
      if (name === 'ws') web3.currentProvider?.disconnect()
    }
  })
})
