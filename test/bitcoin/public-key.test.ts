/** Public keys in every encoding, against those of noble. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePublicKey } from '../../src/bitcoin/public-key.ts'
import { concat } from '../../src/encoding/bytes.ts'

const keys = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((key) => secp256k1.utils.isValidSecretKey(key))

describe('a public key', () => {
  it('is read from its compressed, uncompressed and hybrid form', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const compressed = secp256k1.getPublicKey(key, true)
        const uncompressed = secp256k1.getPublicKey(key, false)
        const point = uncompressed.slice(1)
        const parity = (uncompressed.at(-1) ?? 0) & 1
        expect(decodePublicKey(compressed)).toEqual({ point, bytes: compressed, isCompressed: true })
        const plain = { point, bytes: uncompressed, isCompressed: false }
        expect(decodePublicKey(uncompressed)).toEqual(plain)
        expect(decodePublicKey(concat(Uint8Array.of(6 + parity), point))).toEqual(plain)
        expect(decodePublicKey(concat(Uint8Array.of(7 - parity), point))).toBeUndefined()
        for (const first of [0, 2, 3, 5, 8]) {
          expect(decodePublicKey(concat(Uint8Array.of(first), point))).toBeUndefined()
        }
      }),
      { numRuns: 20 },
    )
  })

  it('may be the point at infinity', () => {
    const infinity = { point: new Uint8Array(0), bytes: new Uint8Array(1), isCompressed: false }
    expect(decodePublicKey(new Uint8Array(1))).toEqual(infinity)
  })

  it('is none in other bytes', () => {
    expect(decodePublicKey(new Uint8Array(0))).toBeUndefined()
    expect(decodePublicKey(new Uint8Array(33))).toBeUndefined()
    const beyond = concat(Uint8Array.of(2), new Uint8Array(32).fill(0xff))
    expect(decodePublicKey(beyond)).toBeUndefined()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        const key = decodePublicKey(bytes)
        if (key === undefined) return
        expect([0, 64]).toContain(key.point.length)
      }),
    )
  })
})
