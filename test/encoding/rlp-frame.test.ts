import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equal } from '../../src/encoding/bytes.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import { framedLength, frameList, frameString, frameStrings } from '../../src/encoding/rlp-frame.ts'
import { bytes } from '../support/arbitraries.ts'

const sized = fc.oneof(
  bytes(80),
  fc
    .constantFrom(0, 1, 54, 55, 56, 255, 256, 65_535, 65_536)
    .map((length) => new Uint8Array(length).fill(0x91)),
)

describe('framing RLP', () => {
  it('writes strings and lists as the library does', () => {
    fc.assert(
      fc.property(fc.array(sized, { maxLength: 6 }), (strings) => {
        for (const string of strings) expect(equal(frameString(string), encodeRlp(string))).toBe(true)
        const list = encodeRlp(strings)
        expect(equal(frameStrings(strings), list)).toBe(true)
        expect(equal(frameList(strings.map(encodeRlp)), list)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('tells the length of a list before it is written', () => {
    for (const length of [0, 1, 55, 56, 255, 256, 70_000]) {
      expect(framedLength(length)).toBe(frameList([new Uint8Array(length)]).length)
    }
  })

  it('lets single low bytes stand for themselves, and zero too', () => {
    expect(frameString(Uint8Array.of(0))).toEqual(Uint8Array.of(0))
    expect(frameString(Uint8Array.of(0x80))).toEqual(Uint8Array.of(0x81, 0x80))
    expect(frameList([])).toEqual(Uint8Array.of(0xc0))
  })
})
