import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromBigIntFixed, writeWord } from '../../src/encoding/bytes.ts'
import { readWord, wordToAddress } from '../../src/evm/word.ts'

/** Words of every size, and with zeros in the middle. */
const word = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n }),
  fc.integer({ min: 0, max: 255 }).map((bit) => 1n << BigInt(bit)),
)

describe('a word in memory', () => {
  it('is 32 bytes, big-endian, whatever the memory contained', () => {
    fc.assert(
      fc.property(word, fc.integer({ min: 0, max: 40 }), (value, offset) => {
        const memory = new Uint8Array(80).fill(0xee)
        const view = new DataView(memory.buffer)
        writeWord(view, offset, value)
        expect(memory.slice(offset, offset + 32)).toEqual(fromBigIntFixed(value, 32))
        expect(memory.slice(0, offset).every((byte) => byte === 0xee)).toBe(true)
        expect(memory.slice(offset + 32).every((byte) => byte === 0xee)).toBe(true)
        expect(readWord(view, offset)).toBe(value)
      }),
    )
  })
})

describe('the address in a word', () => {
  it('is its low 20 bytes', () => {
    expect(wordToAddress(5n)).toBe('0x0000000000000000000000000000000000000005')
    expect(wordToAddress(2n ** 256n - 1n)).toBe(`0x${'f'.repeat(40)}`)
    expect(wordToAddress(2n ** 160n)).toBe(`0x${'0'.repeat(40)}`)
  })
})
