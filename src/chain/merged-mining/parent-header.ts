/** The parent chain's 80-byte block header: its fields, its hash, and whether that meets our difficulty. */
import { doubleSha256 } from '../../encoding/hash.ts'

/** Bytes of a parent-chain header. */
export const PARENT_HEADER_BYTES = 80

/** A parent-chain header. Hashes are 32 bytes in raw order, the reverse of how they are displayed. */
export interface ParentHeader {
  readonly version: number
  readonly previousHash: Uint8Array
  readonly merkleRoot: Uint8Array
  /** Unix seconds. */
  readonly time: number
  /** Compact form of the parent chain's own target; not read here. */
  readonly bits: number
  readonly nonce: number
}

/** Offsets of the fields in the 80 bytes; integers are little-endian. */
export const PARENT_HEADER_OFFSET = { merkleRoot: 36, time: 68, bits: 72, nonce: 76 } as const

/** Writes the four bytes of an integer, the lowest first. A `DataView` would move a small array out of the heap. */
export function writeInteger(into: Uint8Array, at: number, value: number): void {
  into[at] = value
  into[at + 1] = value >>> 8
  into[at + 2] = value >>> 16
  into[at + 3] = value >>> 24
}

/** The 80 bytes of a parent-chain header. */
export function encodeParentHeader(header: ParentHeader): Uint8Array {
  const out = new Uint8Array(PARENT_HEADER_BYTES)
  writeInteger(out, 0, header.version)
  out.set(header.previousHash, 4)
  out.set(header.merkleRoot, PARENT_HEADER_OFFSET.merkleRoot)
  writeInteger(out, PARENT_HEADER_OFFSET.time, header.time)
  writeInteger(out, PARENT_HEADER_OFFSET.bits, header.bits)
  writeInteger(out, PARENT_HEADER_OFFSET.nonce, header.nonce)
  return out
}

/** Reads 80 bytes; throws a RangeError for any other length. */
export function decodeParentHeader(bytes: Uint8Array): ParentHeader {
  if (bytes.length !== PARENT_HEADER_BYTES) {
    throw new RangeError(`a parent-chain header has ${PARENT_HEADER_BYTES} bytes, not ${bytes.length}`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return {
    version: view.getUint32(0, true),
    previousHash: bytes.subarray(4, PARENT_HEADER_OFFSET.merkleRoot),
    merkleRoot: bytes.subarray(PARENT_HEADER_OFFSET.merkleRoot, PARENT_HEADER_OFFSET.time),
    time: view.getUint32(PARENT_HEADER_OFFSET.time, true),
    bits: view.getUint32(PARENT_HEADER_OFFSET.bits, true),
    nonce: view.getUint32(PARENT_HEADER_OFFSET.nonce, true),
  }
}

/** The largest hash, read as an integer, that proves work of this difficulty (docs/internals/protocol.md#23-proof-of-work). */
export function targetOf(difficulty: bigint): bigint {
  return 2n ** 256n / (difficulty <= 2n ? 3n : difficulty)
}

/** A parent-chain hash in raw order as an integer: its bytes are little-endian. */
export function hashValue(hash: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(hash).reverse().toString('hex')}`)
}

/**
 * Does a parent-chain header's hash prove work of our difficulty? Nothing else in it is looked at
 * (docs/internals/protocol.md#23-proof-of-work).
 */
export function meetsTarget(parentHeader: Uint8Array, difficulty: bigint): boolean {
  return hashValue(doubleSha256(parentHeader)) <= targetOf(difficulty)
}
