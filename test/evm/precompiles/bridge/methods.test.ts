/** Every method of the bridge: its selector, its gas, and which callers it serves, as on the reference node. */
import { encodeFunctionData, toFunctionSignature, zeroAddress, zeroHash } from 'viem'
import { describe, expect, it } from 'vitest'
import { fromHex, type Hex } from '../../../../src/encoding/hex.ts'
import { type PrecompileEnvironment, PrecompileFailure } from '../../../../src/evm/precompiles/precompile.ts'
import { abi, bridge, dataOf, FEDERATOR, freshBridge, type MethodRow, methods } from './calls.ts'

const PLAIN: Record<string, unknown> = {
  int256: 0n,
  uint256: 0n,
  bool: false,
  address: zeroAddress,
  bytes32: zeroHash,
  bytes: '0x',
  string: 'btc',
  'bytes[]': [],
  'bytes32[]': [],
}

/** A call with plain arguments, by the signature alone: the table knows methods that the published interface does not. */
function plainData({ signature }: MethodRow): Hex {
  const name = signature.slice(0, signature.indexOf('('))
  const types = signature
    .slice(name.length + 1, -1)
    .split(',')
    .filter(Boolean)
  const inputs = types.map((type) => ({ name: '', type }))
  const own = [{ type: 'function', name, inputs, outputs: [], stateMutability: 'view' }] as const
  return encodeFunctionData({ abi: own, functionName: name, args: types.map((type) => PLAIN[type]) as never })
}

/** The words with which a call fails; `undefined` when it succeeds. */
function failure(data: Hex, change: Partial<PrecompileEnvironment> = {}): PrecompileFailure | undefined {
  try {
    bridge.run(fromHex(data), { ...freshBridge().env, ...change })
    return undefined
  } catch (error) {
    if (error instanceof PrecompileFailure) return error
    throw error
  }
}

const enabled = methods.filter((method) => method.enabled)
const REFUSAL = /answers simulations only|does not serve|federation only/

describe('the method table', () => {
  it('covers the published interface', () => {
    const known = new Set(methods.map(({ signature }) => signature))
    const published = abi.flatMap((entry) => (entry.type === 'function' ? [entry] : []))
    expect(published).toHaveLength(75)
    for (const entry of published) {
      const signature = toFunctionSignature({ ...entry, inputs: canonical(entry.inputs) })
      expect(known, signature).toContain(signature)
    }
  })

  it.each(enabled.filter(({ gas }) => gas !== null))(
    'charges $gas gas and 2 for each byte for $signature',
    (method) => {
      const data = plainData(method)
      expect(freshBridge().gas(data)).toBe(BigInt((method.gas as number) + data.length - 2))
    },
  )

  it.each(methods.filter((method) => !method.enabled))(
    'treats $signature as an unknown method when disabled',
    (method) => {
      expect(freshBridge().gas(plainData(method))).toBe(23_000n)
      expect(failure(plainData(method))?.message).toBe(`${method.signature} is switched off`)
    },
  )

  it.each(enabled)('serves $signature to simulations only where the node does', (method) => {
    const words = failure(plainData(method), { isLocal: false, caller: FEDERATOR })?.message ?? ''
    expect(words.includes('simulations only')).toBe(method.localOnly)
  })

  it.each(enabled)('serves $signature by STATICCALL only where the node does', (method) => {
    const words = failure(plainData(method), { kind: 'staticcall', isStatic: true })?.message ?? ''
    expect(words.includes('does not serve a staticcall')).toBe(!method.view)
  })

  it.each(enabled)('serves $signature by no CALLCODE and no DELEGATECALL', (method) => {
    expect(failure(plainData(method), { kind: 'callcode' })?.message).toBe(
      `${method.signature} does not serve a callcode`,
    )
    expect(failure(plainData(method), { kind: 'delegatecall' })?.message).toBe(
      `${method.signature} does not serve a delegatecall`,
    )
  })

  it.each(enabled)('serves $signature to federators only where the node does', (method) => {
    expect(failure(plainData(method))?.message.includes('federation only') ?? false).toBe(method.federators)
    expect(failure(plainData(method), { caller: FEDERATOR })?.message ?? '').not.toMatch(REFUSAL)
  })
})

/** `int` and `uint` by their full names, as selectors have them. */
function canonical<Parameter extends { type: string }>(inputs: readonly Parameter[]): Parameter[] {
  return inputs.map((input) => ({ ...input, type: input.type.replace(/^(u?int)$/, '$1256') }))
}

describe('data that do not call a method', () => {
  it.each<Hex>(['0x11', '0x112233', '0x11223344', `0x11223344${'00'.repeat(64)}`])(
    '%s cost 23,000 gas and fail',
    (data) => {
      expect(freshBridge().gas(data)).toBe(23_000n)
      expect(failure(data)?.message).toBe('no such method, or malformed arguments')
    },
  )

  it('malformed arguments do not call a method either', () => {
    const data = dataOf('getBtcBlockchainBlockHeaderByHash', zeroHash).slice(0, -2) as Hex
    expect(freshBridge().gas(data)).toBe(23_000n)
    expect(failure(data)?.message).toBe('no such method, or malformed arguments')
    const list = dataOf('receiveHeaders', [`0x${'00'.repeat(80)}`]).slice(0, -64) as Hex
    expect(freshBridge().gas(list)).toBe(23_000n)
  })

  it('empty data request a release', () => {
    expect(freshBridge().gas('0x')).toBe(23_000n)
    expect(failure('0x', { kind: 'staticcall', isStatic: true })?.message).toBe(
      'releaseBtc() does not serve a staticcall',
    )
  })
})

describe('prices that depend on arguments', () => {
  it.each([
    [0, 25_000],
    [1, 25_000],
    [2, 28_500],
    [10, 56_500],
  ])('%i headers cost %i gas and 2 for each byte', (count, gas) => {
    const data = dataOf('receiveHeaders', Array(count).fill(`0x${'00'.repeat(80)}`))
    expect(freshBridge().gas(data)).toBe(BigInt(gas + data.length - 2))
  })

  it('a transaction of a federator or voter is free, and their other calls are not', () => {
    const data = dataOf('updateCollections')
    const bridge = freshBridge()
    const voter = '0x53f8f6dabd612b6137215ddd7758bb5cdd638922'
    for (const caller of [FEDERATOR, voter] as const) {
      expect(bridge.gas(data, { caller, isTop: true, isLocal: false })).toBe(0n)
      expect(bridge.gas(data, { caller, isTop: true, isLocal: true })).toBe(48_008n)
      expect(bridge.gas(data, { caller, isTop: false, isLocal: false })).toBe(48_008n)
    }
    expect(bridge.gas(data, { isTop: true, isLocal: false })).toBe(48_008n)
  })
})
