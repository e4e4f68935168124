import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeParentHeader,
  encodeParentHeader,
  hashValue,
  meetsTarget,
  targetOf,
} from '../../../src/chain/merged-mining/parent-header.ts'
import { doubleSha256 } from '../../../src/encoding/hash.ts'
import { toHex } from '../../../src/encoding/hex.ts'
import { fixedBytes } from '../../support/arbitraries.ts'

describe('parent-chain headers', () => {
  it('are decoded from exactly 80 bytes', () => {
    fc.assert(
      fc.property(fixedBytes(80), (bytes) => {
        expect(toHex(encodeParentHeader(decodeParentHeader(bytes)))).toBe(toHex(bytes))
      }),
      { numRuns: 30 },
    )
    expect(() => decodeParentHeader(new Uint8Array(79))).toThrow(RangeError)
  })

  it('have targets that shrink with difficulty, starting at a third of all hashes', () => {
    const third = BigInt(`0x${'55'.repeat(32)}`)
    for (const difficulty of [0n, 1n, 2n, 3n]) expect(targetOf(difficulty)).toBe(third)
    expect(targetOf(4n)).toBe(2n ** 254n)
    expect(targetOf(131_072n)).toBe(2n ** 239n)
  })

  it('meet a target when their hash, read from its last byte, is no larger', () => {
    fc.assert(
      fc.property(fixedBytes(80), (bytes) => {
        const value = hashValue(doubleSha256(bytes))
        // The largest difficulty that this hash proves, and the next one.
        const most = 2n ** 256n / value
        expect(meetsTarget(bytes, most)).toBe(most > 2n || value <= targetOf(1n))
        expect(meetsTarget(bytes, most + 1n < 4n ? 4n : most + 1n)).toBe(false)
      }),
      { numRuns: 50 },
    )
    expect(hashValue(Uint8Array.of(1, ...new Uint8Array(31)))).toBe(1n)
  })
})
