/** Derives keys from BIP-39 words. Imported on demand: loading the word list takes time at start. */
import { createECDH, createHmac, pbkdf2Sync } from 'node:crypto'
import { entropyToMnemonic, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { CURVE_ORDER } from '../../chain/signature.ts'
import { concat, fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { NodeError } from '../../errors.ts'

/** Added to the index of a hardened child (BIP-32). */
const HARDENED = 0x8000_0000

/**
 * Derivation path of the accounts' parent. The coin type is Ethereum's 60, not this chain's 37310, so that client
 * libraries derive the same accounts from the same words with their default path.
 */
const PATH = "m/44'/60'/0'/0/"

/** The indexes of a path such as `m/44'/60'/0'/0/`. */
function indexesOf(path: string): number[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== 'm')
  return parts.map((part) => Number.parseInt(part, 10) + (part.endsWith("'") ? HARDENED : 0))
}

/** An extended private key (BIP-32). Both members are 32 bytes. */
interface ParentKey {
  readonly key: Uint8Array
  readonly chainCode: Uint8Array
}

/** The BIP-39 seed of a mnemonic without a password: 64 bytes. */
function seedOf(phrase: string): Uint8Array {
  return pbkdf2Sync(phrase, 'mnemonic', 2048, 64, 'sha512')
}

function halves(secret: Uint8Array, data: Uint8Array): [Uint8Array, Uint8Array] {
  const mac = new Uint8Array(createHmac('sha512', secret).update(data).digest())
  return [mac.subarray(0, 32), mac.subarray(32)]
}

/** The compressed public key of a private key: 33 bytes. */
function pointOf(key: Uint8Array): Uint8Array {
  const curve = createECDH('secp256k1')
  curve.setPrivateKey(key)
  return curve.getPublicKey(null, 'compressed')
}

/**
 * Derives a parent's children by index. `@scure/bip32`, which the tests compare with, computes each child's public key in
 * JavaScript as well: the first ten accounts of a process take 80 to 100 ms of processor time instead of 8.
 */
function childrenOf({ key, chainCode }: ParentKey): (index: number) => ParentKey {
  let point: Uint8Array | undefined
  return (index) => {
    if (index < HARDENED) point ??= pointOf(key)
    const prefix = index < HARDENED ? (point as Uint8Array) : concat(Uint8Array.of(0), key)
    const [tweak, childCode] = halves(chainCode, concat(prefix, fromBigIntFixed(BigInt(index), 4)))
    const child = (toBigInt(tweak) + toBigInt(key)) % CURVE_ORDER
    // Once in 2^127 keys; BIP-32 would continue with the next index.
    if (toBigInt(tweak) >= CURVE_ORDER || child === 0n) throw new Error(`no private key at index ${index}`)
    return { key: fromBigIntFixed(child, 32), chainCode: childCode }
  }
}

/**
 * The first `count` private keys below a path, 32 bytes each. Throws `invalid-options` when the words are not English BIP-39 words or
 * their checksum is wrong; the error message does not contain the words.
 */
export function deriveKeys(mnemonic: string, count: number, path = PATH): Uint8Array[] {
  const phrase = mnemonic.trim().toLowerCase().split(/\s+/).join(' ')
  if (!validateMnemonic(phrase, wordlist)) {
    throw new NodeError(
      'invalid-options',
      'mnemonic: not 12, 15, 18, 21 or 24 words of the English BIP-39 list with a correct checksum',
    )
  }
  const [key, chainCode] = halves(new TextEncoder().encode('Bitcoin seed'), seedOf(phrase))
  const parent = indexesOf(path).reduce<ParentKey>((from, index) => childrenOf(from)(index), {
    key,
    chainCode,
  })
  const child = childrenOf(parent)
  return Array.from({ length: count }, (_, index) => child(index).key)
}

/** The words for 16 to 32 bytes of entropy. */
export function mnemonicOf(entropy: Uint8Array): string {
  return entropyToMnemonic(entropy, wordlist)
}
