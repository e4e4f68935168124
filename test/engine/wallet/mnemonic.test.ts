import { HDKey } from '@scure/bip32'
import { entropyToMnemonic, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../src/encoding/hex.ts'
import { deriveKeys } from '../../../src/engine/wallet/mnemonic.ts'

describe('keys from a mnemonic', () => {
  it('equal those of BIP-39 and BIP-32, whatever the words', () => {
    const entropy = fc.constantFrom(16, 24, 32).chain((length) => {
      return fc.uint8Array({ minLength: length, maxLength: length })
    })
    fc.assert(
      fc.property(entropy, (bytes) => {
        const words = entropyToMnemonic(bytes, wordlist)
        const parent = HDKey.fromMasterSeed(mnemonicToSeedSync(words)).derive("m/44'/60'/0'/0")
        const expected = [0, 1, 2].map((index) => toHex(parent.deriveChild(index).privateKey as Uint8Array))
        expect(deriveKeys(words, 3).map(toHex)).toEqual(expected)
      }),
      { numRuns: 10 },
    )
  })
})
