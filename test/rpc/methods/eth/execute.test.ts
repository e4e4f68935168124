/** Calls and estimates at the edge (acceptance checks 63 to 93). */
import { describe, expect, it } from 'vitest'
import { fromHex } from '../../../../src/encoding/hex.ts'
import { NodeError } from '../../../../src/errors.ts'
import { type Entitlement, openSession } from '../../../../src/rpc/session.ts'
import { A, B, block0, CONTRACT, N, UNKNOWN } from '../../../support/fake-chain.ts'
import { failingCalls, fakeEngine } from '../../../support/fake-engine.ts'
import { ask, dispatcherOf, OPTIONS } from '../../../support/rpc.ts'

async function asked(method: string, params: unknown[]) {
  const { engine, calls } = fakeEngine()
  const outcome = await ask(dispatcherOf(engine), method, params)
  // The time that is left comes last; it is another thing each time.
  const given = calls[0]?.args
  const { timeoutMs: timeLeft, ...overrides } = (given?.at(-1) ?? {}) as { readonly timeoutMs?: number }
  return { outcome, args: given?.slice(0, -1), timeLeft, overrides }
}
const refusal = (code: number, message: string) => ({ error: { code, message } })

it.each(['eth_call', 'eth_estimateGas'])('%s may run until its caller’s deadline', async (method) => {
  const before = Date.now()
  const { timeLeft } = await asked(method, [{ to: N }])
  expect(timeLeft).toBeLessThanOrEqual(OPTIONS.rpcTimeoutMs)
  expect(timeLeft).toBeGreaterThanOrEqual(Math.max(1, OPTIONS.rpcTimeoutMs - (Date.now() - before)))
})

describe('the call object', () => {
  it('is converted to domain values for the engine', async () => {
    const given = { from: A, to: B, gas: '0x5208', gasPrice: '7', value: 9, data: '0x01' }
    const { args } = await asked('eth_call', [given, 'latest'])
    const expected = { from: A, to: B, gas: 21_000n, gasPrice: 7n, value: 9n, data: Uint8Array.of(1) }
    expect(args).toEqual([expected, { tag: 'latest' }])
  })

  it('prefers input over data and gas over gasLimit, and treats null as absent', async () => {
    const given = { to: null, data: '0x01', input: '0x02', gasLimit: '0x1', gas: '0x2', value: null }
    expect((await asked('eth_call', [given, 'latest'])).args?.[0]).toEqual({
      data: Uint8Array.of(2),
      gas: 2n,
    })
    expect((await asked('eth_call', [{ gasLimit: '0x1' }, 'latest'])).args?.[0]).toEqual({ gas: 1n })
  })

  it('ignores unknown members', async () => {
    const { outcome } = await asked('eth_call', [
      { to: N, type: '0x2', maxFeePerGas: '0x1', foo: 1 },
      'latest',
    ])
    expect(outcome).toEqual({ result: '0x' })
  })

  it.each<[unknown, string]>([
    [{ to: '' }, 'Invalid address: null, empty or invalid hex value.'],
    [{ data: '0xzz' }, 'Invalid data format: invalid hex value.'],
    [{ value: 'x' }, 'Invalid param x: value must be a valid hex or string number.'],
    [{ gas: [] }, 'Invalid transaction.gas: expected a hex or decimal number.'],
    [null, 'Invalid transaction: expected an object.'],
    [[], 'Invalid transaction: expected an object.'],
    ['0x', 'Invalid transaction: expected an object.'],
  ])('%j is refused', async (given, message) => {
    expect((await asked('eth_call', [given, 'latest'])).outcome).toEqual(refusal(-32602, message))
  })
})

describe('eth_call', () => {
  it('runs at the head by default, or at the given block', async () => {
    const reference = async (...block: unknown[]) =>
      (await asked('eth_call', [{ to: N }, ...block])).args?.[1]
    expect(await reference()).toEqual({ tag: 'latest' })
    expect(await reference('pending')).toEqual({ tag: 'pending' })
    expect(await reference('0')).toEqual({ number: 0 })
    expect(await reference({ blockNumber: '0x1' })).toEqual({ number: 1 })
    expect(await reference({ blockHash: block0.hash })).toEqual({
      hash: block0.hash,
      requireCanonical: false,
    })
  })

  it.each<[unknown, number, string]>([
    ['0xffffff', -32602, 'Invalid block number 16777215'],
    [{ blockHash: UNKNOWN }, -32600, `Block with hash ${UNKNOWN} not found`],
    [
      UNKNOWN,
      -32602,
      'Invalid block: expected a block number, tag or object; name a hash as {"blockHash": …}.',
    ],
  ])('refuses the block %j', async (block, code, message) => {
    expect((await asked('eth_call', [{ to: N }, block])).outcome).toEqual(refusal(code, message))
  })

  it('passes overrides on', async () => {
    const sent = { [N]: { code: '0x60' } }
    const stateOverrides = new Map([[N, { code: fromHex('0x60') }]])
    expect((await asked('eth_call', [{ to: N }, 'latest', sent])).overrides).toEqual({ stateOverrides })
    const both = await asked('eth_call', [{ to: N }, 'latest', sent, { number: '0x5', time: 7 }])
    expect(both.overrides).toEqual({ stateOverrides, blockOverrides: { number: 5, timestamp: 7 } })
    const empty = await asked('eth_call', [{ to: N }, 'latest', {}, { number: '0x5' }])
    expect(empty.overrides).toEqual({ blockOverrides: { number: 5 } })
  })

  it('refuses null for overrides, which Hardhat and Anvil take for none', async () => {
    const params = [{ to: N }, 'latest', null, { number: '0x5' }]
    expect((await asked('eth_call', params)).outcome).toEqual(
      refusal(-32602, 'Invalid stateOverrides: expected an object.'),
    )
    for (const dialect of ['hardhat', 'anvil'] as const) {
      const lenient = dispatcherOf(fakeEngine().engine, { dialect })
      expect(await ask(lenient, 'eth_call', params)).toEqual({ result: '0x' })
    }
  })

  it('refuses overrides when they are switched off, but not an empty set', async () => {
    const closed = dispatcherOf(fakeEngine().engine, { stateOverride: false })
    const override = { [N]: { code: '0x60' } }
    expect(await ask(closed, 'eth_call', [{ to: N }, '0xffffff', override])).toEqual(
      refusal(-32602, 'State override is not allowed'),
    )
    expect(await ask(closed, 'eth_call', [{ to: N }, 'latest', {}])).toEqual({ result: '0x' })
  })

  it('refuses overrides to a caller who is not entitled to them', async () => {
    const { engine } = fakeEngine()
    const plain = { ...openSession('plain'), entitlements: new Set<Entitlement>() }
    const override = { [N]: { code: '0x60' } }
    expect(await ask(dispatcherOf(engine), 'eth_call', [{ to: N }, 'latest', override], plain)).toEqual(
      refusal(-32602, 'State override is not allowed'),
    )
    expect(await ask(dispatcherOf(engine), 'eth_call', [{ to: N }, 'latest', {}], plain)).toEqual({
      result: '0x',
    })
  })

  it('returns the payload of a revert', async () => {
    const words = 'VM Exception while processing transaction: transaction reverted'
    const engine = failingCalls(new NodeError('reverted', words, '0x'))
    const error = { code: -32015, message: words, data: '0x' }
    expect(await ask(dispatcherOf(engine), 'eth_call', [{ to: N }, 'latest'])).toEqual({ error })
    expect(await ask(dispatcherOf(engine), 'eth_estimateGas', [{ to: N }])).toEqual({ error })
  })
})

describe('eth_estimateGas', () => {
  it.each([[[]], [['latest']], [[null]]])('treats %j as the head', async (block) => {
    const { outcome, args } = await asked('eth_estimateGas', [{ from: A, to: B, value: '0x1' }, ...block])
    expect(outcome).toEqual({ result: '0x5208' })
    expect(args).toEqual([{ from: A, to: B, value: 1n }, { tag: 'latest' }, 'cost'])
  })

  it('refuses foreign tags, missing blocks and a fifth parameter', async () => {
    const outcome = async (...rest: unknown[]) =>
      (await asked('eth_estimateGas', [{ to: B }, ...rest])).outcome
    expect((await outcome('safe')).error?.message).toBe(
      "Unsupported block specifier 'safe'. Can only be either 'earliest', 'latest', 'pending' or a specific block number (either hex - prepending '0x' or decimal).",
    )
    expect(await outcome('0xffffff')).toEqual(refusal(-32602, 'Invalid block number 16777215'))
    expect(await outcome('latest', {}, {}, {})).toEqual(refusal(-32602, 'method parameters invalid'))
  })

  it('refuses when the sender cannot pay', async () => {
    const engine = failingCalls(new NodeError('insufficient-funds', 'insufficient funds for transfer'))
    expect(await ask(dispatcherOf(engine), 'eth_estimateGas', [{ from: N, to: B, value: '0x1' }])).toEqual(
      refusal(-32000, 'insufficient funds for transfer'),
    )
  })
})

describe('eth_createAccessList', () => {
  it('lists slots as 32 bytes, and deducts refunds of at most half of the gas', async () => {
    const { outcome, args } = await asked('eth_createAccessList', [{ from: A, to: B }])
    expect(args).toEqual([{ from: A, to: B }, { tag: 'latest' }])
    const storageKeys = [`0x${'1'.padStart(64, '0')}`]
    expect(outcome).toEqual({
      result: { accessList: [{ address: CONTRACT, storageKeys }], gasUsed: '0x61a8' },
    })
  })

  it('refuses a block that does not exist', async () => {
    const { outcome } = await asked('eth_createAccessList', [{ to: B }, '0xff'])
    expect(outcome).toEqual(refusal(-32602, 'Invalid block number 255'))
  })
})
