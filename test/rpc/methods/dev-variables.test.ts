/** Variables by name: in state overrides, written to the chain, and read back; the oracle is the contract's own getters. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VariableValue } from '../../../src/abi/storage/value-type.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, serve } from '../../../src/index.ts'
import { A, B, KIND_CASES, LONG } from '../../support/kind-cases.ts'
import { type Deployed, deployKinds, solcArtifact } from '../../support/kinds.ts'
import { servedNode } from '../../support/served-node.ts'

const ARTIFACT = solcArtifact('Kinds')
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const BEACON_SLOT = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'
const at = (digits: string): Hex => `0x${digits.padStart(40, '0')}`
const word = (value: bigint | Hex): Hex => `0x${BigInt(value).toString(16).padStart(64, '0')}`

let kinds: Deployed
let snapshot: unknown
const ask = (method: string, ...params: unknown[]) => kinds.node.request({ method, params })
beforeAll(async () => {
  kinds = await deployKinds('Kinds')
  await ask('evm_setAbi', 'Kinds', ARTIFACT)
  snapshot = await ask('evm_snapshot')
})
beforeEach(() => ask('evm_revert', snapshot))
afterAll(() => kinds.close())

/** As JSON has it. */
function sent(value: VariableValue): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(sent)
  if (typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, sent(each)]))
}

const lower = (each: unknown) =>
  typeof each === 'string' && each.startsWith('0x') ? each.toLowerCase() : each

const cases = KIND_CASES.map(([path, value, answer, getter]) => {
  const [name, ...values] = getter ?? [path]
  return { path, value: sent(value), answer, name, values }
})

describe('variables in the state overrides of a call', () => {
  it.each(cases)('$path: the getter answers its value, also once it is written (case $#)', async (one) => {
    const { path, value, answer, name, values } = one
    const overridden = await kinds.answer({ variables: { [path]: value } }, name, values)
    expect(lower(overridden)).toEqual(lower(answer))
    expect(await ask('evm_setVariables', kinds.address, { [path]: value })).toBe(true)
    expect(await kinds.answer({}, name, values)).toEqual(overridden)
    // What is read can be written again.
    const read = (await ask('evm_getVariables', kinds.address, [path])) as Record<string, unknown>
    expect(await kinds.answer({ variables: read }, name, values)).toEqual(overridden)
  })

  it('follow `state` and `stateDiff`, and each other', async () => {
    const state = { [word(1n)]: word((1n << 256n) - 1n) }
    const variables = { salary: 5, 'point.x': 1, 'point.y': 2, point: { y: 3 } }
    expect(await kinds.answer({ state, variables }, 'point', [])).toEqual([1n, 3n, false])
    expect(await kinds.answer({ stateDiff: state, variables }, 'salary', [])).toBe(5n)
  })

  it('belong to the code that the same override gives', async () => {
    const override = { code: ARTIFACT.deployedBytecode, variables: { total: 6 } }
    expect(await kinds.answer(override, 'total', [], at('c0de'))).toBe(6n)
  })

  it.each([null, {}])('%j changes nothing', async (variables) => {
    expect(await kinds.answer({ variables }, 'total', [])).toBe(0n)
    const [balance] = [await ask('eth_getBalance', A, 'latest')]
    await ask('eth_call', { to: A }, 'latest', { [A]: { variables } })
    expect(await ask('eth_getBalance', A, 'latest')).toBe(balance)
  })

  it('serve in every method that takes state overrides', async () => {
    const [from] = (await ask('eth_accounts')) as [Hex]
    const [to, data] = [kinds.address, '0x2ddbd13a']
    const call = { from, to, data }
    const overrides = { [to]: { variables: { total: 7 } } }
    const output = word(7n)
    expect(await ask('trace_call', call, ['trace'], 'latest', overrides)).toMatchObject({ output })
    const options = { tracer: 'callTracer', stateOverrides: overrides }
    expect(await ask('debug_traceCall', call, 'latest', options)).toMatchObject({ output })
    const block = { stateOverrides: overrides, calls: [call] }
    expect(await ask('eth_simulateV1', { blockStateCalls: [block] }, 'latest')).toMatchObject([
      { calls: [{ returnData: output }] },
    ])
    const bundles = [{ transactions: [call] }]
    expect(await ask('eth_callMany', bundles, { blockNumber: 'latest' }, overrides)).toEqual([
      [{ value: output }],
    ])
    const hash = (await ask('eth_sendTransaction', call)) as Hex
    expect(await ask('debug_traceTransaction', hash, options)).toMatchObject({ output })
    expect(await ask('trace_replayTransaction', hash, ['trace'], overrides)).toMatchObject({ output })
  })
})

describe('behind a proxy', () => {
  const [proxy, beacon] = [at('9001'), at('bea')]
  const minimal = () => kinds.address.slice(2)
  /** Delegates to the address in the slot of ERC-1967. */
  const erc1967 = `0x365f5f375f5f365f7f${IMPLEMENTATION_SLOT.slice(2)}545af43d5f5f3e3d5ff3`
  /** Asks the beacon in the other slot, and delegates to its answer. */
  const byBeacon = `0x60205f5f5f7f${BEACON_SLOT.slice(2)}545afa50365f6020375f5f3660205f515af43d5f5f3e3d5ff3`

  it.each([
    ['ERC-1167', () => `0x363d3d373d3d3d363d73${minimal()}5af43d82803e903d91602b57fd5bf3`, undefined],
    ['EIP-7511', () => `0x365f5f375f5f365f73${minimal()}5af43d5f5f3e5f3d91602a57fd5bf3`, undefined],
    ['ERC-1967', () => erc1967, [IMPLEMENTATION_SLOT, () => kinds.address]],
    ['ERC-1967 with a beacon', () => byBeacon, [BEACON_SLOT, () => beacon]],
  ] as const)('of %s, the layout is that of the implementation', async (_, code, slot) => {
    // The beacon answers what its slot 1 has.
    await ask('hardhat_setCode', beacon, '0x6001545f5260205ff3')
    await ask('hardhat_setStorageAt', beacon, '0x1', word(kinds.address))
    await ask('hardhat_setCode', proxy, code())
    if (slot !== undefined) await ask('hardhat_setStorageAt', proxy, slot[0], word(slot[1]()))
    const variables = { title: 'proxied', [`balances[${A}]`]: '9' }
    expect(await kinds.answer({ variables }, 'title', [], proxy)).toBe('proxied')
    await ask('evm_setVariables', proxy, variables)
    expect(await kinds.answer({}, 'balances', [A], proxy)).toBe(9n)
    expect(await kinds.answer({}, 'balances', [A])).toBe(0n)
    expect(await ask('evm_getVariables', proxy, ['title'])).toEqual({ title: 'proxied' })
  })
})

describe('a refusal', () => {
  const path = () => `stateOverrides.${kinds.address}.variables`
  it.each<[unknown, string]>([
    [{ balnces: 1 }, '.balnces: no variable has this name; the nearest: balances'],
    [{ 'point.w': 1 }, '.point.w: no member of struct Kinds.Point has this name; the nearest: x, y'],
    [{ total: 'five' }, '.total: expected uint256: a number, or its text in decimal or hex'],
    [{ total: 1, list: [1, 'x'] }, '.list[1]: expected uint256: a number, or its text in decimal or hex'],
    [{ 'balances[alice]': 1 }, '.balances[alice]: expected address: 20 bytes in hex'],
    [{ balances: { bob: 1 } }, '.balances[bob]: expected address: 20 bytes in hex'],
    [JSON.parse('{"__proto__": 1}'), '.__proto__: no variable has this name'],
    [JSON.parse('{"point": {"__proto__": 1}}'), '.point.__proto__: struct Kinds.Point has x, y, shown'],
    [{ 'constructor[1]': 1 }, '.constructor: no variable has this name'],
    [{ 'list.length': '0x10000', list: [], 'rows.length': 1 }, ': the variables take more than 65536 slots'],
  ])('of %j names the variable', async (variables, message) => {
    await expect(kinds.answer({ variables }, 'total', [])).rejects.toMatchObject({
      code: -32602,
      message: path() + message,
    })
  })

  it.each<[unknown, string]>([
    [5, ': expected an object of values by variable.'],
    [[], ': expected an object of values by variable.'],
    [{ total: null }, '.total: expected a text, a number, a boolean, a list or an object.'],
    [{ total: 2 ** 53 }, '.total: expected a whole number up to 2^53 - 1, or a larger one as text.'],
    [{ point: { x: 0.5 } }, '.point[x]: expected a whole number up to 2^53 - 1, or a larger one as text.'],
  ])('of %j, which no variable can have, names the member', async (variables, message) => {
    await expect(kinds.answer({ variables }, 'total', [])).rejects.toMatchObject({
      code: -32602,
      message: `Invalid ${path()}${message}`,
    })
  })

  it('of too many values, or of too deep ones, names the bound', async () => {
    const many = (count: number) => ({ variables: { list: Array.from({ length: count }, () => 1) } })
    expect(await kinds.answer(many(8191), 'total', [])).toBe(0n)
    await expect(kinds.answer(many(8192), 'total', [])).rejects.toMatchObject({
      code: -32602,
      message: `Invalid ${path()}.list[8191]: expected at most 8192 values.`,
    })
    const two = { [kinds.address]: many(5000), [A]: many(5000) }
    await expect(ask('eth_call', { to: A }, 'latest', two)).rejects.toMatchObject({
      code: -32602,
      message: 'stateOverrides: the variables have more than 8192 values',
    })
    const deep = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`)
    await expect(kinds.answer({ variables: { list: deep } }, 'total', [])).rejects.toMatchObject({
      code: -32602,
      message: `Invalid ${path()}.list${'[0]'.repeat(32)}: expected values that are nested at most 32 deep.`,
    })
  })

  it('names the contract whose layout is not known', async () => {
    const [unknown, empty] = [at('4000'), at('e000')]
    await ask('hardhat_setCode', unknown, '0x5f5ff3')
    const variables = { total: 1 }
    const how = 'is not known; give its artifact with storageLayout by --abi or evm_setAbi'
    for (const [account, message] of [
      [unknown, `the storage layout of ${unknown} ${how}`],
      [empty, `there is no contract at ${empty}`],
    ] as const) {
      await expect(kinds.answer({ variables }, 'total', [], account)).rejects.toMatchObject({
        message: `stateOverrides.${account}.variables: ${message}`,
      })
      await expect(ask('evm_setVariables', account, variables)).rejects.toMatchObject({
        message: `variables: ${message}`,
      })
      await expect(ask('evm_getVariables', account)).rejects.toMatchObject({ message: `paths: ${message}` })
    }
    await ask(
      'hardhat_setCode',
      empty,
      `0x363d3d373d3d3d363d73${unknown.slice(2)}5af43d82803e903d91602b57fd5bf3`,
    )
    await expect(ask('evm_setVariables', empty, variables)).rejects.toMatchObject({
      code: -32602,
      message: `variables: the storage layout of ${unknown}, the implementation of the proxy ${empty}, ${how}`,
    })
  })

  it('leaves all variables as they are', async () => {
    await expect(ask('evm_setVariables', kinds.address, { total: 1, small: 256 })).rejects.toMatchObject({
      code: -32602,
      message: 'variables.small: 256 is out of the range of uint8',
    })
    expect(await kinds.answer({}, 'total', [])).toBe(0n)
  })
})

it('evm_getVariables answers all variables that have a value', async () => {
  await ask('evm_setVariables', kinds.address, {
    owner: B,
    debt: '-5',
    points: [{ x: 1, y: 2, shown: true }],
    names: ['a', ''],
    lines: { 7: { label: 'seven' } },
  })
  const all = (await ask('evm_getVariables', kinds.address)) as object
  expect(Object.keys(all)).not.toContain('balances')
  expect(all).toMatchObject({
    owner: B.toLowerCase(),
    debt: '-5',
    flag: false,
    points: [{ x: '1', y: '2', shown: true }],
    names: ['a', ''],
    line: { from: { x: '0', y: '0', shown: false }, label: '', weights: [] },
  })
  const paths = ['lines[7].label', 'points.length', 'points[0].y', `balances[${A}]`]
  expect(await ask('evm_getVariables', kinds.address, paths, 'latest')).toEqual({
    'lines[7].label': 'seven',
    'points.length': '1',
    'points[0].y': '2',
    [`balances[${A}]`]: '0',
  })
  await expect(ask('evm_getVariables', kinds.address, ['owner', 'balances'])).rejects.toMatchObject({
    code: -32602,
    message: 'paths.balances: a mapping has no value without a key',
  })
})

it('variables that are written are part of snapshots and blocks', async () => {
  const before = await ask('evm_snapshot')
  await ask('evm_setVariables', kinds.address, { total: 5 })
  await ask('evm_mine')
  expect(await ask('evm_getVariables', kinds.address, ['total'])).toEqual({ total: '5' })
  await ask('evm_revert', before)
  expect(await ask('evm_getVariables', kinds.address, ['total'])).toEqual({ total: '0' })
})

it('overrides by variable come over HTTP as they were sent, of an artifact that was registered for an address', async () => {
  const served = await servedNode()
  try {
    const here = at('4e7e')
    await served.call('evm_setAbi', here, { abi: [], storageLayout: ARTIFACT.storageLayout })
    const overrides = { [here]: { code: ARTIFACT.deployedBytecode, variables: { total: '0x2a' } } }
    expect(await served.call('eth_call', { to: here, data: '0x2ddbd13a' }, 'latest', overrides)).toBe(
      word(42n),
    )
  } finally {
    await served.close()
  }
})

it('on a fork, the words that stand there are fetched from the upstream', async () => {
  await ask('evm_setVariables', kinds.address, { title: LONG, small: 3, 'point.x': 4 })
  await ask('evm_mine')
  const server = await serve(kinds.node, { port: 0 })
  const fork = await createNode({ fork: [server.url], forkCache: false })
  const request = (method: string, ...params: unknown[]) => fork.request({ method, params })
  try {
    await request('evm_setAbi', 'Kinds', ARTIFACT)
    const [title, small] = ['0x4a79d50c', '0x6cf3c25e']
    const call = (data: string, variables: object) =>
      request('eth_call', { to: kinds.address, data }, 'latest', { [kinds.address]: { variables } })
    expect(BigInt((await call(small, { flag: true })) as Hex)).toBe(3n)
    expect(await request('evm_getVariables', kinds.address, ['title'])).toEqual({ title: LONG })
    await request('evm_setVariables', kinds.address, { 'point.y': 5, title: 'short' })
    expect(await request('evm_getVariables', kinds.address, ['point', 'title'])).toEqual({
      point: { x: '4', y: '5', shown: false },
      title: 'short',
    })
    expect(await call(title, {})).toMatch(/^0x0{62}20/)
  } finally {
    await fork.close()
    await server.close()
  }
})
