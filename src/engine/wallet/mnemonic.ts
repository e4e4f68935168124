/** Keys out of BIP-39 words. Loaded only when words are given: the word list costs a start that does not need it. */
import { createECDH, createHmac, pbkdf2Sync } from 'node:crypto'
import { validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { CURVE_ORDER } from '../../chain/signature.ts'
import { concat, fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { NodeError } from '../../errors.ts'

/** What BIP-32 adds to the index of a step that only the private key can take. */
const HARDENED = 0x8000_0000

/**
 * Where the keys of an account list stand below the seed: m/44'/60'/0'/0. The coin type is Ethereum's 60, not this
 * chain's 37310, so that client libraries which are given the same words come to the same accounts without being told
 * a path.
 */
const PATH = [HARDENED + 44, HARDENED + 60, HARDENED, 0]

/** A private key that others can be derived from (BIP-32). Both are 32 bytes. */
interface ParentKey {
  readonly key: Uint8Array
  readonly chainCode: Uint8Array
}

/** BIP-39's seed of words without a password: 64 bytes. */
function seedOf(phrase: string): Uint8Array {
  return pbkdf2Sync(phrase, 'mnemonic', 2048, 64, 'sha512')
}

function halves(secret: Uint8Array, data: Uint8Array): [Uint8Array, Uint8Array] {
  const mac = new Uint8Array(createHmac('sha512', secret).update(data).digest())
  return [mac.subarray(0, 32), mac.subarray(32)]
}

/** The key's point in the 33 bytes that steps to its children start from. */
function pointOf(key: Uint8Array): Uint8Array {
  const curve = createECDH('secp256k1')
  curve.setPrivateKey(key)
  return curve.getPublicKey(null, 'compressed')
}

/**
 * Makes a parent's children by index. The libraries for this compute a point for every child, in JavaScript, which for
 * a hundred accounts takes longer than all else that a node does to start.
 */
function childrenOf({ key, chainCode }: ParentKey): (index: number) => ParentKey {
  let point: Uint8Array | undefined
  return (index) => {
    if (index < HARDENED) point ??= pointOf(key)
    const prefix = index < HARDENED ? (point as Uint8Array) : concat(Uint8Array.of(0), key)
    const [tweak, childCode] = halves(chainCode, concat(prefix, fromBigIntFixed(BigInt(index), 4)))
    const child = (toBigInt(tweak) + toBigInt(key)) % CURVE_ORDER
    // Once in 2^127 keys; BIP-32 would go on to the next index.
    if (toBigInt(tweak) >= CURVE_ORDER || child === 0n) throw new Error(`no private key at index ${index}`)
    return { key: fromBigIntFixed(child, 32), chainCode: childCode }
  }
}

/** The first `count` private keys, 32 bytes each. Throws `invalid-options` when the words are not English BIP-39 ones or their checksum is wrong; the words are not repeated. */
export function deriveKeys(mnemonic: string, count: number): Uint8Array[] {
  const phrase = mnemonic.trim().toLowerCase().split(/\s+/).join(' ')
  if (!validateMnemonic(phrase, wordlist)) {
    throw new NodeError(
      'invalid-options',
      'mnemonic: not 12, 15, 18, 21 or 24 words of the English BIP-39 list with a correct checksum',
    )
  }
  const [key, chainCode] = halves(new TextEncoder().encode('Bitcoin seed'), seedOf(phrase))
  const parent = PATH.reduce<ParentKey>((from, index) => childrenOf(from)(index), { key, chainCode })
  const child = childrenOf(parent)
  return Array.from({ length: count }, (_, index) => child(index).key)
}
