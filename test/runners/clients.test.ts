/** The clients of viem and ethers over a node in process. */
import { Contract, ContractFactory, Interface, isError } from 'ethers'
import { type BaseError, ContractFunctionRevertedError, parseAbi } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'
import { createEthersClients } from '../../src/runners/ethers.ts'
import { createViemClients, revertOf } from '../../src/runners/viem.ts'
import { artifact } from '../support/contracts.ts'
import { BOB, COW } from '../support/noting-chain.ts'

const probe = artifact('Probe')

let node: Node
beforeEach(async () => {
  node = await createNode()
})
afterEach(() => node.close())

describe('tandem/viem', () => {
  it('sends with each account, reads, and sets balances', async () => {
    const { publicClient, testClient, walletClients, chain } = createViemClients(node)
    expect(chain.id).toBe(33)
    const [first, second] = walletClients
    expect(first?.account.address).toBe(COW)
    for (const client of [first, second]) {
      const hash = await client?.sendTransaction({ to: BOB, value: 1n })
      const receipt = await publicClient.waitForTransactionReceipt({ hash: hash as `0x${string}` })
      expect(receipt).toMatchObject({ status: 'success', from: client?.account.address })
    }
    await testClient.setBalance({ address: BOB, value: 7n })
    expect(await publicClient.getBalance({ address: BOB })).toBe(7n)
  })

  it('reports why a call failed', async () => {
    const { publicClient, walletClients } = createViemClients(node)
    const hash = await walletClients[0]?.sendTransaction({
      data: probe.bytecode as `0x${string}`,
      gas: 3_000_000n,
    })
    const { contractAddress } = await publicClient.getTransactionReceipt({ hash: hash as `0x${string}` })
    const call = { address: contractAddress as `0x${string}`, abi: parseAbi(['function failWithReason()']) }
    const error = await publicClient
      .readContract({ ...call, functionName: 'failWithReason' })
      .catch((cause) => cause)
    const reverted = (error as BaseError).walk((cause) => cause instanceof ContractFunctionRevertedError)
    expect((reverted as ContractFunctionRevertedError).reason).toBe('not today')
    expect(revertOf(node, error)).toMatchObject({ name: 'Error', values: ['not today'] })
    expect(revertOf(node, new Error('another'))).toBeUndefined()
    const data = new Interface(probe.abi).encodeErrorResult('Refused', [BOB, 5])
    expect(revertOf(node, { cause: { data } })).toBeUndefined()
    await node.request({ method: 'evm_setAbi', params: ['Probe', probe.abi] })
    expect(revertOf(node, { cause: { data } })).toMatchObject({ name: 'Refused', data })
  })
})

describe('tandem/ethers', () => {
  it('deploys, sends and reports why a call failed', async () => {
    const { provider, signers } = await createEthersClients(node)
    try {
      expect(signers[0]?.address.toLowerCase()).toBe(COW)
      const factory = new ContractFactory(probe.abi, probe.bytecode, signers[0])
      const deployed = await factory.deploy({ gasLimit: 3_000_000 })
      await deployed.waitForDeployment()
      const contract = new Contract(await deployed.getAddress(), probe.abi, signers[1])
      const refused = await contract
        .getFunction('failWithReason')
        .staticCall()
        .catch((error) => error)
      expect(isError(refused, 'CALL_EXCEPTION') && refused.reason).toBe('not today')
      expect(revertOf(node, refused)?.text).toBe('not today')
    } finally {
      provider.destroy()
    }
  })
})
