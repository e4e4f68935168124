import { describe, expect, it } from 'vitest'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { messageCall } from '../../src/execution/message-call.ts'
import { overridden } from '../../src/execution/overrides.ts'
import type {
  AccountOverride,
  BlockOverrideValues,
  CallRequest,
  StateOverrides,
} from '../../src/execution/request.ts'
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
const WORD_7: Hex = `0x${'7'.repeat(64)}`
const BRIDGE: Hex = '0x0000000000000000000000000000000001000006'

async function call(
  request: CallRequest,
  given: Record<Hex, Given> = {},
  stateOverrides?: StateOverrides,
  blockOverrides?: BlockOverrideValues,
) {
  const own = { state: world(given), env: ENVIRONMENT }
  const { state, env } = overridden(own, { stateOverrides, blockOverrides }, vms.own)
  return messageCall({ request, state, env, vm: vms.own, gasCap: CAP })
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

describe('the environment of a call', () => {
  it('has defaults: the zero sender, no value, no price', async () => {
    expect(await answer('CALLER')).toBe(0n)
    expect(await answer('ORIGIN')).toBe(0n)
    expect(await answer('CALLVALUE')).toBe(0n)
    expect(await answer('GASPRICE')).toBe(0n)
  })

  it('has the values of the request', async () => {
    expect(await answer('CALLER', { from: SENDER })).toBe(BigInt(SENDER))
    expect(await answer('CALLVALUE', { from: SENDER, value: 5n })).toBe(5n)
    expect(await answer('GASPRICE', { gasPrice: 9n })).toBe(9n)
    expect(await answer('0 CALLDATALOAD', { data: fromHex(`0x${'07'.repeat(32)}`) })).toBe(
      BigInt(`0x${'07'.repeat(32)}`),
    )
  })

  it('has gas within the cap, less the intrinsic gas', async () => {
    expect(await answer('GAS')).toBe(CAP - 21_000n - 2n)
    expect(await answer('GAS', { gas: 10n ** 14n })).toBe(CAP - 21_000n - 2n)
    expect(await answer('GAS', { gas: 50_000n })).toBe(29_000n - 2n)
  })
})

describe('the outcome of a call', () => {
  it('is empty without code', async () => {
    expect(await call({ to: OTHER })).toMatchObject({ output: new Uint8Array(0), gasUsed: 21_000n })
  })

  it('does not check the balance', async () => {
    expect((await call({ from: NOBODY, to: OTHER, value: 10n ** 18n })).failure).toBeUndefined()
    const code = `0 0 0 0 1 ${OTHER} 0 CALL ${RETURN_TOP}`
    const inner = await call({ to: CONTRACT }, { [CONTRACT]: { code } })
    expect(BigInt(toHex(inner.output))).toBe(0n)
  })

  it('of a creation is the return data of the init code', async () => {
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

  it('leaves the state unchanged', async () => {
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

  it('are refused for precompiled contracts, and for state together with stateDiff', async () => {
    const native: StateOverrides = new Map([[BRIDGE, { balance: 1n }]])
    await expect(call({ to: CONTRACT }, given, native)).rejects.toMatchObject({
      kind: 'invalid-params',
      message: 'Precompiled contracts can not be overridden',
    })
    const both: StateOverrides = new Map([[CONTRACT, { state: new Map(), stateDiff: new Map() }]])
    await expect(call({ to: CONTRACT }, given, both)).rejects.toMatchObject({
      kind: 'invalid-params',
      message: `'state' and 'stateDiff' of ${CONTRACT} can not be set at the same time`,
    })
  })
})

describe('overrides of the block', () => {
  it.each<[string, BlockOverrideValues, bigint]>([
    ['NUMBER', { number: 77 }, 77n],
    ['TIMESTAMP', { timestamp: 77 }, 77n],
    ['GASLIMIT', { gasLimit: 77n }, 77n],
    ['COINBASE', { coinbase: OTHER }, BigInt(OTHER)],
    ['DIFFICULTY', { difficulty: 77n }, 77n],
    ['BASEFEE', { minimumGasPrice: 77n }, 77n],
    ['990 BLOCKHASH', { blockHashes: new Map([[990, WORD_7]]) }, BigInt(WORD_7)],
    // Heights that BLOCKHASH does not see stay hidden.
    ['1000 BLOCKHASH', { blockHashes: new Map([[1000, WORD_7]]) }, 0n],
    ['1000 BLOCKHASH', { number: 1001, blockHashes: new Map([[1000, '0x7']]) }, 7n],
    ['10 BLOCKHASH', { blockHashes: new Map([[10, '0x7']]) }, 0n],
  ])('%s returns %o', async (code, blockOverrides, word) => {
    const given = { [CONTRACT]: { code: `${code} ${RETURN_TOP}` } }
    const { output } = await call({ to: CONTRACT }, given, undefined, blockOverrides)
    expect(BigInt(toHex(output))).toBe(word)
  })

  it('keep the other fields, and the hashes of other heights', async () => {
    const blockOverrides: BlockOverrideValues = { number: 1001, blockHashes: new Map([[990, '0x7']]) }
    const plain = await call(
      { to: CONTRACT },
      { [CONTRACT]: { code: `991 BLOCKHASH TIMESTAMP ADD ${RETURN_TOP}` } },
    )
    const changed = await call(
      { to: CONTRACT },
      { [CONTRACT]: { code: `991 BLOCKHASH TIMESTAMP ADD ${RETURN_TOP}` } },
      undefined,
      blockOverrides,
    )
    expect(changed.output).toEqual(plain.output)
  })
})

describe('a precompiled contract that is moved', () => {
  const IDENTITY: Hex = '0x0000000000000000000000000000000000000004'
  const data = fromHex('0x123456')
  const answer = assemble(`77 ${RETURN_TOP}`)

  async function outputs(overrides: StateOverrides, ...addresses: Hex[]) {
    const all = addresses.map(async (to) => toHex((await call({ to, data }, {}, overrides)).output))
    return Promise.all(all)
  }

  it('runs at its new address, and leaves an account at the old one', async () => {
    const overrides = new Map([[IDENTITY, { movePrecompileToAddress: OTHER }]])
    expect(await outputs(overrides, IDENTITY, OTHER)).toEqual(['0x', '0x123456'])
  })

  it('is replaced by code', async () => {
    const overrides = new Map([[IDENTITY, { movePrecompileToAddress: OTHER, code: answer }]])
    expect(await outputs(overrides, IDENTITY, OTHER)).toEqual([`0x${'4d'.padStart(64, '0')}`, '0x123456'])
  })

  it.each(['EXTCODESIZE', 'EXTCODEHASH'])('is seen by %s at its new address', async (opcode) => {
    const code = `${IDENTITY} ${opcode} ${RETURN_TOP}`
    const moved = `${OTHER} ${opcode} ${RETURN_TOP}`
    const overrides = new Map([[IDENTITY, { movePrecompileToAddress: OTHER }]])
    const plain = await call({ to: CONTRACT }, { [CONTRACT]: { code } })
    expect(await call({ to: CONTRACT }, { [CONTRACT]: { code: moved } }, overrides)).toMatchObject({
      output: plain.output,
    })
  })

  it('is called by code, compiled and interpreted', async () => {
    const loop = (target: Hex) => `
      0x1234 0 MSTORE 500
      again: 32 32 32 0 0 ${target} GAS CALL POP
      1 SWAP1 SUB DUP1 @again JUMPI 32 MLOAD ${RETURN_TOP}`
    const overrides = new Map([[IDENTITY, { movePrecompileToAddress: OTHER, code: answer }]])
    for (const [target, word] of [
      [OTHER, 0x1234n],
      [IDENTITY, 77n],
    ] as const) {
      const { output } = await call({ to: CONTRACT }, { [CONTRACT]: { code: loop(target) } }, overrides)
      expect(BigInt(toHex(output))).toBe(word)
    }
  })

  it.each<[string, StateOverrides, string]>([
    [
      'an account that is none',
      new Map([[OTHER, { movePrecompileToAddress: NOBODY }]]),
      `stateOverrides.${OTHER}.movePrecompileToAddress: ${OTHER} is not a precompiled contract`,
    ],
    [
      'an overridden address',
      new Map<Hex, AccountOverride>([
        [IDENTITY, { movePrecompileToAddress: OTHER }],
        [OTHER, { balance: 1n }],
      ]),
      'Precompiled contracts can not be moved to an overridden address',
    ],
    [
      'itself',
      new Map([[IDENTITY, { movePrecompileToAddress: IDENTITY }]]),
      'Precompiled contracts can not be moved to an overridden address',
    ],
    [
      'a target of another',
      new Map([
        [IDENTITY, { movePrecompileToAddress: OTHER }],
        [BRIDGE, { movePrecompileToAddress: OTHER }],
      ]),
      `stateOverrides.${BRIDGE}.movePrecompileToAddress: another one is moved to ${OTHER} already`,
    ],
  ])('is refused: %s', async (_, overrides, message) => {
    await expect(call({ to: OTHER }, {}, overrides)).rejects.toMatchObject({
      kind: 'invalid-params',
      message,
    })
  })

  it('stays at its address when its account is overridden as in geth, unless the override has code', async () => {
    const own = { replacesPrecompile: true } as const
    expect(await outputs(new Map([[IDENTITY, { ...own, balance: 1n }]]), IDENTITY)).toEqual(['0x123456'])
    expect(await outputs(new Map([[IDENTITY, { ...own, code: answer }]]), IDENTITY)).toEqual([
      `0x${'4d'.padStart(64, '0')}`,
    ])
  })
})
