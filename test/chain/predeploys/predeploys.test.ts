/**
 * Hashes of code as others published them. `checks` of the Superchain registry: packages `ops` of
 * ethereum-optimism/optimism; EntryPoint 0.8 as observed on chain 4663.
 */
import { readFileSync } from 'node:fs'
import { TypedDataEncoder } from 'ethers'
import {
  type Address,
  createPublicClient,
  custom,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  getContractAddress,
  keccak256,
  parseAbi,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PREDEPLOY_NAMES } from '../../../src/chain/predeploys/names.ts'
import { codeOn, PREDEPLOYS, predeployedAccounts } from '../../../src/chain/predeploys/predeploys.ts'
import { toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { readPredeploySources } from '../../../src/store/package-files.ts'
import { gzippedFixture } from '../../support/fixture.ts'
import { servedNode } from '../../support/served-node.ts'

const all = Object.values(PREDEPLOYS).flat()
const at = (address: string) => {
  const found = all.find((contract) => contract.address === address.toLowerCase())
  if (found === undefined) throw new Error(`nothing is at ${address}`)
  return found
}
const codeHash = (address: string, chainId = 1) => keccak256(toHex(codeOn(chainId, at(address))))

/** The members of the build-info that a deployment needs. */
const relayBuildInfo = z.object({
  output: z.object({
    contracts: z.record(
      z.string(),
      z.record(z.string(), z.object({ evm: z.object({ bytecode: z.object({ object: z.string() }) }) })),
    ),
  }),
})

/** Code, nonce and storage of an account before the last block, which changes none of them. */
async function accountOn(node: Node, address: Address): Promise<unknown> {
  const read = (method: string) => node.request({ method, params: [address, 'latest'] })
  const head = (await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as {
    hash: string
  }
  const params = [head.hash, 0, address, `0x${'0'.repeat(64)}`, 100]
  const { storage } = (await node.request({ method: 'debug_storageRangeAt', params })) as { storage: unknown }
  return { code: await read('eth_getCode'), nonce: await read('eth_getTransactionCount'), storage }
}

describe('the code of predeployed contracts', () => {
  it.each([
    [
      '0x4e59b44847b379578588920cA78FbF26c0B4956C',
      '0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989',
    ],
    [
      '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7',
      '0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989',
    ],
    [
      '0xcA11bde05977b3631167028862bE2a173976CA11',
      '0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891',
    ],
    [
      '0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed',
      '0xbd8a7ea8cfca7b4e5f5041d7d4b17bc317c5ce42cfbc42066a00cf26b43eb53f',
    ],
    [
      '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
      '0xc93c806e738300b5357ecdc2e971d6438d34d8e4e17b99b758b1f9cac91c8e70',
    ],
    [
      '0x7fc98430eAEdbb6070B35B39D798725049088348',
      '0xae818091eaaf1b6175ee41472359a689f3823d0908a41e2e5c4ad508f2fc04a3',
    ],
    [
      '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
      '0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58',
    ],
  ])('of %s has the published hash', (address, hash) => {
    expect(codeHash(address)).toBe(hash)
  })

  it('of EntryPoint 0.8 is that of another chain with its chain id', () => {
    const hash = '0xa4b1c865a4a45b99ebaaf4bd06e0036ad489eb521786f59765e4e6a3c0524b03'
    expect(codeHash('0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108', 4663)).toBe(hash)
  })

  it("of Permit2 has the separators that Optimism's and Uniswap's tests expect", () => {
    const separator = (chainId: number) =>
      toHex(codeOn(chainId, at('0x000000000022D473030F116dDEE9F6B43aC78BA3')).subarray(6983, 7015))
    expect(separator(1)).toBe('0x866a5aba21966af95d6c7ab78eb2b2fc913915c28be3b9aa07cc04ff903e3f28')
    expect(separator(1234)).toBe('0x6cda538cafce36292a6ef27740629597f85f6716f5694d26d5c59fc1d07cfd95')
  })
})

describe('a chain with predeployed contracts', () => {
  it('has them at their addresses, and they work', async () => {
    const node = await createNode({ predeploy: PREDEPLOY_NAMES.filter((name) => !name.includes('-')) })
    const client = createPublicClient({ transport: custom(node) })
    for (const { address, nonce } of all) {
      expect((await client.getCode({ address }))?.length, address).toBeGreaterThan(100)
      expect(await client.getTransactionCount({ address })).toBe(Number(nonce))
    }
    const abi = parseAbi([
      'function DOMAIN_SEPARATOR() view returns (bytes32)',
      'function getDomainSeparatorV4() view returns (bytes32)',
      'function getChainId() view returns (uint256)',
      'function getBlockNumber() view returns (uint256)',
    ])
    const separatorOf = (address: Address, functionName: 'DOMAIN_SEPARATOR' | 'getDomainSeparatorV4') =>
      client.readContract({ address, abi, functionName })
    const domain = (name: string, verifyingContract: string, version?: string) =>
      TypedDataEncoder.hashDomain({
        name,
        chainId: 33,
        verifyingContract,
        ...(version !== undefined && { version }),
      })
    const [permit2, entryPoint] = [
      '0x000000000022D473030F116dDEE9F6B43aC78BA3',
      '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
    ] as const
    expect(await separatorOf(permit2, 'DOMAIN_SEPARATOR')).toBe(domain('Permit2', permit2))
    expect(await separatorOf(entryPoint, 'getDomainSeparatorV4')).toBe(domain('ERC4337', entryPoint, '1'))
    const multicall = '0xcA11bde05977b3631167028862bE2a173976CA11'
    const calls = [
      { address: multicall, abi, functionName: 'getChainId' },
      { address: multicall, abi, functionName: 'getBlockNumber' },
    ] as const
    expect(
      await client.multicall({ contracts: calls, multicallAddress: multicall, allowFailure: false }),
    ).toEqual([33n, 0n])
    await node.close()
  })

  it('creates contracts by the deployment proxy at the address of CREATE2', async () => {
    const node = await createNode({ predeploy: ['create2'] })
    const [from] = (await node.request({ method: 'eth_accounts' })) as string[]
    const [salt, bytecode] = [`0x${'1'.repeat(64)}`, '0x600160005360016000f3'] as const
    const to = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
    const data = `${salt}${bytecode.slice(2)}`
    await node.request({ method: 'eth_sendTransaction', params: [{ from, to, data, gas: '0x30d40' }] })
    const address = getContractAddress({ opcode: 'CREATE2', from: to, salt, bytecode })
    expect(await node.request({ method: 'eth_getCode', params: [address, 'latest'] })).toBe('0x01')
    await node.close()
  })

  it('is explained by the sources that its author published', async () => {
    const node = await createNode({ predeploy: ['createx'] })
    await node.addSources(gzippedFixture<object>('predeploys/createx-build-info.json.gz'))
    const address = PREDEPLOYS.createx[0]?.address
    // Partial at best: the code was compiled without metadata.
    const found = await node.request({ method: 'evm_sourcesAt', params: [address] })
    expect(found).toMatchObject({ name: 'CreateX', match: 'partial' })
    await node.close()
  })

  it('has RIF Relay as its own creation code leaves it, at the addresses of its guide', async () => {
    // `utils/deployment` of its repository: the arguments, and the order.
    const { output } = relayBuildInfo.parse(readPredeploySources('relay'))
    const [deploying, given] = await Promise.all([createNode(), createNode({ predeploy: ['relay'] })])
    const [from] = (await deploying.request({ method: 'eth_accounts' })) as [Address]
    const created: Address[] = []
    const deploy = async (name: string, types: string[] = [], values: unknown[] = []) => {
      const [compiled] = Object.values(output.contracts).flatMap((file) => file[name] ?? [])
      const args = encodeAbiParameters(
        types.map((type) => ({ type })),
        values,
      )
      const data = `0x${compiled?.evm.bytecode.object}${args.slice(2)}`
      const params = [{ from, data, gas: '0x5b8d80' }]
      const hash = await deploying.request({ method: 'eth_sendTransaction', params })
      const receipt = await deploying.request({ method: 'eth_getTransactionReceipt', params: [hash] })
      const { contractAddress } = receipt as { contractAddress: Address }
      created.push(contractAddress)
      return contractAddress
    }
    const penalizer = await deploy('Penalizer')
    const hub = ['address', 'uint256', 'uint256', 'uint256', 'uint256']
    await deploy('RelayHub', hub, [penalizer, 1n, 1n, 1n, 1n])
    const factory = await deploy('SmartWalletFactory', ['address'], [await deploy('SmartWallet')])
    await deploy('DeployVerifier', ['address'], [factory])
    await deploy('RelayVerifier', ['address'], [factory])
    // https://github.com/rsksmart/devportal-1.0, guides/rif-relay/rif-relay-sample-dapp-sdk.md
    expect(created.map((address) => getAddress(address))).toEqual([
      '0x77045E71a7A2c50903d88e564cD72fab11e82051',
      '0xDA7Ce79725418F4F6E13Bf5F520C89Cec5f6A974',
      '0x83C5541A6c8D2dBAD642f385d8d06Ca9B6C731ee',
      '0xE0825f57Dd05Ef62FF731c27222A86E104CC4Cad',
      '0x73ec81da0C72DD112e06c09A6ec03B5544d26F05',
      '0x03F23ae1917722d5A27a2Ea0Bcc98725a2a2a49a',
    ])
    await Promise.all([deploying, given].map((node) => node.request({ method: 'evm_mine' })))
    for (const address of created) {
      const left = await Promise.all([deploying, given].map((node) => accountOn(node, address)))
      expect(left[1], address).toEqual(left[0])
    }
    const counts = [deploying, given].map((node) =>
      node.request({ method: 'eth_getTransactionCount', params: [from, 'latest'] }),
    )
    expect(await Promise.all(counts)).toEqual(['0x6', '0x6'])
    const balance = await given.request({ method: 'eth_getBalance', params: [from, 'latest'] })
    expect(BigInt(balance as string)).toBeGreaterThan(10n ** 18n)
    await Promise.all([deploying.close(), given.close()])
  })

  it('knows the sources that the package of sources has', async () => {
    const node = await createNode({ predeploy: ['entrypoint', 'permit2', 'relay', 'multicall3'] })
    const found = new Map<string, unknown>()
    for (const { title, address } of all) {
      const sources = await node.request({ method: 'evm_sourcesAt', params: [address] })
      if ((sources as { name: unknown } | null)?.name != null) found.set(title, sources)
    }
    const match = (name: string, match: string) => expect.objectContaining({ name, match })
    expect(Object.fromEntries(found)).toEqual({
      ...Object.fromEntries(
        ['0.6.0', '0.7.0', '0.8.0'].flatMap((version) => [
          [`ERC-4337 EntryPoint ${version}`, match('EntryPoint', 'exact')],
          [`ERC-4337 SenderCreator ${version}`, match('SenderCreator', 'exact')],
        ]),
      ),
      Permit2: match('Permit2', 'partial'),
      ...Object.fromEntries(PREDEPLOYS.relay.map(({ title }) => [title, match(title, 'exact')])),
    })
    // Its stack names lines of the contract's sources.
    const data = encodeFunctionData({
      abi: parseAbi(['function withdrawTo(address payable to, uint256 amount)']),
      args: ['0x0000000000000000000000000000000000000001', 1n],
    })
    const call = { to: '0x0000000071727de22e5e9d8baf0edac6f37da032', data }
    const request = node.request({ method: 'eth_call', params: [call, 'latest'] })
    const stack = expect.stringMatching(/EntryPoint\.withdrawTo \(contracts\/core\/StakeManager\.sol:\d+/)
    await expect(request).rejects.toMatchObject({ stack })
    await node.close()
  })

  it('keeps what the upstream of a fork has of them', async () => {
    const upstream = await servedNode({ predeploy: ['createx'] })
    const [from] = await upstream.call('eth_accounts')
    const to = '0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed'
    const data = encodeFunctionData({
      abi: parseAbi(['function deployCreate(bytes initCode) payable returns (address)']),
      args: ['0x600160005360016000f3'],
    })
    await upstream.call('eth_sendTransaction', { from, to, data, gas: '0x30d40' })
    const node = await createNode({
      fork: upstream.url,
      forkCache: false,
      predeploy: ['createx', 'multicall3'],
    })
    // With the nonce of its deployment it would create a contract where there is one.
    const params = [to, 'latest']
    expect(await node.request({ method: 'eth_getTransactionCount', params })).toBe('0x2')
    const multicall = ['0xcA11bde05977b3631167028862bE2a173976CA11', 'latest']
    expect(await node.request({ method: 'eth_getCode', params: multicall })).not.toBe('0x')
    await node.close()
    await upstream.close()
  })

  it('begins as without them where none is named', () => {
    expect(predeployedAccounts([], 33).size).toBe(0)
  })
})

describe('the guide', () => {
  it('names address and licence of each contract', () => {
    const text = readFileSync(new URL('../../../docs/guides/predeploys.md', import.meta.url), 'utf8')
    const rows = [...text.matchAll(/^\| `([\w.-]+)` \| \[.*\]\((.*)\) \| `(.*)` \| (.*) \|$/gm)].map(
      ([, ...row]) => row,
    )
    const named = PREDEPLOY_NAMES.filter((name) => name !== 'entrypoint')
    const known = named.map((name) => {
      const { source, address, licence } = PREDEPLOYS[name][0] ?? {}
      return [name, source, address, licence]
    })
    expect(rows).toEqual(known)
  })
})
