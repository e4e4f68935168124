/**
 * The simulation methods of Alchemy. Shapes come from the answers in its documents (fixtures/simulations), values from
 * events and calls as ethers encodes them.
 */
import type { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { A, B } from '../../support/fake-chain.ts'
import { fixture } from '../../support/fixture.ts'
import { saying } from '../../support/refusals.ts'
import {
  account,
  type Contracts,
  deedAbi,
  deployContracts,
  goodsAbi,
  shapeOf,
  tokenAbi,
  vaultAbi,
} from '../../support/steps.ts'

const [C1, C2] = [account('c1'), account('c2')]
const call = (abi: Interface, name: string, ...args: unknown[]) => abi.encodeFunctionData(name, args)
const NONE = `0x${'0'.repeat(40)}`
const ALCHEMY =
  fixture<Record<'assetChanges' | 'execution' | 'nestedExecution', unknown>>('simulations/alchemy.json')

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

describe('alchemy_simulateAssetChanges', () => {
  const changes = async (from: string, to: string, abi: Interface, name: string, ...args: unknown[]) =>
    (await ask('alchemy_simulateAssetChanges', { from, to, data: call(abi, name, ...args) })).changes

  it('answers in the documented form', async () => {
    const [native, token] = await ask('alchemy_simulateAssetChangesBundle', [
      { from: A, to: B, value: '0x14d1120d7b160000' },
      { from: A, to: contracts.token, data: call(tokenAbi, 'transfer', B, 25n * 10n ** 3n) },
    ])
    for (const documented of ALCHEMY.assetChanges as { changes: object[] }[]) {
      for (const change of documented.changes) {
        expect(Object.keys(native.changes[0])).toEqual(Object.keys(change))
      }
      expect(Object.keys(native)).toEqual(Object.keys(documented))
    }
    const [{ changes: [documentedNative, documentedToken] = [] } = {}] = ALCHEMY.assetChanges as {
      changes: object[]
    }[]
    expect(shapeOf(native.changes[0])).toEqual(shapeOf({ ...documentedNative, logo: null }))
    expect(shapeOf(token.changes[0])).toEqual(shapeOf({ ...documentedToken, logo: null }))
    expect(native.changes).toEqual([
      {
        assetType: 'NATIVE',
        changeType: 'TRANSFER',
        from: A,
        to: B,
        rawAmount: '1500000000000000000',
        contractAddress: null,
        tokenId: null,
        decimals: 18,
        symbol: 'COIN',
        name: 'Coin',
        logo: null,
        amount: '1.5',
      },
    ])
    expect(token.changes).toMatchObject([
      {
        assetType: 'ERC20',
        rawAmount: '25000',
        amount: '0.000000000000025',
        symbol: 'TDM',
        name: 'Tandem Token',
      },
    ])
  })

  it('shows approvals by their amount: none for any, 0 for one that is taken back', async () => {
    const { token, deed, goods } = contracts
    const shown = (list: Record<string, unknown>[]) =>
      list.map(({ assetType, changeType, rawAmount, amount, tokenId }) => [
        assetType,
        changeType,
        rawAmount,
        amount,
        tokenId,
      ])
    expect(shown(await changes(A, token, tokenAbi, 'approve', B, 10n ** 18n))).toEqual([
      ['ERC20', 'APPROVE', `1${'0'.repeat(18)}`, '1', null],
    ])
    expect(shown(await changes(A, token, tokenAbi, 'approve', B, 0))).toEqual([
      ['ERC20', 'APPROVE', '0', '0', null],
    ])
    expect(shown(await changes(A, deed, deedAbi, 'setApprovalForAll', B, true))).toEqual([
      ['ERC721', 'APPROVE', null, null, null],
    ])
    expect(shown(await changes(A, goods, goodsAbi, 'setApprovalForAll', B, false))).toEqual([
      ['ERC1155', 'APPROVE', '0', '0', null],
    ])
    expect(shown(await changes(A, goods, goodsAbi, 'mint', C1, [9], [4]))).toEqual([
      ['ERC1155', 'TRANSFER', '4', '4', '9'],
    ])
    const bundle = ['mint', 'approve', 'approve'].map((name, at) => ({
      from: A,
      to: deed,
      data: call(deedAbi, name, [A, B, NONE][at], 3),
    }))
    const answers = await ask('alchemy_simulateAssetChangesBundle', bundle)
    expect(answers.flatMap((one: { changes: Record<string, unknown>[] }) => shown(one.changes))).toEqual([
      ['ERC721', 'TRANSFER', '1', '1', '3'],
      ['ERC721', 'APPROVE', null, null, '3'],
      ['ERC721', 'APPROVE', '0', '0', '3'],
    ])
  })

  it('answers failures as errors', async () => {
    const [failed, poor] = await ask('alchemy_simulateAssetChangesBundle', [
      { from: B, to: contracts.safe, data: call(vaultAbi, 'failing', B, 1) },
      { from: C1, to: C2, value: '0x5' },
    ])
    expect(failed).toEqual({ changes: [], gasUsed: null, error: { message: 'execution reverted' } })
    expect(poor).toEqual({
      changes: [],
      gasUsed: null,
      error: { message: `insufficient funds for gas * price + value: address ${C1} have 0 want 5` },
    })
  })
})

describe('alchemy_simulateExecution', () => {
  it('answers in the documented forms, whatever the order of its parameters', async () => {
    const { decoded, ...nested } = await ask(
      'alchemy_simulateExecution',
      'NESTED',
      { from: A, to: B, value: '0x1' },
      'latest',
    )
    expect(decoded).toBeNull()
    expect(shapeOf(nested)).toEqual(shapeOf(ALCHEMY.nestedExecution))
    const one = { from: A, to: contracts.token, data: call(tokenAbi, 'transfer', B, 7n) }
    const flat = await ask('alchemy_simulateExecution', one)
    expect(shapeOf(flat)).toEqual(shapeOf({ ...(ALCHEMY.execution as object), error: null }))
    expect(await ask('alchemy_simulateExecution', 'FLAT', one, 'latest')).toEqual(flat)
    expect(await ask('alchemy_simulateExecution', one, 'latest', { format: 'FLAT' })).toEqual(flat)
    expect(await ask('alchemy_simulateExecutionBundle', [one])).toEqual([flat])
    const [documented] = (ALCHEMY.execution as { calls: { decoded: object }[] }).calls
    expect(Object.keys(flat.calls[0].decoded)).toEqual(Object.keys(documented?.decoded ?? {}))
    expect(flat.calls[0].decoded).toEqual({
      authority: 'ETHERSCAN',
      methodName: 'transfer',
      inputs: [
        { name: 'to', type: 'address', value: B },
        { name: 'value', type: 'uint256', value: '7' },
      ],
      outputs: [{ name: '', type: 'bool', value: 'true' }],
    })
    expect(flat.logs[0].decoded).toMatchObject({
      eventName: 'Transfer',
      inputs: [{ name: 'from', value: A, indexed: true }, {}, { value: '7', indexed: false }],
    })
  })

  it('lists inner calls, those that fail among them', async () => {
    const bundle = [
      { from: A, to: contracts.safe, value: '0x64' },
      { from: A, to: contracts.safe, data: call(vaultAbi, 'redeem', B, 80) },
    ]
    const [, flat] = await ask('alchemy_simulateExecutionBundle', bundle)
    const [, nested] = await ask('alchemy_simulateExecutionBundle', bundle, 'latest', { format: 'NESTED' })
    const list = (one: { calls?: never[] }): object[] => {
      const { calls = [], ...frame } = one
      return [frame, ...calls.flatMap(list)]
    }
    const withoutLogs = list(nested).map((one) => ({ ...one, logs: undefined }))
    expect(flat.calls.map((one: object) => ({ ...one, logs: undefined }))).toEqual(withoutLogs)
    const own = list(nested).flatMap((one) => ('logs' in one ? (one.logs as object[]) : []))
    expect(own).toEqual(flat.logs)
    expect(flat.calls.filter((one: { error?: string }) => one.error)).toMatchObject([
      {
        decoded: { methodName: 'failing', outputs: [] },
        error: 'execution reverted',
        revertReason: 'undone',
      },
    ])
  })

  it('answers why a transaction fails', async () => {
    const failing = { from: B, to: contracts.safe, data: call(vaultAbi, 'failing', B, 1) }
    const paid = { from: A, to: contracts.safe, value: '0x5' }
    const [, , flat] = await ask('alchemy_simulateExecutionBundle', [
      paid,
      { from: A, to: contracts.deed, data: call(deedAbi, 'mint', B, 1) },
      failing,
    ])
    expect(flat).toMatchObject({ logs: [], error: 'execution reverted: undone', revertReason: 'undone' })
  })
})

it.each([
  ['alchemy_simulateAssetChanges', [{ to: '0x1' }], 'Invalid transaction.to: expected an address.'],
  ['alchemy_simulateAssetChanges', ['FLAT'], 'Invalid transaction: expected an object.'],
  ['alchemy_simulateAssetChanges', [{}, '0xffffff'], 'Invalid block number 16777215'],
  ['alchemy_simulateAssetChangesBundle', [{}], 'Invalid transactions: expected an array.'],
  [
    'alchemy_simulateAssetChangesBundle',
    [Array(101).fill({})],
    'Invalid transactions: expected at most 100 items.',
  ],
  ['alchemy_simulateExecution', ['flat', {}], 'Invalid transaction: expected FLAT or NESTED.'],
  [
    'alchemy_simulateExecution',
    ['FLAT', 'latest'],
    'Invalid block: expected a transaction after the format.',
  ],
  ['alchemy_simulateExecution', [{}, {}], 'Invalid block: expected a block after the transaction.'],
  ['alchemy_simulateExecution', [{}, 'latest', 'latest'], 'Invalid options: expected an object.'],
  [
    'alchemy_simulateExecution',
    [{}, 'latest', { format: 'TREE' }],
    'Invalid options.format: expected FLAT or NESTED.',
  ],
  [
    'alchemy_simulateExecutionBundle',
    [[{ value: 'x' }]],
    'Invalid transactions[0].value: expected a number, in hex with 0x or in decimal digits.',
  ],
])('%s refuses %j', async (method, params, message) => {
  await expect(ask(method, ...params)).rejects.toEqual(saying(message))
})
