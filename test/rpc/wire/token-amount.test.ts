/** Amounts of tokens, as ethers writes them. */
import { formatUnits } from 'ethers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { tokenAmount } from '../../../src/rpc/wire/token-amount.ts'

it('writes amounts as ethers does, without its zero behind the point', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 256n - 1n), fc.integer({ min: 0, max: 80 }), (amount, decimals) => {
      expect(tokenAmount(amount, decimals)).toBe(formatUnits(amount, decimals).replace(/\.0$/, ''))
    }),
  )
})
