import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equal } from '../../src/encoding/bytes.ts'
import { decodeRlp, encodeRlp } from '../../src/encoding/rlp.ts'
import {
  framedLength,
  frameList,
  frameString,
  frameStrings,
  readFlatStrings,
} from '../../src/encoding/rlp-frame.ts'
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

  it('computes the length of a list before it is written', () => {
    for (const length of [0, 1, 55, 56, 255, 256, 70_000]) {
      expect(framedLength(length)).toBe(frameList([new Uint8Array(length)]).length)
    }
  })

  it('encodes a single byte below 0x80 as itself, zero included', () => {
    expect(frameString(Uint8Array.of(0))).toEqual(Uint8Array.of(0))
    expect(frameString(Uint8Array.of(0x80))).toEqual(Uint8Array.of(0x81, 0x80))
    expect(frameList([])).toEqual(Uint8Array.of(0xc0))
  })
})

describe('reading a list of strings', () => {
  it('returns the encoded strings', () => {
    fc.assert(
      fc.property(fc.array(sized, { maxLength: 9 }), (strings) => {
        const read = readFlatStrings(frameStrings(strings)) ?? []
        expect(read.length).toBe(strings.length)
        // Long strings are compared byte by byte here: the matcher for objects takes seconds.
        expect(read.every((string, i) => equal(string, strings[i] as Uint8Array))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  it('leaves every other form to the general decoder', () => {
    const damaged = fc
      .tuple(
        fc.array(fc.oneof(bytes(4), bytes(70)), { maxLength: 4 }),
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: -3, max: 3 }),
      )
      .map(([strings, at, byte, longer]) => {
        const list = frameStrings(strings)
        const changed = new Uint8Array(Math.max(0, list.length + longer))
        changed.set(list.subarray(0, changed.length))
        if (changed.length > 0) changed[at % changed.length] = byte
        return changed
      })
    const decoded = (input: Uint8Array) => {
      try {
        return decodeRlp(input)
      } catch {
        return undefined
      }
    }
    fc.assert(
      fc.property(damaged, (input) => {
        const strings = readFlatStrings(input)
        if (strings === undefined) return
        expect(strings).toEqual(decoded(input))
        expect(equal(frameStrings(strings), input)).toBe(true)
      }),
      { numRuns: 1000 },
    )
    expect(readFlatStrings(new Uint8Array(0))).toBeUndefined()
    expect(readFlatStrings(frameString(new Uint8Array(9)))).toBeUndefined()
    expect(readFlatStrings(encodeRlp([[Uint8Array.of(1)]]))).toBeUndefined()
    expect(readFlatStrings(Uint8Array.of(0xc2, 0x81, 0x05))).toBeUndefined()
    expect(readFlatStrings(Uint8Array.of(0xf8, 0x01, 0x05))).toBeUndefined()
  })
})
