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

/** Bytes of the shortest CompactSize. */
export function compactSizeLength(value: number): number {
  if (value < 0xfd) return 1
  if (value <= 0xffff) return 3
  return value <= 0xffffffff ? 5 : 9
}

/** Bytes of a byte string with its length. */
export function stringLength({ length }: Uint8Array): number {
  return compactSizeLength(length) + length
}

/** Fills bytes of a known number: for what has many parts, each of which would be an array of its own. */
export class ByteWriter {
  readonly bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(length: number) {
    this.bytes = new Uint8Array(length)
    this.#view = new DataView(this.bytes.buffer)
  }

  raw(bytes: Uint8Array): void {
    if (bytes.length > 0) this.bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  uint32(value: number): void {
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  uint64(value: bigint): void {
    this.#view.setBigUint64(this.#at, BigInt.asUintN(64, value), true)
    this.#at += 8
  }

  compactSize(value: number): void {
    if (value < 0xfd) this.bytes[this.#at++] = value
    else this.raw(compactSize(value))
  }

  string(bytes: Uint8Array): void {
    this.compactSize(bytes.length)
    this.raw(bytes)
  }
}
