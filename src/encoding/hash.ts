/** Hash functions: WebAssembly where it loads, `@noble/hashes` as reference and fallback. */
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { createSHA256 } from 'hash-wasm'
import { KECCAK_BYTES, keccakOn } from '../wasm/keccak.ts'
import { createMemory, hasWebAssembly, PAGE } from '../wasm/web-assembly.ts'
import { type Hex, sliceHex, toHex } from './hex.ts'

const sha256Hasher = await createSHA256().catch(() => undefined)

/** Bytes of a hash. */
export const HASH_BYTES = 32

const DIGEST_AT = KECCAK_BYTES
const INPUT_AT = DIGEST_AT + 32
/** Longer input is hashed in a memory of its own that is collected afterwards: a memory never shrinks. */
const KEPT_INPUT = 1 << 20

/** Hashes input of up to `longest` bytes. The digest is a view that is valid until the next call. */
function createKeccak(longest: number): (bytes: Uint8Array) => Uint8Array {
  const memory = createMemory(Math.ceil((INPUT_AT + longest) / PAGE))
  const hash = keccakOn(memory)
  const all = new Uint8Array(memory.buffer)
  const digest = all.subarray(DIGEST_AT, DIGEST_AT + 32)
  return (bytes) => {
    all.set(bytes, INPUT_AT)
    hash(INPUT_AT, bytes.length, DIGEST_AT)
    return digest
  }
}

const keptKeccak = hasWebAssembly ? createKeccak(KEPT_INPUT) : keccak_256

function keccak(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  return length <= KEPT_INPUT || !hasWebAssembly ? keptKeccak(bytes) : createKeccak(length)(bytes)
}

/** keccak-256, 32 bytes. Synchronous. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak(bytes).slice()
}

/** keccak-256 as `0x` text. */
export function keccakHex(bytes: Uint8Array): Hex {
  return toHex(keccak(bytes))
}

/** The bytes of the keccak-256 from `start` on as `0x` text. */
export function keccakHexFrom(bytes: Uint8Array, start: number): Hex {
  return sliceHex(keccak(bytes), start, 32)
}

/** SHA-256, 32 bytes. */
export const sha256: (bytes: Uint8Array) => Uint8Array =
  sha256Hasher === undefined ? nobleSha256 : (bytes) => sha256Hasher.init().update(bytes).digest('binary')

/** SHA-256 of SHA-256, as the parent chain hashes its headers and transactions; raw byte order. */
export function doubleSha256(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes))
}
