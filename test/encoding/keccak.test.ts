/** keccak-256 in WebAssembly, against the library's. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { createKeccak256 } from '../../src/encoding/keccak.ts'

/** Bytes of many values, none of which repeats with the length of a block. */
const bytesOf = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 167 + (i >> 8)) & 0xff)

describe('keccak-256', () => {
  it('hashes every length around the first blocks', () => {
    const hash = createKeccak256()
    for (let length = 0; length <= 3 * 136 + 1; length++) {
      const bytes = bytesOf(length)
      expect(toHex(hash(bytes))).toBe(toHex(keccak_256(bytes)))
    }
  })

  it('hashes what is larger than its memory', () => {
    const hash = createKeccak256()
    for (const length of [65_007, 65_008, 65_009, 130_016, 300_000]) {
      const bytes = bytesOf(length)
      expect(toHex(hash(bytes))).toBe(toHex(keccak_256(bytes)))
    }
  })

  it('hashes any bytes, whatever was hashed before', () => {
    const hash = createKeccak256()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1000 }), (bytes) => {
        expect(toHex(hash(bytes))).toBe(toHex(keccak_256(bytes)))
      }),
    )
  })

  it('gives digests that the next call leaves alone', () => {
    const first = keccak256(Uint8Array.of(1))
    const text = keccakHex(Uint8Array.of(1))
    keccak256(Uint8Array.of(2))
    expect(toHex(first)).toBe(text)
    expect(text).toBe(toHex(keccak_256(Uint8Array.of(1))))
  })
})
