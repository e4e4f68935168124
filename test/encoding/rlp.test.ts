import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRlp, encodeRlp, type RlpItem } from '../../src/encoding/rlp.ts'
import { saying } from '../support/refusals.ts'

/** A list in a list in a list, so many deep. */
function nested(depth: number): RlpItem {
  let item: RlpItem = []
  for (let i = 1; i < depth; i++) item = [item]
  return item
}

/** RLP of lists within lists, as many as fit so many bytes. */
function nestedBytes(most: number): Uint8Array {
  const prefixes: Buffer[] = []
  for (let length = 0; length < most; ) {
    const digits = length.toString(16)
    const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
    const prefix =
      length < 56 ? Buffer.of(0xc0 + length) : Buffer.concat([Buffer.of(0xf7 + bytes.length), bytes])
    prefixes.push(prefix)
    length += prefix.length
  }
  return Buffer.concat(prefixes.reverse())
}

describe('decoding RLP', () => {
  const items = fc.letrec<{ item: RlpItem }>((tie) => ({
    item: fc.oneof(
      { maxDepth: 6 },
      fc.uint8Array({ maxLength: 80 }),
      fc.array(tie('item'), { maxLength: 4 }),
    ),
  })).item

  it('returns the encoded value', () => {
    fc.assert(
      fc.property(items, fc.uint8Array({ maxLength: 9 }), (item, rest) => {
        const bytes = encodeRlp(item)
        expect(decodeRlp(bytes)).toEqual(item)
        if (rest.length > 0) expect(() => decodeRlp(Uint8Array.from([...bytes, ...rest]))).toThrow()
      }),
    )
  })

  it('accepts lists up to 32 deep, after any other items', () => {
    for (const item of [nested(32), [new Uint8Array(70), [[]], nested(31), []]]) {
      expect(decodeRlp(encodeRlp(item))).toEqual(item)
    }
  })

  it('refuses deeper lists, megabytes of them without delay', () => {
    for (const item of [nested(33), [new Uint8Array(70), [[]], nested(32), []]]) {
      expect(() => decodeRlp(encodeRlp(item))).toThrow(saying('lists are nested too deeply'))
    }
    expect(() => decodeRlp(nestedBytes(2_000_000))).toThrow(saying('lists are nested too deeply'))
  })

  /** Bytes at which one kind of item ends and the next begins. */
  const edge = fc.constantFrom(
    ...[0, 1, 0x37, 0x38, 0x7f, 0x80, 0x81, 0xb7, 0xb8, 0xb9, 0xc0, 0xc1, 0xc2, 0xf7, 0xf8, 0xf9],
  )

  it('refuses any other bytes with a decoding error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 60 }),
          fc.array(edge, { maxLength: 80 }).map((all) => Uint8Array.from(all)),
        ),
        (bytes) => {
          try {
            expect(encodeRlp(decodeRlp(bytes))).toEqual(bytes)
          } catch (error) {
            expect(error).toBeInstanceOf(Error)
            expect(String(error)).toMatch(/RLP|nested/)
          }
        },
      ),
    )
  })
})
