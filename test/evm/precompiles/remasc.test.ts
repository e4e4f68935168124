import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { contractAt, ENVIRONMENT, gasOf, outcome } from './vectors.ts'

const remasc = contractAt('1000008')
/** getStateForDebugging() */
const STATE = '0x0d0cee93'

function slot(name: string): bigint {
  return BigInt(`0x${Buffer.from(name).toString('hex')}`)
}

function stateOf(cells: Readonly<Record<string, bigint>>): Hex | 'failure' {
  const words = new Map(Object.entries(cells).map(([name, word]) => [slot(name), word]))
  const storage = { ...ENVIRONMENT.storage, get: (at: bigint) => words.get(at) ?? 0n }
  return outcome(remasc, STATE, { ...ENVIRONMENT, storage })
}

/** `bytes` of up to 32 bytes, as Solidity returns them. */
function bytes(hex: string): Hex {
  const head = `${'20'.padStart(64, '0')}${(hex.length / 2).toString(16).padStart(64, '0')}`
  return `0x${head}${hex.padEnd(64, '0')}`
}

describe('REMASC, called by others', () => {
  it('returns reward balance, burned amount, an empty list and the broken rule', () => {
    expect(stateOf({})).toBe(bytes('c48080c000'))
    expect(stateOf({ siblings: 0xc0n, federationBalance: 9n })).toBe(bytes('c48080c000'))
    expect(stateOf({ rewardBalance: 0x1234n, burnedBalance: 0x7fn, brokenSelectionRule: 1n })).toBe(
      bytes('c68212347fc001'),
    )
  })

  it.each([
    ['no input, as the last transaction of a block has', '0x'],
    ['processMinersFees()', '0xbe021a58'],
    ['an unknown method', '0x01020304'],
    ['a byte more than the selector', `${STATE}00`],
    ['a byte less', '0x0d0cee'],
  ] as const)('fails on %s', (_, input) => {
    expect(outcome(remasc, input)).toBe('failure')
  })

  it('costs no gas, whether it fails or not', () => {
    for (const input of [STATE, '0x', '0x01020304'] as const) expect(gasOf(remasc, input)).toBe(0n)
  })
})
