/** State and block overrides in every method that runs a message, against words that follow from the code, and against Anvil. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { type Anvil, startAnvil } from '../../support/anvil-frames.ts'
import { A } from '../../support/fake-chain.ts'
import { fixture } from '../../support/fixture.ts'
import {
  CALLED,
  OVERRIDE_CASES,
  type OverrideCase,
  REFUSED_OVERRIDES,
  returning,
  word,
} from '../../support/override-cases.ts'
import { ANVIL, describeWith } from '../../support/tools.ts'

const RECORDED = fixture<{ outputs: Record<string, string>; refusals: Record<string, string> }>(
  'overrides/anvil.json',
)
const OTHER = '0x00000000000000000000000000000000000dead2'

let node: Node
/** Of the preset anvil. */
let own: Node
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await ask('evm_mine', 2_000_000_000)
  own = await createNode({ preset: 'anvil' })
})
afterAll(async () => {
  await node.close()
  await own.close()
})

/** A method that gives the output of a message, and the path of its overrides. */
interface Runner {
  readonly method: string
  readonly state: string
  readonly block: string
  params(call: object, stateOverrides: unknown, blockOverrides: unknown): readonly unknown[]
  output(answer: never): string
}

const RUNNERS: readonly Runner[] = [
  {
    method: 'eth_call',
    state: 'stateOverrides',
    block: 'blockOverrides',
    params: (call, state, block) => [call, 'latest', state, block],
    output: (answer) => answer,
  },
  {
    method: 'debug_traceCall',
    state: 'options.stateOverrides',
    block: 'options.blockOverrides',
    params: (call, state, block) => [
      call,
      'latest',
      { tracer: 'callTracer', stateOverrides: state, blockOverrides: block },
    ],
    output: ({ output = '0x' }: { output?: string }) => output,
  },
  {
    method: 'trace_call',
    state: 'stateOverrides',
    block: 'blockOverrides',
    params: (call, state, block) => [call, ['trace'], 'latest', state, block],
    output: ({ output }: { output: string }) => output,
  },
  {
    method: 'trace_callMany',
    state: 'stateOverrides',
    block: 'blockOverrides',
    params: (call, state, block) => [[[call, []]], 'latest', state, block],
    output: ([one]: [{ output: string }]) => one.output,
  },
  {
    method: 'eth_callMany',
    state: 'stateOverrides',
    block: 'bundles[0].blockOverride',
    params: (call, state, block) => [[{ transactions: [call], blockOverride: block }], {}, state],
    output: ([[one]]: [[{ value: string }]]) => one.value,
  },
  {
    method: 'eth_simulateV1',
    state: 'payload.blockStateCalls[0].stateOverrides',
    block: 'payload.blockStateCalls[0].blockOverrides',
    params: (call, state, block) => [
      { blockStateCalls: [{ calls: [call], stateOverrides: state, blockOverrides: block }] },
    ],
    output: (blocks: { calls: { returnData: string }[] }[]) => blocks.at(-1)?.calls[0]?.returnData ?? '',
  },
]
/** The two that give no output take the parameters of eth_call. */
const ALL = [
  ...RUNNERS,
  ...['eth_estimateGas', 'eth_createAccessList'].map((method) => ({ ...(RUNNERS[0] as Runner), method })),
]

/** eth_simulateV1 counts heights and times on from its base, which the words of these do not suit. */
const isAfterBase = ({ name }: OverrideCase) =>
  !['time', 'timestamp', 'several fields', 'the hash of a block that is out of reach'].includes(name)

describe.each(RUNNERS)('$method', ({ method, params, output }) => {
  const cases = OVERRIDE_CASES.filter((one) => method !== 'eth_simulateV1' || isAfterBase(one))
  it.each(cases)(
    'answers with $name',
    async ({ call, stateOverrides, blockOverrides = {}, output: wanted }) => {
      const request = { to: CALLED, gas: '0x30d40', ...call }
      const answer = await ask(method, ...params(request, stateOverrides, blockOverrides))
      expect(output(answer as never)).toBe(wanted)
    },
  )
})

describe.each(ALL)('$method refuses', ({ method, params, state, block }) => {
  const call = { to: CALLED }
  const refused = (stateOverrides: unknown, blockOverrides: unknown, message: unknown) =>
    expect(ask(method, ...params(call, stateOverrides, blockOverrides))).rejects.toMatchObject({
      code: -32602,
      message,
    })

  it.each(REFUSED_OVERRIDES)('$name', async ({ stateOverrides, blockOverrides = {} }) => {
    await refused(stateOverrides, blockOverrides, expect.any(String))
  })

  it('with the path of the member', async () => {
    const path = (member: string) => `${state}.${CALLED}.${member}`
    const number = 'expected a hex number with 0x, within range.'
    const hex32 = 'expected at most 32 bytes in hex.'
    await refused({ [CALLED]: { balance: '42' } }, {}, `Invalid ${path('balance')}: ${number}`)
    await refused({ [CALLED]: { nonce: '0x8000000000000000' } }, {}, `Invalid ${path('nonce')}: ${number}`)
    await refused({ [CALLED]: { code: 7 } }, {}, `Invalid ${path('code')}: expected hex text.`)
    await refused(
      { [CALLED]: { state: { '0x0': word(1), '0x1': '0xzz' } } },
      {},
      `Invalid ${path('state.0x1')}: ${hex32}`,
    )
    await refused(
      { [CALLED]: { stateDiff: { '0xzz': '0x1' } } },
      {},
      `Invalid ${path('stateDiff slot 0xzz')}: ${hex32}`,
    )
    await refused(
      { [CALLED]: { movePrecompileToAddress: 5 } },
      {},
      `Invalid ${path('movePrecompileToAddress')}: expected an address.`,
    )
    await refused(
      { [CALLED]: { state: {}, stateDiff: {} } },
      {},
      `${path('state')} and ${path('stateDiff')} cannot be set at the same time`,
    )
    const owner = method === 'eth_simulateV1' ? state : 'stateOverrides'
    const none = `${owner}.${CALLED}.movePrecompileToAddress: ${CALLED} is not a precompiled contract`
    await refused({ [CALLED]: { movePrecompileToAddress: OTHER } }, {}, none)
    await refused(
      {},
      { number: -1 },
      `Invalid ${block}.number: expected a whole number from 0 to 9007199254740991.`,
    )
    await refused(
      {},
      { baseFee: 'zz' },
      `Invalid ${block}.baseFee: expected a number, in hex with 0x or in decimal digits.`,
    )
    await refused({}, { blockHash: { 2: 5 } }, `Invalid ${block}.blockHash.2: expected 32 bytes in hex.`)
    await refused({}, { withdrawals: [] }, `${block}.withdrawals is not supported`)
  })

  it('what the reference node refuses, with its messages', async () => {
    // It follows geth (test/rpc/methods/eth/simulate.test.ts).
    if (method === 'eth_simulateV1') return
    const sha = '0x0000000000000000000000000000000000000002'
    await refused({ [sha]: { balance: '0x1' } }, {}, 'Precompiled contracts can not be overridden')
    await refused(
      { [sha]: { movePrecompileToAddress: OTHER }, [OTHER]: { nonce: '0x1' } },
      {},
      'Precompiled contracts can not be moved to an overridden address',
    )
  })

  it('state overrides when they are closed, but not block overrides', async () => {
    const closed = await createNode({ stateOverride: false })
    const asked = (stateOverrides: object) =>
      closed.request({ method, params: params(call, stateOverrides, { gasLimit: '0x1000000' }) })
    await expect(asked({ [CALLED]: { balance: '0x1' } })).rejects.toMatchObject({
      code: -32602,
      message: 'State override is not allowed',
    })
    await expect(asked({})).resolves.toBeDefined()
    await closed.close()
  })
})

describe('an override without changes', () => {
  it.each([{}, { stateDiff: {} }, { balance: null }])('makes no account: %j', async (override) => {
    const overrides = { [CALLED]: override }
    const { stateDiff } = await ask<{ stateDiff: Record<string, { balance: unknown }> }>(
      'trace_call',
      { from: A, to: CALLED, value: '0x1' },
      ['stateDiff'],
      'latest',
      overrides,
    )
    // The value makes it.
    expect(stateDiff[CALLED]?.balance).toEqual({ '+': '0x1' })
  })
})

describe('gas with overrides', () => {
  const gas = (call: object, state: unknown, block?: unknown) =>
    ask('eth_estimateGas', call, 'latest', state, ...(block === undefined ? [] : [block]))

  it('is that of the overriding code', async () => {
    // 21,000 for the transaction, 3 for each push, 20,000 for the slot.
    const stateOverrides = { [CALLED]: { code: '0x602a600055' } }
    expect(await gas({ from: A, to: CALLED }, stateOverrides)).toBe(`0x${(41_006).toString(16)}`)
    expect(await gas({ from: A, to: CALLED }, null)).toBe('0x5208')
  })

  it('is refused or estimated depending on the overriding balance', async () => {
    const call = { from: CALLED, to: A, value: '0x5' }
    await expect(gas(call, {})).rejects.toMatchObject({ code: -32000 })
    await expect(gas(call, { [CALLED]: { balance: '0x4' } })).rejects.toMatchObject({ code: -32000 })
    expect(await gas(call, { [CALLED]: { balance: '0x5' } })).toBe('0x5208')
    await expect(
      gas({ from: A, to: CALLED, value: '0x5' }, { [A]: { balance: '0x4' } }),
    ).rejects.toMatchObject({
      code: -32000,
    })
  })

  it('depends on the block overrides', async () => {
    // Reverts unless NUMBER is 100.
    const stateOverrides = { [CALLED]: { code: '0x60644314600a575f5ffd5b00' } }
    await expect(gas({ to: CALLED }, stateOverrides)).rejects.toMatchObject({ code: -32015 })
    expect(await gas({ to: CALLED }, stateOverrides, { number: '0x64' })).toMatch(/^0x52/)
  })

  it('comes with exactly the slots that the code accesses', async () => {
    const stateOverrides = {
      [CALLED]: { code: '0x60015450', stateDiff: { '0x7': '0x1' } },
      [OTHER]: { balance: '0x1' },
    }
    expect(await ask('eth_createAccessList', { to: CALLED }, 'latest', stateOverrides)).toMatchObject({
      accessList: [{ address: CALLED, storageKeys: [word(1)] }],
    })
  })

  it('does not list a precompiled contract at its new address', async () => {
    const identity = '0x0000000000000000000000000000000000000004'
    // CALL to the other account with nothing.
    const code = `0x5f5f5f5f5f73${OTHER.slice(2)}5af1`
    const of = (stateOverrides: object) =>
      ask('eth_createAccessList', { to: CALLED }, 'latest', { [CALLED]: { code }, ...stateOverrides })
    expect(await of({})).toMatchObject({ accessList: [{ address: OTHER }] })
    expect(await of({ [identity]: { movePrecompileToAddress: OTHER } })).toMatchObject({ accessList: [] })
  })
})

describe('in the presets', () => {
  it.each([
    ['anvil', `State override error: state and state_diff can't be used together for account ${CALLED}`],
    [
      'hardhat',
      "The properties 'state' and 'stateDiff' cannot be used simultaneously when configuring the state override set passed to the eth_call method.",
    ],
  ] as const)('%s, state and stateDiff are refused with its message', async (preset, message) => {
    const tool = await createNode({ preset })
    const params = [{ to: CALLED }, 'latest', { [CALLED]: { state: {}, stateDiff: {} } }]
    await expect(tool.request({ method: 'eth_call', params })).rejects.toMatchObject({
      code: -32602,
      message,
    })
    await tool.close()
  })

  it.each(['anvil', 'hardhat'] as const)(
    '%s, the account of a precompiled contract may be overridden',
    async (preset) => {
      const tool = await createNode({ preset })
      const identity = '0x0000000000000000000000000000000000000004'
      const answer = (override: object) =>
        tool.request({
          method: 'eth_call',
          params: [{ to: identity, data: '0x1234' }, 'latest', { [identity]: override }],
        })
      expect(await answer({ balance: '0x1' })).toBe('0x1234')
      expect(await answer({ code: returning('602a') })).toBe(word(42))
      await tool.close()
    },
  )
})

const paramsOf = ({ call, stateOverrides, blockOverrides = {} }: OverrideCase) => [
  { to: CALLED, ...call },
  'latest',
  stateOverrides,
  blockOverrides,
]
const ours = (params: readonly unknown[]) => own.request({ method: 'eth_call', params })

describe('answers equal to those of Anvil', () => {
  it.each(OVERRIDE_CASES)('$name', async (one) => {
    const theirs = RECORDED.outputs[one.name]
    const answer = await ours(paramsOf(one))
    if (one.otherInAnvil === undefined) expect(answer).toBe(theirs)
    else expect(answer).not.toBe(theirs)
  })

  it.each(REFUSED_OVERRIDES)('refuses $name', async ({ name, stateOverrides, blockOverrides = {} }) => {
    expect(RECORDED.refusals[name]).toBeDefined()
    await expect(ours([{ to: CALLED }, 'latest', stateOverrides, blockOverrides])).rejects.toMatchObject({
      code: -32602,
    })
  })
})

describeWith(ANVIL, 'answers equal to those of a running Anvil', () => {
  let anvil: Anvil
  beforeAll(async () => {
    anvil = await startAnvil(ANVIL.path)
  }, 60_000)
  afterAll(() => anvil.close())

  it.each(OVERRIDE_CASES)('$name', async (one) => {
    const theirs = await anvil.call('eth_call', paramsOf(one))
    expect(theirs).toBe(RECORDED.outputs[one.name])
    if (one.otherInAnvil === undefined) expect(await ours(paramsOf(one))).toBe(theirs)
  })

  it('estimates and traces', async () => {
    const stateOverrides = { [CALLED]: { code: '0x60644314600a575f5ffd5b00' } }
    const estimate = [{ to: CALLED }, 'latest', stateOverrides, { number: '0x64' }]
    expect(Number(await anvil.call('eth_estimateGas', estimate))).toBeGreaterThan(21_000)
    expect(Number(await own.request({ method: 'eth_estimateGas', params: estimate }))).toBeGreaterThan(21_000)
    const trace = [
      { to: CALLED },
      'latest',
      {
        tracer: 'callTracer',
        stateOverrides: { [CALLED]: { code: returning('43') } },
        blockOverrides: { number: '0x64' },
      },
    ]
    const output = { output: word(100) }
    expect(await anvil.call('debug_traceCall', trace)).toMatchObject(output)
    expect(await own.request({ method: 'debug_traceCall', params: trace })).toMatchObject(output)
  })
})
