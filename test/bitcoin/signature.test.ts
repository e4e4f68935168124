/** Signatures against bitcoinjs-lib and the curve library; malformed DER as BouncyCastle reads it. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compressedKey,
  decodeDer,
  encodeDer,
  encodeForInput,
  isLowS,
  isSignedBy,
} from '../../src/bitcoin/signature.ts'
import { concat, toBigInt } from '../../src/encoding/bytes.ts'
import { library } from './library.ts'

const key = new Uint8Array(32).fill(7)
const publicKey = secp256k1.getPublicKey(key)
const ORDER = secp256k1.Point.Fn.ORDER

describe('signatures', () => {
  it('are written as bitcoinjs-lib writes them, read back, and verified', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (hash) => {
        const compact = secp256k1.sign(hash, key, { prehash: false, lowS: true })
        const signature = { r: toBigInt(compact.subarray(0, 32)), s: toBigInt(compact.subarray(32)) }
        expect(encodeForInput(signature)).toEqual(new Uint8Array(library.script.signature.encode(compact, 1)))
        expect(decodeDer(concat(encodeDer(signature), Uint8Array.of(1)))).toEqual(signature)
        expect(isLowS(signature)).toBe(true)
        expect(isSignedBy(hash, signature, publicKey)).toBe(true)
        const high = { ...signature, s: ORDER - signature.s }
        expect(isLowS(high)).toBe(false)
        expect(isSignedBy(hash, high, publicKey)).toBe(true)
        expect(isSignedBy(hash, { ...signature, r: signature.r + 1n }, publicKey)).toBe(false)
      }),
      { numRuns: 10 },
    )
  })

  it('outside the order, and keys off the curve, verify nothing', () => {
    for (const [r, s] of [
      [0n, 1n],
      [1n, 0n],
      [ORDER, 1n],
      [1n, ORDER],
    ] as const) {
      expect(isSignedBy(new Uint8Array(32), { r, s }, publicKey)).toBe(false)
    }
    expect(isSignedBy(new Uint8Array(32), { r: 1n, s: 1n }, new Uint8Array(33))).toBe(false)
    expect(compressedKey(new Uint8Array(33))).toBeUndefined()
    expect(compressedKey(secp256k1.getPublicKey(key, false))).toEqual(publicKey)
  })

  it('are read from long lengths, as unsigned integers, and with more after them', () => {
    const wanted = { r: 0x80n, s: 5n }
    for (const bytes of [
      [0x30, 7, 2, 2, 0, 0x80, 2, 1, 5],
      [0x30, 6, 2, 1, 0x80, 2, 1, 5, 9, 9],
      [0x30, 0x81, 7, 2, 0x81, 1, 0x80, 2, 1, 5],
    ]) {
      expect(decodeDer(Uint8Array.from(bytes))).toEqual(wanted)
    }
  })

  it.each([
    [[], 'DER ends too early'],
    [[0x31, 0], 'not DER of two integers'],
    [[0x30, 3, 2, 1, 5], 'DER ends too early'],
    [[0x30, 7, 2, 1, 5], 'DER ends too early'],
    [[0x30, 6, 2, 1, 5, 4, 1, 5], 'not DER of two integers'],
    [[0x30, 5, 2, 0, 2, 1, 5], 'DER with a malformed integer'],
    [[0x30, 7, 2, 2, 0, 5, 2, 1, 5], 'DER with a malformed integer'],
    [[0x30, 7, 2, 2, 0xff, 0x85, 2, 1, 5], 'DER with a malformed integer'],
    [[0x30, 0x80, 2, 1, 5, 2, 1, 5, 0, 0], 'DER with a malformed length'],
  ])('are not %o', (bytes, message) => {
    expect(() => decodeDer(Uint8Array.from(bytes))).toThrow(new RangeError(message))
  })
})
