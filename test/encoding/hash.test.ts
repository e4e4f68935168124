/** Our keccak-256 against that of another. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keccak256, keccakHexFrom } from '../../src/encoding/hash.ts'
import { toHex } from '../../src/encoding/hex.ts'

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 0xff)

describe('keccak-256', () => {
  it('hashes inputs of all lengths up to some blocks', () => {
    for (let length = 0; length <= 600; length++) {
      expect(keccak256(bytes(length)), `${length} bytes`).toEqual(keccak_256(bytes(length)))
    }
  })

  it('hashes inputs longer than its initial memory, and short ones after them', () => {
    for (const length of [70_000, 64, 1_000_001, 0, 135, 136]) {
      expect(keccak256(bytes(length))).toEqual(keccak_256(bytes(length)))
    }
  })

  it('hashes any bytes, also a view of a larger array, and leaves earlier digests unchanged', () => {
    let before = { input: new Uint8Array(), digest: keccak256(new Uint8Array()) }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), fc.nat(20), (array, start) => {
        const input = array.subarray(start)
        const digest = keccak256(input)
        expect(digest).toEqual(keccak_256(input))
        expect(keccakHexFrom(input, start)).toBe(toHex(digest.subarray(start)))
        expect(before.digest).toEqual(keccak_256(before.input))
        before = { input, digest }
      }),
      { numRuns: 500, seed: 3 },
    )
  })
})
