/** The user's first morning: an OpenZeppelin token through ethers v6, over HTTP and over WebSocket. */
import {
  type Contract,
  ContractFactory,
  id,
  JsonRpcProvider,
  type Signer,
  Wallet,
  WebSocketProvider,
  zeroPadValue,
} from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const COW = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const token = artifact('Token')

describe.each(['http', 'ws'] as const)('an OpenZeppelin ERC-20 with ethers over %s', (transport) => {
  let served: ServedNode
  let provider: JsonRpcProvider | WebSocketProvider
  let signer: Signer

  beforeAll(async () => {
    served = await servedNode()
    provider =
      transport === 'http'
        ? new JsonRpcProvider(served.url, undefined, { cacheTimeout: -1 })
        : new WebSocketProvider(served.wsUrl, undefined, { cacheTimeout: -1 })
    if (provider instanceof JsonRpcProvider) provider.pollingInterval = 20
    signer = new Wallet(COW, provider)
  })
  afterAll(async () => {
    await provider.destroy()
    await served.close()
  })

  async function deploy(): Promise<Contract> {
    const contract = await new ContractFactory(token.abi, token.bytecode, signer).deploy(1_000_000n)
    await contract.waitForDeployment()
    return contract as unknown as Contract
  }

  it('deploys, transfers, and reads receipt and logs', async () => {
    const contract = await deploy()
    const sent = await contract.getFunction('transfer')(BOB, 250n)
    const receipt = await sent.wait()
    expect(receipt.status).toBe(1)
    expect(await contract.getFunction('balanceOf')(BOB)).toBe(250n)
    expect(receipt.logs).toHaveLength(1)
    const logs = await provider.getLogs({
      address: await contract.getAddress(),
      topics: [id('Transfer(address,address,uint256)'), null, zeroPadValue(BOB, 32)],
      fromBlock: 0,
    })
    expect(logs).toHaveLength(1)
    expect(logs[0]?.transactionHash).toBe(sent.hash)
    expect(logs[0]?.removed).toBe(false)
    const block = await provider.getBlock(receipt.blockNumber, true)
    expect(block?.transactions).toContain(sent.hash)
  })

  it('refuses a transfer above the balance, with the custom error decoded', async () => {
    const contract = await deploy()
    const asBob = contract.connect(await provider.getSigner(BOB)) as Contract
    await expect(
      asBob.getFunction('transfer').staticCall(await signer.getAddress(), 1n),
    ).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      revert: { name: 'ERC20InsufficientBalance', args: [expect.stringMatching(/^0x7986/i), 0n, 1n] },
    })
  })

  it('calls with a state override that gives an account a balance', async () => {
    const contract = await deploy()
    const address = await contract.getAddress()
    const data = contract.interface.encodeFunctionData('balanceOf', [BOB])
    // OpenZeppelin's ERC20 keeps balances in the mapping at slot 0.
    const { AbiCoder, keccak256 } = await import('ethers')
    const slot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [BOB, 0]))
    const value = zeroPadValue('0x2a', 32)
    const overridden = await provider.send('eth_call', [
      { to: address, data },
      'latest',
      { [address]: { stateDiff: { [slot]: value } } },
    ])
    expect(BigInt(overridden)).toBe(42n)
    expect(BigInt(await provider.send('eth_call', [{ to: address, data }, 'latest']))).toBe(0n)
  })

  it('takes a snapshot and reverts to it', async () => {
    const contract = await deploy()
    const snapshot = await provider.send('evm_snapshot', [])
    const head = await provider.getBlockNumber()
    const sent = await contract.getFunction('transfer')(BOB, 99n)
    await sent.wait()
    expect(await contract.getFunction('balanceOf')(BOB)).toBe(99n)
    expect(await provider.send('evm_revert', [snapshot])).toBe(true)
    expect(await provider.getBlockNumber()).toBe(head)
    expect(await contract.getFunction('balanceOf')(BOB)).toBe(0n)
    expect(await provider.send('eth_getTransactionReceipt', [sent.hash])).toBeNull()
  })
})
