/** 0x01000009: keys, scripts and addresses of the parent chain (RSKIP-106). */

import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hash160 } from '../../bitcoin/hash.ts'
import { multisig } from '../../bitcoin/redeem-script.ts'
import { encodeBase58Check } from '../../encoding/base58.ts'
import { compare, concat, toNumber } from '../../encoding/bytes.ts'
import { encodeBytes, readBytes, readBytesArray, readInt } from './abi.ts'
import { deriveChild, type ExtendedPublicKey, formatExtendedKey, parseExtendedKey } from './extended-key.ts'
import { methodContract, precompileMethod } from './method-contract.ts'
import { PrecompileFailure } from './precompile.ts'

const { Point } = secp256k1

const MAX_PATH_LEVELS = 10
const MAX_CHILD_NUMBER = 2n ** 31n - 1n
const MIN_KEYS = 2
/** A redeem script of more compressed keys would pass the parent chain's 520 bytes. */
const MAX_KEYS = 15
const COMPRESSED_LENGTH = 33
const UNCOMPRESSED_LENGTH = 65

/** Strings here have no use for anything but ASCII; other bytes become characters that no check lets pass. */
function asText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function encodeText(text: string): Uint8Array {
  return encodeBytes(Buffer.from(text, 'latin1'))
}

/**
 * Child numbers of `n/n/…`, at most ten, each a decimal below 2^31 and none hardened. The path begins with a digit;
 * later numbers may carry a sign, since the node's integer parser takes one, as long as the value is not negative.
 */
function parsePath(path: string): number[] {
  const levels = path.split('/')
  if (!/^[0-9]/.test(path) || levels.length > MAX_PATH_LEVELS) throw new PrecompileFailure('invalid path')
  return levels.map((level) => {
    const digits = /^(?:[+]?0*|-0*(?=0$))([0-9]{1,10})$/.exec(level)?.[1]
    if (digits === undefined || BigInt(digits) > MAX_CHILD_NUMBER) throw new PrecompileFailure('invalid path')
    return Number(digits)
  })
}

/** A public key of 33 or 65 bytes (also hybrid: 06 or 07 instead of 04) in compressed form; throws PrecompileFailure. */
function compressKey(key: Uint8Array): Uint8Array {
  try {
    if (key.length === COMPRESSED_LENGTH) return Point.fromBytes(key).toBytes(true)
    if (key.length !== UNCOMPRESSED_LENGTH) throw new RangeError('length')
    const form = key[0]
    const isHybrid = form === 6 || form === 7
    if (isHybrid && form % 2 !== toNumber(key.subarray(-1)) % 2) throw new RangeError('parity')
    return Point.fromBytes(isHybrid ? concat(Uint8Array.of(4), key.subarray(1)) : key).toBytes(true)
  } catch {
    throw new PrecompileFailure('invalid public key')
  }
}

/** hash160 of the m-of-n redeem script over the sorted compressed keys (BIP-11, BIP-16, BIP-67). */
function multisigScriptHash(required: bigint, keys: readonly Uint8Array[]): Uint8Array {
  const isValid =
    required >= 1n && required <= keys.length && keys.length >= MIN_KEYS && keys.length <= MAX_KEYS
  if (!isValid) throw new PrecompileFailure('invalid number of keys or signatures')
  return hash160(multisig(Number(required), keys.map(compressKey).sort(compare)))
}

/** All methods; results are `string`, `string`, `bytes` and `bytes`. */
export const hdWalletContract = methodContract([
  precompileMethod({
    signature: 'toBase58Check(bytes,int256)',
    decode: (data) => ({ hash: readBytes(data, 0), version: readInt(data, 32) }),
    gas: () => 13_000n,
    run({ hash, version }) {
      if (hash.length !== 20) throw new PrecompileFailure('the hash must have 20 bytes')
      if (version < 0n || version > 255n) throw new PrecompileFailure('the version must be a byte')
      return encodeText(encodeBase58Check(concat(Uint8Array.of(Number(version)), hash)))
    },
  }),
  precompileMethod({
    signature: 'deriveExtendedPublicKey(string,string)',
    decode: (data) => ({ key: readBytes(data, 0), path: readBytes(data, 32) }),
    gas: () => 107_000n,
    run({ key, path }) {
      const root: ExtendedPublicKey = parseExtendedKey(asText(key))
      return encodeText(formatExtendedKey(parsePath(asText(path)).reduce(deriveChild, root)))
    },
  }),
  precompileMethod({
    signature: 'extractPublicKeyFromExtendedPublicKey(string)',
    decode: (data) => readBytes(data, 0),
    gas: () => 11_300n,
    run: (key) => encodeBytes(parseExtendedKey(asText(key)).point.toBytes(true)),
  }),
  precompileMethod({
    signature: 'getMultisigScriptHash(int256,bytes[])',
    decode: (data) => ({ required: readInt(data, 0), keys: readBytesArray(data, 32) }),
    gas: ({ keys }) => 20_000n + 700n * BigInt(Math.max(keys.length - MIN_KEYS, 0)),
    run: ({ required, keys }) => encodeBytes(multisigScriptHash(required, keys)),
  }),
])
