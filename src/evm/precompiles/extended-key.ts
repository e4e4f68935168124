/** Extended public keys of the parent chain and their children (BIP-32, the public half). */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { hash160 } from '../../bitcoin/hash.ts'
import { decodeBase58Check, encodeBase58Check } from '../../encoding/base58.ts'
import { concat, fromBigIntFixed, toBigInt, toNumber } from '../../encoding/bytes.ts'
import { PrecompileFailure } from './precompile.ts'

const { Point } = secp256k1

/** The first bytes of a serialized key, by what its text starts with: the parent chain's main and test networks. */
const VERSIONS: ReadonlyMap<string, number> = new Map([
  ['xpub', 0x0488b21e],
  ['tpub', 0x043587cf],
])
/** Characters of every serialized key with one of these versions. */
const TEXT_LENGTH = 111
const PAYLOAD_LENGTH = 78

/** The content of a serialized extended public key; its parent and number matter only in its text. */
export interface ExtendedPublicKey {
  readonly version: number
  /** Generations below the master key, 0 to 255. */
  readonly depth: number
  /** First 4 bytes of hash160 of the parent's public key. */
  readonly parentFingerprint: Uint8Array
  readonly childNumber: number
  readonly chainCode: Uint8Array
  readonly point: typeof Point.BASE
}

/** The key that an `xpub…` or `tpub…` text spells; throws PrecompileFailure on any other text, a bad checksum or a bad point. */
export function parseExtendedKey(text: string): ExtendedPublicKey {
  const version = VERSIONS.get(text.slice(0, 4))
  if (version === undefined || text.length !== TEXT_LENGTH)
    throw new PrecompileFailure('not an extended public key')
  try {
    const payload = decodeBase58Check(text)
    if (payload.length !== PAYLOAD_LENGTH || toNumber(payload.subarray(0, 4)) !== version) {
      throw new RangeError('foreign version or length')
    }
    return {
      version,
      depth: toNumber(payload.subarray(4, 5)),
      parentFingerprint: payload.subarray(5, 9),
      childNumber: toNumber(payload.subarray(9, 13)),
      chainCode: payload.subarray(13, 45),
      point: Point.fromBytes(payload.subarray(45)),
    }
  } catch {
    throw new PrecompileFailure('invalid extended public key')
  }
}

/** The child of a number below 2^31; throws PrecompileFailure for the one number in 2^127 that has none. */
export function deriveChild(parent: ExtendedPublicKey, childNumber: number): ExtendedPublicKey {
  const publicKey = parent.point.toBytes(true)
  const digest = hmac(sha512, parent.chainCode, concat(publicKey, fromBigIntFixed(BigInt(childNumber), 4)))
  const tweak = toBigInt(digest.subarray(0, 32))
  if (tweak >= Point.Fn.ORDER) throw new PrecompileFailure('underivable key')
  const point = tweak === 0n ? parent.point : Point.BASE.multiplyUnsafe(tweak).add(parent.point)
  if (point.is0()) throw new PrecompileFailure('underivable key')
  return {
    version: parent.version,
    // The text has one byte for the depth; the node lets it overflow.
    depth: (parent.depth + 1) % 256,
    parentFingerprint: hash160(publicKey).subarray(0, 4),
    childNumber,
    chainCode: digest.subarray(32),
    point,
  }
}

/** The text form, 111 characters. */
export function formatExtendedKey(key: ExtendedPublicKey): string {
  return encodeBase58Check(
    concat(
      fromBigIntFixed(BigInt(key.version), 4),
      Uint8Array.of(key.depth),
      key.parentFingerprint,
      fromBigIntFixed(BigInt(key.childNumber), 4),
      key.chainCode,
      key.point.toBytes(true),
    ),
  )
}
