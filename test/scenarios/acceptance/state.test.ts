/** Acceptance checks of the chain's RPC by their numbers, over HTTP: state, calls and overrides. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { A, B, callsTo, INV, LOG2, LOOP, N, R0, RB, RET1, U32, word, Z32 } from './calls.ts'

let t: ServedNode
const { error, mined, transfer } = callsTo(() => t)

afterEach(() => t.close())

describe('an automining node', () => {
  beforeEach(async () => {
    t = await servedNode({ rpcTimeoutMs: 20_000 })
  })

  it('41–62: state', async () => {
    expect(await t.call('eth_getBalance', B, 'earliest')).toBe('0xc9f2c9cd04674edea40000000')
    expect(await t.call('eth_getBalance', B)).toBe(await t.call('eth_getBalance', B, 'latest'))
    expect(await t.call('eth_getBalance', B.slice(2).toUpperCase())).toBe('0xc9f2c9cd04674edea40000000')
    expect(await t.call('eth_getBalance', N, 'latest')).toBe('0x0')
    const invalid = async (method: string, params: unknown[], message: string, code = -32602) =>
      expect(await error(method, params), message).toEqual({ code, message })
    await invalid(
      'eth_getBalance',
      ['0x1234', 'latest'],
      'Invalid address: null, empty or invalid hex value.',
    )
    await invalid(
      'eth_getBalance',
      [`0xZZ${'0'.repeat(38)}`, 'latest'],
      'Invalid address format: invalid hex value.',
    )
    for (const tag of ['foo', 'LATEST', 'finalized']) {
      await invalid('eth_getBalance', [A, tag], `Invalid block identifier '${tag}'`)
    }
    await invalid('eth_getBalance', [A, '0xffffff'], 'Block 0xffffff not found', -32600)
    await invalid('eth_getBalance', [A, '5'], 'invalid blocknumber 5')
    const genesis = (await t.call('eth_getBlockByNumber', '0x0')).hash
    const balance = await t.call('eth_getBalance', A, '0x0')
    expect(await t.call('eth_getBalance', A, { blockNumber: '0x0' })).toBe(balance)
    expect(await t.call('eth_getBalance', A, { blockHash: genesis })).toBe(balance)
    expect(await t.call('eth_getBalance', A, { blockHash: genesis, requireCanonical: true })).toBe(balance)
    expect(await t.call('eth_getBalance', A, genesis)).toBe(balance)
    await invalid('eth_getBalance', [A, {}], 'Invalid block input')
    await invalid('eth_getBalance', [A, { blockHash: U32 }], `Block with hash ${U32} not found`, -32600)
    await invalid('eth_getBalance', [A, { blockHash: '0x00' }], 'Invalid block hash: incorrect length.')
    await invalid(
      'eth_getBalance',
      [A, { blockHash: genesis, requireCanonical: 'yes' }],
      'Invalid input: requireCanonical must be a String "true" or "false"',
    )
    expect(await t.call('eth_getTransactionCount', A)).toBe('0x0')
    await transfer()
    expect(await t.call('eth_getTransactionCount', A)).toBe('0x1')
    expect(await t.call('eth_getTransactionCount', A, 'latest')).toBe('0x1')
    expect(await t.call('eth_getCode', N, 'latest')).toBe('0x')
    expect(await t.call('eth_getCode', N, '0xffffff')).toBeNull()
    expect(await t.call('eth_getStorageAt', N, '0x0', 'latest')).toBe(Z32)
    await invalid(
      'eth_getStorageAt',
      [N, 'abc g', 'latest'],
      'Invalid param abc g: value must be a valid hex or string number.',
    )
    expect(await t.call('eth_getStorageAt', N, '0', 'latest')).toBe(Z32)
  })

  it('63–93: calls, estimates, overrides', async () => {
    await t.call('evm_mine')
    const call = (...params: unknown[]) => t.call('eth_call', ...params)
    expect(await call({ to: N }, 'latest')).toBe('0x')
    expect(await call({ data: RET1 }, 'latest')).toBe(word(1))
    expect(await call({ input: RET1 }, 'latest')).toBe(word(1))
    expect(await call({ input: RET1, data: INV }, 'latest')).toBe(word(1))
    const prefix = 'VM Exception while processing transaction:'
    expect(await error('eth_call', [{ data: R0 }, 'latest'])).toEqual({
      code: -32015,
      message: `${prefix} transaction reverted`,
      data: '0x',
    })
    const boom = await error('eth_call', [{ data: RB }, 'latest'])
    expect(boom).toMatchObject({ code: -32015, message: `${prefix} revert boom` })
    expect(boom.data).toMatch(/^0x08c379a0.{192}$/)
    expect(await call({ data: INV }, 'latest')).toBe('0x')
    expect(await call({ data: LOOP }, 'latest')).toBe('0x')
    expect(await call({ from: N, to: B, value: '0xde0b6b3a7640000' }, 'latest')).toBe('0x')
    expect(await call({ to: N, type: '0x2', maxFeePerGas: '0x1', foo: 1 }, 'latest')).toBe('0x')
    expect((await error('eth_call', [{ to: '' }, 'latest'])).message).toBe(
      'Invalid address: null, empty or invalid hex value.',
    )
    expect((await error('eth_call', [{ data: '0xzz' }, 'latest'])).message).toBe(
      'Invalid data format: invalid hex value.',
    )
    expect(await call({ to: N, gas: 21000 }, 'latest')).toBe('0x')
    expect(await error('eth_call', [{ to: N }, '0xffffff'])).toEqual({
      code: -32602,
      message: 'Invalid block number 16777215',
    })
    expect(await call({ to: N }, '0')).toBe('0x')
    expect(await call({ data: '0x4360005260206000f3' }, '0x0')).toBe(word(0))
    expect(await call({ data: '0x4360005260206000f3' }, 'latest')).toBe(word(1))
    expect(await call({ to: N }, 'pending')).toBe('0x')
    expect(await t.call('eth_estimateGas', { from: A, to: B, value: '0x1' })).toBe('0x5208')
    expect(await t.call('eth_estimateGas', { from: A, to: B }, 'latest')).toBe('0x5208')
    expect(await t.call('eth_estimateGas', { from: A, to: B }, null)).toBe('0x5208')
    expect(await error('eth_estimateGas', [{ data: RB }])).toMatchObject({
      code: -32015,
      message: `${prefix} revert boom`,
      data: boom.data,
    })
    expect((await error('eth_estimateGas', [{ data: LOOP }])).code).toBe(-32015)
    expect(await error('eth_estimateGas', [{ from: N, to: B, value: '0x1' }])).toMatchObject({
      code: -32000,
      message: 'insufficient funds for transfer',
    })
    expect((await error('eth_estimateGas', [{ to: B }, 'safe'])).message).toBe(
      "Unsupported block specifier 'safe'. Can only be either 'earliest', 'latest', 'pending' or a specific block number (either hex - prepending '0x' or decimal).",
    )
    const gas = await t.call('eth_estimateGas', { from: A, data: LOG2 })
    expect((await mined({ from: A, data: LOG2, gas })).receipt.status).toBe('0x1')

    expect(await call({ to: N }, 'latest', { [N]: { code: RET1 } })).toBe(word(1))
    expect(await call({ to: N }, 'latest', { [N]: { code: '0x4760005260206000f3', balance: '0x2a' } })).toBe(
      word(42),
    )
    for (const kind of ['stateDiff', 'state']) {
      const override = { [N]: { code: '0x60005460005260206000f3', [kind]: { '0x0': '0x7' } } }
      expect(await call({ to: N }, 'latest', override)).toBe(word(7))
    }
    const both = { [N]: { state: { '0x0': '0x1' }, stateDiff: { '0x0': '0x1' } } }
    expect((await error('eth_call', [{ to: N }, 'latest', both])).code).toBe(-32602)
    const precompile = { '0x0000000000000000000000000000000000000001': { code: '0x00' } }
    expect(await error('eth_call', [{ to: N }, 'latest', precompile])).toEqual({
      code: -32602,
      message: 'Precompiled contracts can not be overridden',
    })
    const moved = await error('eth_call', [{ to: N }, 'latest', { [N]: { movePrecompileToAddress: A } }])
    expect(moved).toMatchObject({
      code: -32602,
      message: `stateOverrides.${N}.movePrecompileToAddress: ${N} is not a precompiled contract`,
    })
    expect(await t.call('eth_getCode', N, 'latest')).toBe('0x')
  })
})
