import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countZeros, fromBigInt, toBigInt, writeWord } from '../../src/encoding/bytes.ts'

/** The integer by way of text. */
function spelled(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

describe('big-endian integers', () => {
  it('are read from bytes of any length, also from a view of a larger array', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.nat({ max: 5 }), (bytes, offset) => {
        const around = new Uint8Array(bytes.length + 10).fill(0xee)
        around.set(bytes, offset)
        expect(toBigInt(around.subarray(offset, offset + bytes.length))).toBe(spelled(bytes))
      }),
      { numRuns: 500 },
    )
  })

  it('are written as words into a larger array without changing the bytes around them', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
        fc.nat({ max: 5 }),
        (value, at) => {
          const around = new Uint8Array(42).fill(0xee)
          writeWord(new DataView(around.buffer), at, value)
          expect(spelled(around.subarray(at, at + 32))).toBe(value)
          expect([...around.subarray(0, at), ...around.subarray(at + 32)]).toEqual(Array(10).fill(0xee))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('are written without leading zeros, each time into a new array', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 300n }), (value) => {
        const bytes = fromBigInt(value)
        const later = fromBigInt(value + 1n)
        expect(spelled(bytes)).toBe(value)
        expect(spelled(later)).toBe(value + 1n)
        expect(bytes[0]).not.toBe(0)
        expect(toBigInt(bytes)).toBe(value)
      }),
      { numRuns: 500 },
    )
    for (let bits = 0n; bits < 300n; bits += 4n) {
      for (const value of [2n ** bits - 1n, 2n ** bits]) expect(toBigInt(fromBigInt(value))).toBe(value)
    }
    expect(fromBigInt(0n)).toEqual(new Uint8Array(0))
    expect(() => fromBigInt(-1n)).toThrow(RangeError)
  })
})

describe('zero bytes', () => {
  const ofFewValues = fc.uint8Array({ maxLength: 300, max: 1 })
  const ofAll = fc.uint8Array({ maxLength: 300 })
  const counted = (bytes: Uint8Array) => [...bytes].filter((byte) => byte === 0).length

  it('are counted in arrays of any content and length, also in a view of a larger array', () => {
    fc.assert(
      fc.property(fc.oneof(ofFewValues, ofAll), fc.nat({ max: 7 }), (bytes, offset) => {
        const around = new Uint8Array(bytes.length + 10)
        around.set(bytes, offset)
        expect(countZeros(around.subarray(offset, offset + bytes.length))).toBe(counted(bytes))
      }),
      { numRuns: 1000 },
    )
  })

  it('are counted among bytes of every value', () => {
    const all = Uint8Array.from({ length: 4096 }, (_, i) => (i % 16 < 4 ? 0 : i >> 4))
    expect(countZeros(all)).toBe(counted(all))
  })

  it('are counted in long arrays of zeros only', () => {
    for (const length of [64, 65, 507, 508, 509, 512, 1016, 49_152]) {
      expect(countZeros(new Uint8Array(length))).toBe(length)
      expect(countZeros(new Uint8Array(length).fill(0x80))).toBe(0)
    }
  })
})
