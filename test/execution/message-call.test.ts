import { describe, expect, it } from 'vitest'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { messageCall } from '../../src/execution/message-call.ts'
import type { AccountOverride, CallRequest, StateOverrides } from '../../src/execution/request.ts'
import { assemble, deployer } from '../support/assembler.ts'
import {
  CONTRACT,
  ENVIRONMENT,
  type Given,
  NOBODY,
  OTHER,
  RETURN_TOP,
  SENDER,
  vms,
  world,
} from '../support/execution.ts'

const CAP = 10_000_000n

async function call(request: CallRequest, given: Record<Hex, Given> = {}, overrides?: StateOverrides) {
  return messageCall({
    request,
    state: world(given),
    env: ENVIRONMENT,
    vm: vms.own,
    gasCap: CAP,
    ...(overrides && { overrides }),
  })
}

/** What a contract answers. */
async function answer(code: string, request: CallRequest = {}): Promise<bigint> {
  const { failure, output } = await call(
    { to: CONTRACT, ...request },
    { [CONTRACT]: { code: `${code} ${RETURN_TOP}` } },
  )
  expect(failure).toBeUndefined()
  return BigInt(toHex(output))
}

describe('what code sees of a call', () => {
  it('the defaults: the zero sender, no value, no price', async () => {
    expect(await answer('CALLER')).toBe(0n)
    expect(await answer('ORIGIN')).toBe(0n)
    expect(await answer('CALLVALUE')).toBe(0n)
    expect(await answer('GASPRICE')).toBe(0n)
  })

  it('the values of the request', async () => {
    expect(await answer('CALLER', { from: SENDER })).toBe(BigInt(SENDER))
    expect(await answer('CALLVALUE', { from: SENDER, value: 5n })).toBe(5n)
    expect(await answer('GASPRICE', { gasPrice: 9n })).toBe(9n)
    expect(await answer('0 CALLDATALOAD', { data: fromHex(`0x${'07'.repeat(32)}`) })).toBe(
      BigInt(`0x${'07'.repeat(32)}`),
    )
  })

  it('gas within the cap, the intrinsic gas taken off', async () => {
    expect(await answer('GAS')).toBe(CAP - 21_000n - 2n)
    expect(await answer('GAS', { gas: 10n ** 14n })).toBe(CAP - 21_000n - 2n)
    expect(await answer('GAS', { gas: 50_000n })).toBe(29_000n - 2n)
  })
})

describe('the outcome of a call', () => {
  it('is empty where there is no code', async () => {
    expect(await call({ to: OTHER })).toMatchObject({ output: new Uint8Array(0), gasUsed: 21_000n })
  })

  it('does not check the balance', async () => {
    expect((await call({ from: NOBODY, to: OTHER, value: 10n ** 18n })).failure).toBeUndefined()
    const code = `0 0 0 0 1 ${OTHER} 0 CALL ${RETURN_TOP}`
    const inner = await call({ to: CONTRACT }, { [CONTRACT]: { code } })
    expect(BigInt(toHex(inner.output))).toBe(0n)
  })

  it('of a creation is what the init code returns', async () => {
    const runtime = assemble('CALLER SELFDESTRUCT')
    const { output } = await call({ data: deployer(runtime) })
    expect(output).toEqual(runtime)
    expect((await call({ to: null, from: SENDER, data: deployer(runtime) })).output).toEqual(runtime)
  })

  it('names reverts and failures', async () => {
    const reverted = await call({ to: CONTRACT }, { [CONTRACT]: { code: '7 0 MSTORE 32 0 REVERT' } })
    expect(reverted.failure).toMatchObject({ kind: 'reverted', reason: 'transaction reverted' })
    expect(BigInt(toHex(reverted.output))).toBe(7n)
    const failed = await call({ to: CONTRACT }, { [CONTRACT]: { code: '99 JUMP' } })
    expect(failed.failure).toMatchObject({ kind: 'failed', reason: 'invalid jump' })
    expect(failed.output).toHaveLength(0)
  })

  it('with less gas than the intrinsic gas is out of gas', async () => {
    expect((await call({ to: OTHER, gas: 20_999n })).failure).toMatchObject({ reason: 'out of gas' })
  })

  it('leaves the state as it was', async () => {
    const state = world({ [CONTRACT]: { code: '1 0 SSTORE' } })
    const request = { from: SENDER, to: CONTRACT, value: 5n }
    const before = state.changes()
    await messageCall({ request, state, env: ENVIRONMENT, vm: vms.own, gasCap: CAP })
    expect(state.changes()).toEqual(before)
  })
})

describe('overrides', () => {
  const storage = { 1: 11n, 2: 22n }
  const reader = `1 SLOAD 1000 MUL 2 SLOAD ADD ${RETURN_TOP}`
  const given = { [CONTRACT]: { code: reader, storage, balance: 1n, nonce: 1n } }

  async function overridden(override: AccountOverride, code = reader) {
    const overrides = new Map([[CONTRACT, override]])
    const { output, failure } = await call(
      { to: CONTRACT },
      { [CONTRACT]: { ...given[CONTRACT], code } },
      overrides,
    )
    expect(failure).toBeUndefined()
    return BigInt(toHex(output))
  }

  it('replace balance, nonce and code', async () => {
    expect(await overridden({ balance: 5n }, `SELFBALANCE ${RETURN_TOP}`)).toBe(5n)
    expect(await overridden({ code: assemble(`77 ${RETURN_TOP}`) })).toBe(77n)
    const create = `0 0 0 CREATE ${RETURN_TOP}`
    expect(await overridden({ nonce: 9n }, create)).not.toBe(await overridden({ nonce: 8n }, create))
  })

  it('replace all storage, or some slots', async () => {
    expect(await overridden({ stateDiff: new Map([[2n, 5n]]) })).toBe(11_005n)
    expect(await overridden({ state: new Map([[2n, 5n]]) })).toBe(5n)
    expect(await overridden({ state: new Map() })).toBe(0n)
  })

  it('create a missing account', async () => {
    const overrides = new Map([[NOBODY, { code: assemble(reader), state: new Map([[1n, 3n]]) }]])
    const { output } = await call({ to: NOBODY }, {}, overrides)
    expect(BigInt(toHex(output))).toBe(3000n)
  })

  it('are refused for precompiled contracts, and for state beside stateDiff', async () => {
    const native: StateOverrides = new Map([['0x0000000000000000000000000000000001000006', { balance: 1n }]])
    await expect(call({ to: CONTRACT }, given, native)).rejects.toMatchObject({
      kind: 'invalid-params',
      message: 'Precompiled contracts can not be overridden',
    })
    const both: StateOverrides = new Map([[CONTRACT, { state: new Map(), stateDiff: new Map() }]])
    await expect(call({ to: CONTRACT }, given, both)).rejects.toMatchObject({
      kind: 'invalid-params',
      message: expect.stringContaining('stateDiff'),
    })
  })
})
