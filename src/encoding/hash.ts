/** Hash functions: WebAssembly where it loads, `@noble/hashes` as reference and fallback. */
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { createSHA256, type IHasher } from 'hash-wasm'
import { type Hex, toHex } from './hex.ts'
import { createKeccak256 } from './keccak.ts'
import { hasWebAssembly } from './web-assembly.ts'

/** The digest may be a view that is valid until the next call. */
const keccak = hasWebAssembly ? createKeccak256() : keccak_256
const sha256Hasher = await createSHA256().catch(() => undefined)

function run(hasher: IHasher, bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest('binary')
}

/** keccak-256, 32 bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak(bytes).slice()
}

/** keccak-256 as `0x` text. */
export function keccakHex(bytes: Uint8Array): Hex {
  return toHex(keccak(bytes))
}

/** SHA-256, 32 bytes. */
export const sha256: (bytes: Uint8Array) => Uint8Array =
  sha256Hasher === undefined ? nobleSha256 : (bytes) => run(sha256Hasher, bytes)

/** SHA-256 of SHA-256, as the parent chain hashes its headers and transactions; raw byte order. */
export function doubleSha256(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes))
}
