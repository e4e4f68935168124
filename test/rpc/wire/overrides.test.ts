/** The state override set (docs/internals/rpc-reference.md#74-calls-and-estimates). */
import { describe, expect, it } from 'vitest'
import { StateOverrideSet } from '../../../src/rpc/wire/overrides.ts'
import { N } from '../../support/fake-chain.ts'
import { refusals } from '../../support/refusals.ts'

const TARGET = `0x${'ab'.repeat(20)}`

describe('StateOverrideSet', () => {
  it('reads every field, pads short words, and treats null as absent', () => {
    const set = StateOverrideSet.read(
      {
        [N.slice(2).toUpperCase()]: {
          balance: '0x2a',
          nonce: '0x7',
          code: '0x6001',
          stateDiff: { '0x0': '0x7', ff: '01' },
          state: null,
          movePrecompileToAddress: TARGET,
          other: 1,
        },
      },
      'stateOverrides',
    )
    expect([...set]).toEqual([
      [
        N,
        {
          movePrecompileToAddress: TARGET,
          balance: 42n,
          nonce: 7n,
          code: Uint8Array.of(0x60, 1),
          stateDiff: new Map([
            [0n, 7n],
            [255n, 1n],
          ]),
        },
      ],
    ])
    for (const none of [{}, null]) expect(StateOverrideSet.read(none, 'stateOverrides').size).toBe(0)
  })

  const field = (name: string) => `parameter.${N}.${name}`
  const word = `0x${'1'.repeat(65)}`
  refusals(StateOverrideSet, [
    [[], 'Invalid parameter: expected an object.'],
    ['0x', 'Invalid parameter: expected an object.'],
    [{ '0x12': {} }, 'Invalid parameter key 0x12: expected an address.'],
    [{ [N]: 5 }, `Invalid parameter.${N}: expected an object.`],
    [{ [N]: { balance: '42' } }, `Invalid ${field('balance')}: expected a hex number with 0x, within range.`],
    [{ [N]: { balance: 42 } }, `Invalid ${field('balance')}: expected a hex number with 0x, within range.`],
    [
      { [N]: { nonce: '0x8000000000000000' } },
      `Invalid ${field('nonce')}: expected a hex number with 0x, within range.`,
    ],
    [{ [N]: { code: 'zz' } }, `Invalid ${field('code')}: expected hex text.`],
    [{ [N]: { state: [] } }, `Invalid ${field('state')}: expected an object.`],
    [{ [N]: { state: { '0x0': word } } }, `Invalid ${field('state.0x0')}: expected at most 32 bytes in hex.`],
    [
      { [N]: { stateDiff: { [word]: '0x1' } } },
      `Invalid ${field('stateDiff')} slot ${word}: expected at most 32 bytes in hex.`,
    ],
    [
      { [N]: { movePrecompileToAddress: '0x12' } },
      `Invalid ${field('movePrecompileToAddress')}: expected an address.`,
    ],
  ])
})
