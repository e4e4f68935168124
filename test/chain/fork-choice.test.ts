import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BranchTip, prefers } from '../../src/chain/fork-choice.ts'
import { toFixedHex } from '../../src/encoding/hex.ts'

const tip = (totalDifficulty: bigint, paidFees: bigint, hash: bigint): BranchTip => ({
  totalDifficulty,
  paidFees,
  hash: toFixedHex(hash, 32),
})

describe('prefers', () => {
  it.each<[string, BranchTip, BranchTip, boolean]>([
    ['more difficulty', tip(11n, 0n, 9n), tip(10n, 99n, 1n), true],
    ['less difficulty', tip(10n, 99n, 1n), tip(11n, 0n, 9n), false],
    ['more than twice the fees', tip(10n, 21n, 9n), tip(10n, 10n, 1n), true],
    ['exactly twice the fees, larger hash', tip(10n, 20n, 9n), tip(10n, 10n, 1n), false],
    ['exactly twice the fees, smaller hash', tip(10n, 20n, 1n), tip(10n, 10n, 9n), true],
    ['equal fees, smaller hash', tip(10n, 10n, 1n), tip(10n, 10n, 9n), true],
    ['exactly half the fees, smaller hash', tip(10n, 5n, 1n), tip(10n, 10n, 9n), false],
    ['more than half the fees, smaller hash', tip(10n, 6n, 1n), tip(10n, 10n, 9n), true],
    ['no fees at all, smaller hash', tip(10n, 0n, 1n), tip(10n, 0n, 9n), false],
    ['any fees against none', tip(10n, 1n, 9n), tip(10n, 0n, 1n), true],
    ['itself', tip(10n, 10n, 1n), tip(10n, 10n, 1n), false],
    ['hash compared as bytes', tip(10n, 10n, 0x0fn << 240n), tip(10n, 10n, 0xf0n << 240n), true],
  ])('%s', (_, candidate, best, expected) => {
    expect(prefers(candidate, best)).toBe(expected)
  })

  it('never prefers each of two tips over the other', () => {
    const any = fc
      .tuple(
        fc.bigInt({ min: 0n, max: 2n }),
        fc.bigInt({ min: 0n, max: 9n }),
        fc.bigInt({ min: 0n, max: 9n }),
      )
      .map(([difficulty, fees, hash]) => tip(difficulty, fees, hash))
    fc.assert(fc.property(any, any, (a, b) => !(prefers(a, b) && prefers(b, a))))
  })
})
