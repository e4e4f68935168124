import { Wallet } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { personalMessageHash, recoverSigner, signHash } from '../../src/chain/message-signature.ts'
import { addressOf } from '../../src/chain/signature.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { toHex } from '../../src/encoding/hex.ts'

/** Keys with a first byte below the order's, and not zero. */
const key = fc.uint8Array({ minLength: 31, maxLength: 31 }).map((bytes) => concat(Uint8Array.of(0x7f), bytes))

describe('signatures over personal messages', () => {
  it('equal those of ethers, and recover to the signer', async () => {
    await fc.assert(
      fc.asyncProperty(key, fc.uint8Array({ maxLength: 300 }), async (key, message) => {
        const hash = personalMessageHash(message)
        const signature = signHash(hash, key)
        expect(toHex(signature)).toBe(await new Wallet(toHex(key)).signMessage(message))
        expect(recoverSigner(hash, signature)).toBe(addressOf(key))
        const [rs, v] = [signature.subarray(0, 64), signature[64] as number]
        expect(recoverSigner(hash, concat(rs, Uint8Array.of(v - 27)))).toBe(addressOf(key))
      }),
      { numRuns: 40 },
    )
  })

  it('recover no address when they are too short, have an unknown v or are not valid', () => {
    const hash = personalMessageHash(Uint8Array.of(1))
    const signature = signHash(hash, new Uint8Array(32).fill(7))
    const ending = (v: number) => concat(signature.subarray(0, 64), Uint8Array.of(v))
    for (const broken of [
      signature.subarray(0, 64),
      new Uint8Array(0),
      ending(2),
      ending(26),
      ending(29),
      new Uint8Array(65),
      new Uint8Array(65).fill(0xff),
    ]) {
      expect(recoverSigner(hash, broken)).toBeUndefined()
    }
  })
})
