import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex, hexToBigInt, toFixedHex, toHex, toQuantity } from '../../src/encoding/hex.ts'

describe('hex text', () => {
  it('equals that of Buffer for any bytes, short and long, and decodes to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = toHex(bytes)
        expect(text).toBe(`0x${Buffer.from(bytes).toString('hex')}`)
        expect(fromHex(text)).toEqual(bytes)
        expect(fromHex(text.toUpperCase().replace('0X', '0x'))).toEqual(bytes)
      }),
    )
  })

  it('of a view of an array covers the view only', () => {
    const whole = Uint8Array.from({ length: 100 }, (_, i) => i)
    expect(toHex(whole.subarray(10, 13))).toBe('0x0a0b0c')
    expect(toHex(whole.subarray(10, 90))).toBe(`0x${Buffer.from(whole.subarray(10, 90)).toString('hex')}`)
  })

  it('decodes to a new array', () => {
    const bytes = fromHex('0x0102')
    fromHex('0x0304')
    toHex(Uint8Array.of(5, 6))
    expect(bytes).toEqual(Uint8Array.of(1, 2))
    expect(bytes.buffer.byteLength).toBe(2)
  })

  it('writes quantities without and words with leading zeros', () => {
    expect(toQuantity(0n)).toBe('0x0')
    expect(toQuantity(255)).toBe('0xff')
    expect(toFixedHex(1n, 2)).toBe('0x0001')
    expect(hexToBigInt('0x')).toBe(0n)
    expect(hexToBigInt('0x0100')).toBe(256n)
  })
})
