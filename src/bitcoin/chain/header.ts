/** Block headers of 80 bytes, their targets and work. */
import { concat, toBigInt } from '../../encoding/bytes.ts'
import { doubleSha256, HASH_BYTES } from '../../encoding/hash.ts'
import { ByteReader } from '../byte-reader.ts'
import { reversed } from '../hash.ts'
import { uint32 } from '../serialization.ts'

/** A header; hashes in raw order. */
export interface Header {
  readonly version: number
  /** Of the parent. */
  readonly previous: Uint8Array
  readonly merkleRoot: Uint8Array
  /** Seconds since 1970. */
  readonly time: number
  /** Target in compact form. */
  readonly bits: number
  readonly nonce: number
}

/** Bytes of a header. */
export const HEADER_BYTES = 80

/** Reads a header; throws a RangeError when the bytes end within it. */
export function readHeader(reader: ByteReader): Header {
  return {
    version: reader.uint32() | 0,
    previous: reader.bytes(HASH_BYTES),
    merkleRoot: reader.bytes(HASH_BYTES),
    time: reader.uint32(),
    bits: reader.uint32(),
    nonce: reader.uint32(),
  }
}

/** The header in bytes; throws a RangeError for fewer than 80. */
export function decodeHeader(bytes: Uint8Array): Header {
  return readHeader(new ByteReader(bytes))
}

/** 80 bytes. */
export function encodeHeader({ version, previous, merkleRoot, time, bits, nonce }: Header): Uint8Array {
  return concat(uint32(version), previous, merkleRoot, uint32(time), uint32(bits), uint32(nonce))
}

/** The block's hash, raw order. */
export function hashOfHeader(header: Header): Uint8Array {
  return doubleSha256(encodeHeader(header))
}

/** The highest hash that a compact form allows, as an integer; 0 for one that is negative or too large. */
export function targetOf(bits: number): bigint {
  const size = bits >>> 24
  const digits = BigInt(bits & 0x7fffff)
  if ((bits & 0x800000) !== 0) return 0n
  const target = size <= 3 ? digits >> BigInt(8 * (3 - size)) : digits << BigInt(8 * (size - 3))
  return target >> 256n === 0n ? target : 0n
}

/** Hashes that it takes on average to find a block of the target. */
export function workOf(bits: number): bigint {
  return (1n << 256n) / (targetOf(bits) + 1n)
}

/** Is the hash (raw order) at most the target? */
export function meetsTarget(hash: Uint8Array, bits: number): boolean {
  const target = targetOf(bits)
  return target > 0n && toBigInt(reversed(hash)) <= target
}

/** The header with the first nonce that meets its target. Throws a RangeError when none does. */
export function mined(header: Header): Header {
  for (let nonce = 0; nonce <= 0xffffffff; nonce++) {
    const tried = { ...header, nonce }
    if (meetsTarget(hashOfHeader(tried), header.bits)) return tried
  }
  throw new RangeError('no nonce meets the target')
}
