/**
 * The simulation methods of Tenderly. Shapes come from its answers (fixtures/simulations), values from events and calls as
 * ethers encodes them, and from the same transactions when they are mined.
 */
import type { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { A, B } from '../../support/fake-chain.ts'
import { fixture } from '../../support/fixture.ts'
import { saying } from '../../support/refusals.ts'
import { account, type Contracts, deployContracts, shapeOf, tokenAbi, vaultAbi } from '../../support/steps.ts'

const [C1, C2] = [account('c1'), account('c2')]
const call = (abi: Interface, name: string, ...args: unknown[]) => abi.encodeFunctionData(name, args)
const NONE = `0x${'0'.repeat(40)}`
const TENDERLY = fixture<Record<'mint' | 'failure' | 'estimateGas', object>>('simulations/tenderly.json')

let node: Node
let contracts: Contracts
// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
const ask = (method: string, ...params: unknown[]): Promise<any> => node.request({ method, params })

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await ask('evm_mine', 2_000_000_000)
  contracts = await deployContracts(node)
  await ask('evm_setAbi', 'All', [...tokenAbi.format(), ...vaultAbi.format()])
})
afterAll(() => node.close())

const mint = () => ({
  from: A,
  to: contracts.token,
  data: call(tokenAbi, 'mint', B, 2n * 10n ** 18n),
  gasPrice: '0x3b9aca00',
})

describe('tenderly_simulateTransaction', () => {
  it('answers in the documented form, without what needs a service', async () => {
    const answer = await ask('tenderly_simulateTransaction', mint(), 'latest')
    const services = ['logo', 'dollarValue', 'balanceChanges']
    // The documented list begins with the contract, this one with the sender.
    const { stateChanges, ...rest } = answer
    const documented = TENDERLY.mint as { stateChanges: object[] }
    expect(shapeOf({ ...rest, stateChanges: [...stateChanges].reverse() })).toEqual(
      shapeOf(documented, services),
    )
    expect(shapeOf(stateChanges[0])).toEqual(shapeOf(documented.stateChanges[1]))
    expect(answer).toMatchObject({
      status: true,
      logs: [
        {
          name: 'Transfer',
          anonymous: false,
          inputs: [
            { value: NONE, name: 'from', indexed: true },
            { value: B },
            { value: '2000000000000000000', type: 'uint256', indexed: false },
          ],
        },
      ],
      trace: [
        {
          type: 'CALL',
          from: A,
          to: contracts.token,
          method: 'mint',
          decodedInput: [
            { value: B, type: 'address', name: 'to', indexed: false },
            { value: '2000000000000000000' },
          ],
          subtraces: 0,
          traceAddress: [],
        },
      ],
      assetChanges: [
        {
          assetInfo: {
            standard: 'ERC20',
            type: 'Fungible',
            contractAddress: contracts.token,
            symbol: 'TDM',
            name: 'Tandem Token',
            decimals: 18,
          },
          type: 'Mint',
          to: B,
          rawAmount: '0x1bc16d674ec80000',
          amount: '2',
        },
      ],
    })
  })

  it('does what the transaction does when it is mined', async () => {
    const redeemed = { from: A, to: contracts.safe, data: call(vaultAbi, 'redeem', B, 70) }
    const paid = { from: A, to: contracts.safe, value: '0x64' }
    const [own, used] = [{ gas: '0x7a120', gasPrice: '0x1' }, await ask('evm_snapshot')]
    const bundle = [paid, redeemed].map((one) => ({ ...one, ...own }))
    const answers = await ask('tenderly_simulateBundle', bundle, 'latest')
    const hashes: unknown[] = []
    for (const one of bundle) hashes.push(await ask('eth_sendTransaction', one))
    await ask('evm_mine')
    for (const [index, answer] of answers.entries()) {
      const receipt = await ask('eth_getTransactionReceipt', hashes[index])
      expect(answer).toMatchObject({ status: receipt.status === '0x1', logsBloom: receipt.logsBloom })
      expect(BigInt(answer.gasUsed)).toBe(BigInt(receipt.gasUsed))
    }
    for (const { address, storage = [], nonce } of answers[1].stateChanges) {
      if (nonce) expect(await ask('eth_getTransactionCount', address, 'latest')).toBe(nonce.newValue)
      for (const { slot, newValue } of storage) {
        expect(await ask('eth_getStorageAt', address, slot, 'latest')).toBe(newValue)
      }
    }
    await ask('evm_revert', used)
    expect(
      answers[1].assetChanges.map(
        ({ assetInfo, type, rawAmount, tokenId }: Record<string, Record<string, unknown>>) => [
          assetInfo?.standard,
          assetInfo?.type,
          type,
          rawAmount,
          tokenId,
        ],
      ),
    ).toEqual([
      ['NativeCurrency', 'Native', 'Transfer', '0x32', undefined],
      ['ERC721', 'NonFungible', 'Mint', '0x1', '0x46'],
      ['ERC1155', undefined, 'Mint', '0x5', '0x46'],
      ['ERC1155', undefined, 'Mint', '0x7', '0x47'],
    ])
  })

  it('answers the failure of a transaction, and refuses one that cannot run', async () => {
    const failing = { from: B, to: contracts.safe, data: call(vaultAbi, 'redeem', B, 1), gas: '0x0' }
    const answer = await ask('tenderly_simulateTransaction', failing)
    const { trace, ...documented } = TENDERLY.failure as { trace: object[] }
    expect(Object.keys(answer).filter((key) => key !== 'stateChanges')).toEqual(
      Object.keys({ ...documented, trace }),
    )
    expect(Object.keys(answer.trace[0])).toEqual(Object.keys(trace[0] as object))
    expect(answer).toMatchObject({
      status: false,
      logs: [],
      logsBloom: `0x${'0'.repeat(512)}`,
      trace: [{ error: 'execution reverted', method: 'redeem' }],
    })
    const poor = { from: C1, to: C2, value: '0x5' }
    const words = `insufficient funds for gas * price + value: address ${C1} have 0 want 5`
    await expect(ask('tenderly_simulateTransaction', poor)).rejects.toEqual(saying(`transaction: ${words}`))
    await expect(ask('tenderly_simulateBundle', [failing, poor])).rejects.toEqual(
      saying(`transactions[1]: ${words}`),
    )
    const rich = { [C1]: { balance: '0x5' } }
    expect(await ask('tenderly_simulateTransaction', poor, 'latest', rich)).toMatchObject({ status: true })
  })

  it('estimates gas as eth_estimateGas, and the gas that is used', async () => {
    const one = { from: A, to: contracts.token, data: call(tokenAbi, 'transfer', B, 1n) }
    const answer = await ask('tenderly_estimateGas', one)
    expect(shapeOf(answer)).toEqual(shapeOf(TENDERLY.estimateGas))
    expect(answer.gas).toBe(await ask('eth_estimateGas', one))
    const hash = await ask('eth_sendTransaction', { ...one, gas: answer.gas })
    await ask('evm_mine')
    const { gasUsed } = await ask('eth_getTransactionReceipt', hash)
    expect(BigInt(answer.gasUsed)).toBe(BigInt(gasUsed))
    const failing = { from: C1, to: contracts.token, data: call(tokenAbi, 'transfer', B, 1n) }
    await expect(ask('tenderly_estimateGas', failing)).rejects.toMatchObject({ code: -32015 })
  })
})

it.each([
  ['tenderly_simulateTransaction', [], 'method parameters invalid'],
  [
    'tenderly_simulateTransaction',
    [{ chainId: '0x1' }],
    "chainId does not match node's (have=1, want=33) (transaction.chainId)",
  ],
  [
    'tenderly_simulateBundle',
    [[{}, { chainId: '0x1' }]],
    "chainId does not match node's (have=1, want=33) (transactions[1].chainId)",
  ],
  [
    'tenderly_simulateTransaction',
    [{}, 'latest', { x: {} }],
    'Invalid stateOverrides key x: expected an address.',
  ],
  [
    'tenderly_simulateTransaction',
    [{}, 'latest', {}, { time: -1 }],
    'Invalid blockOverrides.time: expected a whole number from 0 to 8640000000000.',
  ],
  ['tenderly_simulateBundle', [[{}, null]], 'Invalid transactions[1]: expected an object.'],
  ['tenderly_estimateGas', [{ data: 'x' }], 'Invalid transaction.data: expected hex text.'],
])('%s refuses %j', async (method, params, message) => {
  await expect(ask(method, ...params)).rejects.toEqual(saying(message))
})
