/** Changed variables by name: in differences of transactions and of snapshots. The oracle is what was sent and what getters answer. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { A, B, LONG } from '../../support/kind-cases.ts'
import { type Deployed, deployKinds, solcArtifact } from '../../support/kinds.ts'

let kinds: Deployed
let snapshot: unknown
const ask = (method: string, ...params: unknown[]) => kinds.node.request({ method, params })
beforeAll(async () => {
  kinds = await deployKinds('Kinds')
  await ask('evm_setAbi', 'Kinds', solcArtifact('Kinds'))
  snapshot = await ask('evm_snapshot')
})
beforeEach(() => ask('evm_revert', snapshot))
afterAll(() => kinds.close())

interface Accounts {
  readonly [address: string]: { readonly variables?: object; readonly storage?: object }
}

/** The difference that the last transaction made. */
async function difference(
  tracerConfig: object,
): Promise<{ readonly pre: Accounts; readonly post: Accounts }> {
  const { transactions } = (await ask('eth_getBlockByNumber', 'latest', false)) as {
    transactions: readonly Hex[]
  }
  const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true, ...tracerConfig } }
  return (await ask('debug_traceTransaction', transactions[0], options)) as never
}

const CHANGES: readonly (readonly [
  name: string,
  values: readonly unknown[],
  before: Record<string, unknown>,
  after: Record<string, unknown>,
])[] = [
  [
    'setBalance',
    [B, 5],
    { [`balances[${B.toLowerCase()}]`]: '0' },
    { [`balances[${B.toLowerCase()}]`]: '5' },
  ],
  ['setTitle', [LONG], { title: '' }, { title: LONG }],
  ['setBlob', ['0x010203'], { blob: '0x' }, { blob: '0x010203' }],
  [
    'setPoint',
    [[-5, 6, true]],
    { 'point.x': '0', 'point.y': '0', 'point.shown': false },
    { 'point.x': '-5', 'point.y': '6', 'point.shown': true },
  ],
  [
    'setList',
    [[7, 8]],
    { 'list.length': '0', 'list[0]': '0', 'list[1]': '0' },
    { 'list.length': '2', 'list[0]': '7', 'list[1]': '8' },
  ],
  ['setLabel', [12, 'a label'], { 'lines[12].label': '' }, { 'lines[12].label': 'a label' }],
]

describe('prestateTracer in diffMode with variables', () => {
  it.each(CHANGES)('names what %s(%j) changes', async (name, values, before, after) => {
    await kinds.send(name, ...values)
    const { pre, post } = await difference({ variables: true })
    expect(pre[kinds.address]?.variables).toEqual(before)
    expect(post[kinds.address]?.variables).toEqual(after)
    const geths = await difference({})
    const { variables: _, ...others } = post[kinds.address] ?? {}
    expect(geths.post[kinds.address]).toEqual(others)
    expect(JSON.stringify(geths)).not.toContain('variables')
  })

  it('names the changes of a proxy by its implementation, and of nothing that is unknown', async () => {
    const proxy: Hex = `0x${'9001'.padStart(40, '0')}`
    await ask(
      'hardhat_setCode',
      proxy,
      `0x363d3d373d3d3d363d73${kinds.address.slice(2)}5af43d82803e903d91602b57fd5bf3`,
    )
    const [sender] = (await ask('eth_accounts')) as [Hex]
    // setBalance(address,uint256)
    const data = `0xe30443bc${A.slice(2).padStart(64, '0')}${'3'.padStart(64, '0')}`
    await ask('eth_sendTransaction', { from: sender, to: proxy, data, gas: '0x30d40' })
    const { pre, post } = await difference({ variables: true })
    expect(post[proxy]?.variables).toEqual({ [`balances[${A}]`]: '3' })
    expect(pre[sender]?.variables).toBeUndefined()
  })
})

describe('evm_diff', () => {
  it.each(CHANGES)('names what %s(%j) changes', async (name, values, before, after) => {
    await kinds.send(name, ...values)
    const { accounts } = (await ask('evm_diff', snapshot)) as { accounts: Accounts }
    const expected = Object.keys(after).map((path) => [path, { from: before[path], to: after[path] }])
    expect(accounts[kinds.address]?.variables).toEqual(Object.fromEntries(expected))
  })

  it('names what is written without a transaction, as far as no key has to be guessed', async () => {
    await ask('evm_setVariables', kinds.address, { small: 4, [`balances[${A}]`]: 5 })
    const { accounts } = (await ask('evm_diff', snapshot)) as { accounts: Accounts }
    expect(accounts[kinds.address]?.variables).toEqual({ small: { from: '0', to: '4' } })
    expect(Object.keys(accounts[kinds.address]?.storage ?? {})).toHaveLength(2)
  })
})

describe('evm_simulate', () => {
  const [sender, data] = [
    A,
    (who: Hex, amount: string) => `0xe30443bc${who.slice(2).padStart(64, '0')}${amount.padStart(64, '0')}`,
  ]

  it('names the changed variables of each step', async () => {
    const to = kinds.address
    const steps = [
      { set: { [to]: { variables: { [`balances[${A}]`]: '7' } } } },
      { call: { from: sender, to, data: data(A, '8') } },
      { send: { from: sender, to, data: data(B, '9') } },
    ]
    const [, first, second] = (await ask('evm_simulate', { steps })) as {
      stateChanges: { address: Hex; variables?: object }[]
    }[]
    const named = (step: typeof first) =>
      step?.stateChanges
        .filter(({ variables }) => variables !== undefined)
        .map(({ address, variables }) => ({ address, variables }))
    expect(named(first)).toEqual([
      { address: to, variables: [{ path: `balances[${A}]`, from: '7', to: '8' }] },
    ])
    expect(named(second)).toEqual([
      { address: to, variables: [{ path: `balances[${B.toLowerCase()}]`, from: '0', to: '9' }] },
    ])
  })

  it('refuses a variable with the path of its step', async () => {
    const steps = [{ warp: { seconds: 1 } }, { set: { [kinds.address]: { variables: { small: 256 } } } }]
    await expect(ask('evm_simulate', { steps })).rejects.toMatchObject({
      code: -32602,
      message: `simulation.steps[1].set.${kinds.address}.variables.small: 256 is out of the range of uint8`,
    })
  })
})
