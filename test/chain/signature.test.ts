import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import accounts from '../../fixtures/chain/local-accounts.json' with { type: 'json' }
import { loadNativeCurve, nobleCurve } from '../../src/chain/curve.ts'
import { addressOf, CURVE_ORDER, recoverAddress, recoverPublicKey, sign } from '../../src/chain/signature.ts'
import { fromBigIntFixed, toBigInt } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, toHex } from '../../src/encoding/hex.ts'
import { describeWith } from '../support/tools.ts'

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
const key = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }).map((value) => fromBigIntFixed(value, 32))

describe('the well-known local accounts', () => {
  it.each(accounts)('$seed', ({ seed, key, address }) => {
    const derived = keccak256(new TextEncoder().encode(seed))
    expect(toHex(derived)).toBe(key)
    expect(addressOf(derived)).toBe(address)
  })
})

describe('signing and recovering', () => {
  it('recovers the signer, with s in the lower half', () => {
    fc.assert(
      fc.property(hash, key, (hash, key) => {
        const { r, s, parity } = sign(hash, key)
        expect(s <= CURVE_ORDER / 2n).toBe(true)
        expect(recoverAddress(hash, r, s, parity)).toBe(addressOf(key))
      }),
      { numRuns: 50 },
    )
  })

  it('finds another address with the other parity, and none outside the range', () => {
    const digest = keccak256(Uint8Array.of(1))
    const secret = keccak256(Uint8Array.of(2))
    const { r, s, parity } = sign(digest, secret)
    expect(recoverAddress(digest, r, s, parity === 0 ? 1 : 0)).not.toBe(addressOf(secret))
    expect(recoverPublicKey(digest, r, s, parity)).toHaveLength(64)
    for (const bad of [0n, -1n, CURVE_ORDER, CURVE_ORDER + 1n, 1n << 256n]) {
      expect(recoverAddress(digest, bad, s, parity)).toBeUndefined()
      expect(recoverAddress(digest, r, bad, parity)).toBeUndefined()
    }
  })

  it('leaves keys that it returned before unchanged', () => {
    const keys = [11, 12].map((byte) => {
      const digest = keccak256(Uint8Array.of(byte))
      const { r, s, parity } = sign(digest, digest)
      const found = recoverPublicKey(digest, r, s, parity)
      return { found, copy: found?.slice(), own: nobleCurve.publicKey(digest) }
    })
    for (const { found, copy, own } of keys) {
      expect(found).toEqual(copy)
      expect(found).toEqual(own)
    }
  })

  it('accepts s in the upper half, which only transactions forbid', () => {
    const digest = keccak256(Uint8Array.of(3))
    const secret = keccak256(Uint8Array.of(4))
    const { r, s, parity } = sign(digest, secret)
    expect(recoverAddress(digest, r, CURVE_ORDER - s, parity === 0 ? 1 : 0)).toBe(addressOf(secret))
  })

  it('recovers no address when r is not the x-coordinate of a curve point', () => {
    // 5 is the least x for which x^3 + 7 is no square.
    expect(recoverAddress(keccak256(Uint8Array.of(5)), 5n, 1n, 0)).toBeUndefined()
  })

  it('refuses keys outside the range', () => {
    const digest = keccak256(Uint8Array.of(6))
    for (const bad of [new Uint8Array(32), fromBigIntFixed(CURVE_ORDER, 32), new Uint8Array(31).fill(1)]) {
      // `@noble/curves` has other words, where there is no native curve.
      const expected = (text: string) => (native === undefined ? Error : new Error(text))
      const length = 'Expected private key to be an Uint8Array with length 32'
      const isShort = bad.length < 32
      expect(() => sign(digest, bad)).toThrow(
        expected(isShort ? length : 'The nonce generation function failed, or the private key was invalid'),
      )
      expect(() => addressOf(bad)).toThrow(expected(isShort ? length : 'Private Key is invalid'))
    }
  })
})

const native = loadNativeCurve()
const addon = {
  name: 'native secp256k1',
  isThere: native !== undefined,
  install: 'npm ci --include=optional',
}
describeWith(addon, 'the loaded native implementation', () => {
  it('signs and recovers', () => {
    const bindings = createRequire(import.meta.url)('secp256k1/bindings.js') as Record<string, () => unknown>
    const spies = ['ecdsaSign', 'ecdsaRecover', 'publicKeyCreate'].map((name) => vi.spyOn(bindings, name))
    const [digest, one] = [keccak256(Uint8Array.of(7)), fromBigIntFixed(1n, 32)]
    const { r, s, parity } = sign(digest, one)
    expect(recoverAddress(digest, r, s, parity)).toBe(addressOf(one))
    for (const spy of spies) expect(spy).toHaveBeenCalledOnce()
    for (const spy of spies) spy.mockRestore()
  })

  it('agrees with noble, byte for byte', () => {
    fc.assert(
      fc.property(hash, key, (hash, key) => {
        const ours = native?.sign(hash, key)
        const theirs = nobleCurve.sign(hash, key)
        expect(ours).toEqual(theirs)
        expect(native?.publicKey(key)).toEqual(nobleCurve.publicKey(key))
        const parity = theirs.parity as 0 | 1
        expect(native?.recover(hash, theirs.compact, parity)).toEqual(
          nobleCurve.recover(hash, theirs.compact, parity),
        )
      }),
      { numRuns: 50 },
    )
  })

  it('refuses hashes and signatures of other lengths', () => {
    const digest = keccak256(Uint8Array.of(8))
    const { compact, parity } = nobleCurve.sign(digest, digest)
    const recover = (hash: Uint8Array, signature: Uint8Array) => () =>
      native?.recover(hash, signature, parity as 0 | 1)
    expect(recover(digest, compact)()).toEqual(nobleCurve.publicKey(digest))
    expect(recover(digest.subarray(1), compact)).toThrow(RangeError)
    expect(recover(digest, compact.subarray(1))).toThrow(RangeError)
    expect(recover(new Uint8Array(33), new Uint8Array(65))).toThrow(RangeError)
  })

  it('agrees with noble on random signatures, valid or not', () => {
    const orNone = (recover: () => Uint8Array | undefined) => {
      try {
        const found = recover()
        return found === undefined ? undefined : toHex(found)
      } catch {
        return undefined
      }
    }
    fc.assert(
      fc.property(
        hash,
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        fc.constantFrom<0 | 1>(0, 1),
        (hash, compact, parity) => {
          fc.pre(toBigInt(compact.subarray(0, 32)) < CURVE_ORDER)
          fc.pre(toBigInt(compact.subarray(32)) < CURVE_ORDER)
          expect(orNone(() => native?.recover(hash, compact, parity))).toBe(
            orNone(() => nobleCurve.recover(hash, compact, parity)),
          )
        },
      ),
      { numRuns: 50 },
    )
  })
})

it('recovers the sender of the example in EIP-155', () => {
  const digest = fromHex('0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53')
  const r = 0x28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276n
  const s = 0x67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83n
  expect(recoverAddress(digest, r, s, 0)).toBe('0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f')
})
