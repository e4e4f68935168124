/** Assets that simulated steps move. Expected values: events as ethers decodes them, and balances. */
import { encodeBytes32String, type Interface } from 'ethers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { A, B } from '../../support/fake-chain.ts'
import {
  type Asset,
  account,
  type Contracts,
  decodedAssets,
  deedAbi,
  deployContracts,
  goodsAbi,
  quantity,
  type Step,
  tokenAbi,
  vaultAbi,
} from '../../support/steps.ts'

const [C1, C2, C3] = [account('c1'), account('c2'), account('c3')]
const call = (abi: Interface, name: string, ...args: unknown[]) => abi.encodeFunctionData(name, args)

let node: Node
let contracts: Contracts
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>
const simulate = (steps: readonly object[], more: object = {}) =>
  ask<Step[]>('evm_simulate', { steps, ...more })

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await ask('evm_mine', 2_000_000_000)
  contracts = await deployContracts(node)
})
afterAll(() => node.close())

const NONE = `0x${'0'.repeat(40)}`
async function stepOf(step: object, more: object = {}): Promise<Step> {
  return (await simulate([step], more))[0] as Step
}

describe('the asset changes of evm_simulate', () => {
  it('lists transfers of the coin and of tokens in order, without those of calls that failed', async () => {
    const [, step] = await simulate(
      [
        { call: { from: C1, to: contracts.safe, value: '0x64' } },
        { call: { from: C1, to: contracts.safe, data: call(vaultAbi, 'redeem', C2, 40) } },
      ],
      { stateOverrides: { [C1]: { balance: '0x64' } } },
    )
    const named = (asset: Asset) =>
      asset.token === contracts.deed ? { ...asset, name: 'Tandem Deed', symbol: 'DEED' } : asset
    expect(step?.assetChanges).toEqual([
      { type: 'native', change: 'transfer', from: contracts.safe, to: C2, amount: '0x32' },
      ...decodedAssets(step?.logs ?? []).map(named),
    ])
    expect(
      step?.assetChanges.map(({ type, from, to, amount, tokenId }) => [type, from, to, amount, tokenId]),
    ).toEqual([
      ['native', contracts.safe, C2, '0x32', undefined],
      ['erc721', NONE, C2, undefined, '0x28'],
      ['erc1155', NONE, C2, '0x5', '0x28'],
      ['erc1155', NONE, C2, '0x7', '0x29'],
    ])
    expect(JSON.stringify(step?.trace)).toContain('undone')
  })

  it.each([
    ['a transfer', () => contracts.token, tokenAbi, 'transfer', [B, 3n]],
    ['an approval', () => contracts.token, tokenAbi, 'approve', [B, 2n ** 256n - 1n]],
    ['a mint', () => contracts.token, tokenAbi, 'mint', [B, 9n]],
    ['a mint of a deed', () => contracts.deed, deedAbi, 'mint', [B, 2n ** 255n]],
    ['an approval of all deeds', () => contracts.deed, deedAbi, 'setApprovalForAll', [B, true]],
    ['an approval of all goods', () => contracts.goods, goodsAbi, 'setApprovalForAll', [B, false]],
    ['a mint of goods', () => contracts.goods, goodsAbi, 'mint', [C1, [1n], [2n]]],
  ] as const)('%s is what ethers decodes from its event', async (_, to, abi, name, args) => {
    const step = await stepOf({ send: { from: A, to: to(), data: call(abi, name, ...args) } })
    const [asset] = step.assetChanges
    expect(step.logs).toHaveLength(1)
    const { type, change, from, to: receiver, token: of, amount, tokenId } = asset as Asset
    const known = { change, from, to: receiver, token: of, amount, tokenId }
    const [expected] = decodedAssets(step.logs)
    expect(known).toEqual({ amount: undefined, tokenId: undefined, ...expected, type: undefined })
    expect(type).toBe(abi === tokenAbi ? 'erc20' : abi === deedAbi ? 'erc721' : 'erc1155')
    expect(asset).toMatchObject(
      abi === tokenAbi
        ? { name: 'Tandem Token', symbol: 'TDM', decimals: 18 }
        : abi === deedAbi
          ? { symbol: 'DEED' }
          : {},
    )
    expect(step.assetChanges).toHaveLength(1)
  })

  it('gives approval, transfer and burn of a deed', async () => {
    const steps = await simulate([
      { call: { from: B, to: contracts.deed, data: call(deedAbi, 'mint', B, 1n) } },
      { call: { from: B, to: contracts.deed, data: call(deedAbi, 'approve', A, 1n) } },
      { call: { from: A, to: contracts.deed, data: call(deedAbi, 'transferFrom', B, C1, 1n) } },
      { call: { from: A, to: contracts.deed, data: call(deedAbi, 'burn', 1n) } },
    ])
    expect(
      steps.map(({ assetChanges }) => assetChanges.map((one) => [one.change, one.from, one.to, one.tokenId])),
    ).toEqual([
      [['transfer', NONE, B, '0x1']],
      [['approve', B, A, '0x1']],
      [['transfer', B, C1, '0x1']],
      [['transfer', C1, NONE, '0x1']],
    ])
  })

  it.each([
    ['bytes32', `7f${encodeBytes32String('MKR').slice(2)}60005260206000f3`, { name: 'MKR', symbol: 'MKR' }],
    ['an endless loop', '5b607356', {}],
  ])('asks a token that answers with %s', async (_, answer, facts) => {
    const pushes = tokenAbi
      .encodeEventLog('Transfer', [A, B, 1n])
      .topics.map((topic) => `7f${topic.slice(2)}`)
      .reverse()
    // Emits the event, and answers to call data.
    const emit = `6001600052${pushes.join('')}60206000a300`
    expect((4 + emit.length / 2).toString(16)).toBe('72')
    const step = await stepOf(
      { call: { from: A, to: C1 } },
      { stateOverrides: { [C1]: { code: `0x36607257${emit}5b${answer}` } } },
    )
    expect(step.assetChanges).toEqual([
      { type: 'erc20', change: 'transfer', from: A, to: B, amount: '0x1', token: C1, ...facts },
    ])
  })

  it('moves as much of the coin as balances change, whoever sends it where', async () => {
    const accounts = [C1, C2, C3, contracts.safe]
    const send = fc.record({
      from: fc.constantFrom(C1, C2, C3),
      to: fc.constantFrom(...accounts),
      value: fc.bigInt(0n, 400n).map(quantity),
    })
    const redeem = fc.record({
      from: fc.constantFrom(C1, C2, C3),
      to: fc.constant(contracts.safe),
      data: fc
        .tuple(fc.constantFrom(C1, C2, C3), fc.integer({ min: 1000, max: 1003 }))
        .map((args) => call(vaultAbi, 'redeem', ...args)),
    })
    const isFunded = { [C1]: { balance: '0xffff' }, [C2]: { balance: '0xffff' }, [C3]: { balance: '0xffff' } }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(send, redeem), { maxLength: 8 }), async (calls) => {
        const steps = await simulate(
          calls.map((one) => ({ call: one })),
          { stateOverrides: isFunded },
        )
        for (const { assetChanges, stateChanges } of steps) {
          const moved = new Map<string, bigint>()
          const add = (address: string, value: bigint) =>
            moved.set(address, (moved.get(address) ?? 0n) + value)
          for (const { type, from, to, amount = '0x0' } of assetChanges) {
            if (type !== 'native') continue
            add(from, -BigInt(amount))
            add(to, BigInt(amount))
          }
          for (const { address, balance } of stateChanges) {
            if (balance) add(address, BigInt(balance.from) - BigInt(balance.to))
          }
          expect([...moved].filter(([, sum]) => sum !== 0n)).toEqual([])
        }
      }),
      { numRuns: 40 },
    )
  })
})
