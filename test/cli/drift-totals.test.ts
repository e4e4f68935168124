/** Causes of differences, each from what a comparison can state. */
import { describe, expect, it } from 'vitest'
import type { Compared } from '../../src/cli/comparison-lines.ts'
import { causeOf, DriftTotals } from '../../src/cli/drift-totals.ts'
import type { Hex } from '../../src/encoding/hex.ts'

const step = (op: string) => ({ op, pc: 1, depth: 0, gasCost: 3 })
const side = (gasUsed: number, status: 'succeeded' | 'reverted' | 'rejected' = 'succeeded', reason = '') => ({
  status,
  reason: reason === '' ? null : reason,
  gasUsed: `0x${gasUsed.toString(16)}` as Hex,
  refund: '0x0' as Hex,
  output: '0x' as Hex,
  contractAddress: null,
  logs: [],
})
const compared = (parts: Partial<Compared> = {}): Compared => ({
  by: 'others',
  column: 'other',
  chain: side(100),
  other: side(100),
  sameResult: true,
  sameLogs: true,
  gas: [],
  firstPriceDifference: null,
  divergence: null,
  ethereumBlock: null,
  ...parts,
})
const hash = (n: number): Hex => `0x${`${n}`.padStart(64, '0')}`

describe('the cause of a difference', () => {
  it.each<[string | undefined, Partial<Compared>]>([
    [undefined, {}],
    ['gas of refunds', { other: side(90) }],
    [
      'gas of transaction (first SSTORE)',
      {
        other: side(110),
        gas: [
          { group: 'transaction', chain: 1, other: 11 },
          { group: 'storage', chain: 5, other: 5 },
        ],
        firstPriceDifference: { index: 1, chain: step('SSTORE'), other: step('SSTORE') },
      },
    ],
    ['other events', { sameLogs: false }],
    ['succeeded → reverted', { sameResult: false, other: side(3, 'reverted') }],
    ['another result', { sameResult: false }],
    [
      'execution diverges at PUSH0 (there INVALID), succeeded → reverted, other events',
      {
        sameResult: false,
        sameLogs: false,
        other: side(3, 'reverted'),
        divergence: { index: 0, chain: step('PUSH0'), other: step('INVALID') },
      },
    ],
    [
      'execution diverges at STOP (there the end)',
      { divergence: { index: 0, chain: step('STOP'), other: null } },
    ],
    [
      'refused: gas limit … is below the intrinsic gas …',
      { sameResult: false, other: side(0, 'rejected', 'gas limit 21000 is below the intrinsic gas 22000') },
    ],
  ])('is: %s', (cause, parts) => {
    expect(causeOf(compared(parts))).toBe(cause)
  })

  it('groups transactions, the most frequent cause first', () => {
    const totals = new DriftTotals()
    totals.add(hash(1), compared())
    totals.add(hash(2), compared({ sameLogs: false }))
    totals.add(hash(3), compared({ other: side(0, 'rejected', 'nonce 5') }))
    totals.add(hash(4), compared({ other: side(0, 'rejected', 'nonce 6') }))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    const lines = totals.lines().map((line) => line.replace(/\x1b\[\d+m/g, ''))
    expect(lines).toEqual([
      `  2 transactions: refused: nonce …, gas 200 → 0 -200 (-100.0 %), such as ${hash(3)}`,
      `  1 transaction: other events, gas 100 → 100 same, such as ${hash(2)}`,
      '4 transactions, 1 with another result or other events, gas 400 → 200 -200 (-50.0 %)',
    ])
  })
})
