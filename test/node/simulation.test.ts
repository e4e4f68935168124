/** `node.simulate`: the results of `evm_simulate` with the values of the language. */
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import type { Hex, NodeError, SimulatedMessage, SimulatedPlace, SimulateStep } from '../../src/index.ts'
import { createNode, type Node, serve } from '../../src/index.ts'
import { artifact } from '../support/contracts.ts'
import { A, B } from '../support/fake-chain.ts'
import { type Deployed, deployKinds, solcArtifact } from '../support/kinds.ts'
import { account, type Contracts, deployContracts, tokenAbi, vaultAbi } from '../support/steps.ts'

const C = account('c1')
const token = artifact('Token')
const data = (abi: Interface, name: string, ...args: unknown[]) => abi.encodeFunctionData(name, args) as Hex

let node: Node
let contracts: Contracts
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  contracts = await deployContracts(node)
  await ask('evm_setAbi', contracts.token, { ...token, contractName: 'Token' })
})
afterAll(() => node.close())

/** Quantities as JSON-RPC has them. */
const wire = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `0x${each.toString(16)}` : each)))

describe('node.simulate', () => {
  it('answers as evm_simulate, in big integers', async () => {
    const steps = [
      { set: { [C]: { balance: 100n, nonce: 3 } } },
      { send: { from: C, to: contracts.safe, value: 60n, gas: 500_000 } },
      { send: { from: A, to: contracts.token, data: data(tokenAbi, 'transfer', C, 5n) } },
      { warp: { blocks: 2, seconds: 90 } },
      { call: { from: C, to: contracts.safe, data: data(vaultAbi, 'redeem', C, 7) } },
      { send: { from: C, to: A, nonce: 99 } },
    ] satisfies SimulateStep[]
    const [set, paid, moved, warp, failed, refused] = await node.simulate(steps)
    const expected = await ask<Record<string, unknown>[]>('evm_simulate', {
      steps: steps.map((step) =>
        'set' in step ? { set: { [C]: { balance: '0x64', nonce: '0x3' } } } : wire(step),
      ),
    })
    const executed = [paid, moved, failed, refused] as SimulatedMessage[]
    expect([set, warp]).toEqual([
      { kind: 'set', block: { number: 2, timestamp: expect.any(Number) } },
      { kind: 'warp', block: { number: 4, timestamp: expect.any(Number) } },
    ])
    const same = ({ succeeded, error, returnData, gasUsed, assetChanges }: SimulatedMessage) =>
      wire({ status: succeeded ? '0x1' : '0x0', error, returnData, gasUsed, assetChanges })
    const rows = [1, 2, 4, 5].map((at) => expected[at] as Record<string, unknown>)
    expect(executed.map(same)).toEqual(
      rows.map(({ status, error, returnData, gasUsed, assetChanges }) =>
        wire({ status, error, returnData, gasUsed, assetChanges }),
      ),
    )
    expect(
      executed.map(({ stateChanges }) =>
        wire(stateChanges.map(({ address, balance, nonce }) => ({ address, balance, nonce }))),
      ),
    ).toEqual(
      rows.map(({ stateChanges }) =>
        wire((stateChanges as { address: Hex }[]).map((each) => ({ ...each, storage: undefined }))),
      ),
    )
    expect((moved as SimulatedMessage).logs).toMatchObject([
      {
        address: contracts.token,
        event: {
          name: 'Transfer',
          arguments: [
            { name: 'from', value: expect.stringMatching(new RegExp(A, 'i')) },
            { name: 'to', value: expect.stringMatching(new RegExp(C, 'i')) },
            { name: 'value', value: 5n },
          ],
        },
      },
    ])
    expect(executed.map(({ trace }) => trace?.kind)).toEqual(['call', 'call', 'call', undefined])
  })

  it('types each result by its step', async () => {
    const [sent, set] = await node.simulate([{ send: { from: A, to: B } }, { set: { [C]: { balance: 1n } } }])
    expectTypeOf(sent).toEqualTypeOf<SimulatedMessage>()
    expectTypeOf(set).toEqualTypeOf<SimulatedPlace>()
    expect([sent.kind, set.kind]).toEqual(['send', 'set'])
  })

  it('counts the fee of a send, and none of a call', async () => {
    const message = { from: A, to: B, gasPrice: 7n }
    const [sent, called] = await node.simulate([{ send: message }, { call: message }])
    expect([sent.fee, called.fee]).toEqual([7n * 21_000n, 0n])
  })

  it('runs on any block, at a place within it, with overrides, and writes nothing', async () => {
    const hashes = [
      await ask<Hex>('eth_sendTransaction', { from: A, to: C, value: '0x5', gas: '0x5208' }),
      await ask<Hex>('eth_sendTransaction', { from: A, to: C, value: '0x6', gas: '0x5208' }),
    ]
    await ask('evm_mine')
    const mined = await ask<{ blockHash: Hex; stateRoot: Hex }>('eth_getTransactionReceipt', hashes[1])
    const number = Number(await ask('eth_blockNumber'))
    // Returns its own balance.
    const code = '0x4760005260206000f3'
    const balanceAt = async (options: Parameters<Node['simulate']>[1]) => {
      const [, called] = await node.simulate([{ set: { [C]: { code } } }, { call: { to: C } }], options)
      return BigInt(called.returnData)
    }
    const before = await ask('eth_getBlockByNumber', 'latest', false)
    expect(await balanceAt({ block: number - 1 })).toBe(0n)
    expect(await balanceAt({ block: BigInt(number), transactionIndex: 1 })).toBe(5n)
    expect(await balanceAt({ block: { blockHash: mined.blockHash } })).toBe(11n)
    expect(await balanceAt({ stateOverrides: { [C]: { balance: 77 } } })).toBe(77n)
    const [called] = await node.simulate([{ call: { to: C } }], {
      stateOverrides: { [C]: { code: new Uint8Array([0x43, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3]) } },
      blockOverrides: { number: 1000n },
    })
    expect([BigInt(called.returnData), called.block.number]).toEqual([1000n, 1000])
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toEqual(before)
    expect(await ask('eth_getCode', C, 'latest')).toBe('0x')
  })

  it('names the variables that changed', async () => {
    const kinds: Deployed = await deployKinds('Kinds')
    const { node: own, address } = kinds
    await own.request({ method: 'evm_setAbi', params: ['Kinds', solcArtifact('Kinds')] })
    const abi = new Interface(solcArtifact('Kinds').abi.filter(({ name }) => name !== 'callback'))
    const [, sent] = await own.simulate([
      { set: { [address]: { variables: { title: 'old', list: [1n] } } } },
      { send: { from: A, to: address, data: data(abi, 'setTitle', 'new') } },
    ])
    expect(sent.error).toBeUndefined()
    expect(sent.stateChanges.find((change) => change.address === address)?.variables).toEqual([
      { path: 'title', from: 'old', to: 'new' },
    ])
    await kinds.close()
  })

  it.each<[string, unknown, unknown]>([
    [`simulation.steps[0].set.${C}.balance`, [{ set: { [C]: { balance: -1n } } }], {}],
    ['simulation.steps[0].call.from', [{ call: { from: 'nobody' } }], {}],
    ['simulation.steps[0].warp', [{ warp: {} }], {}],
    ['simulation.steps[0]', [{}], {}],
    ['simulation.steps[0]', [null], {}],
    ['simulation.steps[0]', [{ call: null }], {}],
    ['simulation.steps', 'nothing', {}],
    ['Invalid block number 99', [], { block: 99n }],
    [`simulation.stateOverrides.${C}.code`, [], { stateOverrides: { [C]: { code: 'zz' } } }],
    ['simulation.blockOverrides.number', [], { blockOverrides: { number: 'x' } }],
    ['simulation.transactionIndex', [], { transactionIndex: 9 }],
  ])('refuses %s', async (name, steps, options) => {
    const refusal = await node.simulate(steps as SimulateStep[], options as object).then(
      () => undefined,
      (error: NodeError) => error,
    )
    expect(refusal).toMatchObject({ name: 'NodeError', kind: 'invalid-params' })
    expect(refusal?.message).toContain(name)
  })

  it('fetches what is missing on a fork', async () => {
    const server = await serve(node, { port: 0 })
    const fork = await createNode({ fork: [server.url] })
    const send = { from: A, to: contracts.token, data: data(tokenAbi, 'transfer', C, 5n), gas: 100_000 }
    const [here] = await node.simulate([{ send }])
    const [there] = await fork.simulate([{ send }])
    expect(there.error).toBeUndefined()
    expect(there.stateChanges).toEqual(here.stateChanges)
    await fork.close()
    await server.close()
  })
})
