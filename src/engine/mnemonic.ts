/** Keys out of BIP-39 words. Loaded only when words are given: the word list and the derivation cost a start that does not need them. */
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { NodeError } from '../errors.ts'

/**
 * Where the keys of an account list stand below the seed. The coin type is Ethereum's 60, not this chain's 37310, so
 * that client libraries which are given the same words come to the same accounts without being told a path.
 */
const PATH = "m/44'/60'/0'/0"

/** The first `count` private keys, 32 bytes each. Throws `invalid-options` when the words are not English BIP-39 ones or their checksum is wrong; the words are not repeated. */
export function deriveKeys(mnemonic: string, count: number): Uint8Array[] {
  const phrase = mnemonic.trim().toLowerCase().split(/\s+/).join(' ')
  if (!validateMnemonic(phrase, wordlist)) {
    throw new NodeError(
      'invalid-options',
      'mnemonic: not 12, 15, 18, 21 or 24 words of the English BIP-39 list with a correct checksum',
    )
  }
  const parent = HDKey.fromMasterSeed(mnemonicToSeedSync(phrase)).derive(PATH)
  return Array.from({ length: count }, (_, index) => {
    const { privateKey } = parent.deriveChild(index)
    if (privateKey === null) throw new Error(`no private key at ${PATH}/${index}`)
    return privateKey
  })
}
