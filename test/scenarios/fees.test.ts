/** Prices on a chain without base fee: clients settle on a plain gas price, or say that there is no base fee. */
import { ethers } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Web3 } from 'web3'
import { runCast } from '../support/cast.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { CAST, describeWith } from '../support/tools.ts'

const KEY = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const MINIMUM = 60_000_000n

let served: ServedNode
beforeAll(async () => {
  served = await servedNode({ minGasPrice: MINIMUM })
  // The minimum of a block moves towards the setting by a hundredth of the parent's, and from zero by one wei.
  await served.call('evm_mine')
})
afterAll(() => served.close())

/** What became of a transaction: mined, plain, and at a price that the chain takes. */
async function expectPlain(hash: string): Promise<void> {
  const [sent, receipt] = [
    await served.call('eth_getTransactionByHash', hash),
    await served.call('eth_getTransactionReceipt', hash),
  ]
  expect(sent.type).toBe('0x0')
  expect(receipt.status).toBe('0x1')
  expect(BigInt(sent.gasPrice)).toBe(BigInt(receipt.effectiveGasPrice))
}

describe('a transaction without a price, signed by the client', () => {
  it('ethers', async () => {
    const provider = new ethers.JsonRpcProvider(served.url, undefined, { cacheTimeout: -1 })
    try {
      const sent = await new ethers.Wallet(KEY, provider).sendTransaction({ to: BOB, value: 1n })
      await expectPlain(sent.hash)
    } finally {
      provider.destroy()
    }
  })

  it('viem', async () => {
    const chain = defineChain({
      id: 33,
      name: 'local',
      nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
      rpcUrls: { default: { http: [served.url] } },
    })
    const account = privateKeyToAccount(KEY)
    const writer = createWalletClient({ account, chain, transport: http() })
    await expectPlain(await writer.sendTransaction({ to: BOB, value: 1n }))
    const reader = createPublicClient({ chain, transport: http() })
    const { gasUsedRatio, baseFeePerGas } = await reader.getFeeHistory({
      blockCount: 2,
      rewardPercentiles: [10, 90],
    })
    expect(gasUsedRatio).toHaveLength(2)
    expect(baseFeePerGas).toEqual([0n, 0n, 0n])
  })

  it('web3.js, the only one that needs a setting', async () => {
    const web3 = new Web3(served.url)
    const { address } = web3.eth.accounts.wallet.add(KEY)[0] as { address: string }
    const transaction = { from: address, to: BOB, value: 1, gas: 21_000 }
    await expect(web3.eth.sendTransaction(transaction)).rejects.toThrow(/eip-1559/)
    web3.eth.defaultTransactionType = '0x0'
    const { transactionHash } = await web3.eth.sendTransaction(transaction)
    await expectPlain(String(transactionHash))
  })
})

const SEND = ['send', '--private-key', KEY, BOB, '--value', '1', '--json']
const castSend = (...flags: string[]) => runCast([...SEND, '--rpc-url', served.url, ...flags])

describeWith(CAST, 'Foundry’s cast', () => {
  it('sends a plain transaction with --legacy', async () => {
    const { stdout } = await castSend('--legacy')
    await expectPlain(JSON.parse(stdout).transactionHash)
  })

  it('finds no base fee, and sends nothing', async () => {
    const before = await served.call('eth_blockNumber')
    const { code, stderr } = await castSend()
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/eip1559/)
    expect(await served.call('eth_blockNumber')).toBe(before)
  })
})
