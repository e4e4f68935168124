/** Writes Bitcoin's serializations: little-endian integers, CompactSize, byte strings. */
import { concat } from '../encoding/bytes.ts'

/** The low 32 bits, lowest byte first. */
export function uint32(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24)
}

/** The low 64 bits, lowest byte first. */
export function uint64(value: bigint): Uint8Array {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigUint64(0, BigInt.asUintN(64, value), true)
  return out
}

/** The shortest CompactSize of a number below 2^64. */
export function compactSize(value: bigint | number): Uint8Array {
  const number = Number(value)
  if (number < 0xfd) return Uint8Array.of(number)
  if (number <= 0xffff) return Uint8Array.of(0xfd, number, number >>> 8)
  if (number <= 0xffffffff) return concat(Uint8Array.of(0xfe), uint32(number))
  return concat(Uint8Array.of(0xff), uint64(BigInt(value)))
}

/** A byte string after its length. */
export function byteString(bytes: Uint8Array): Uint8Array {
  return concat(compactSize(bytes.length), bytes)
}
