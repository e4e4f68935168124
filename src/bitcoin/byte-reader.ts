/** Reads Bitcoin's serializations: little-endian integers, CompactSize, byte strings. */
import { EMPTY } from '../encoding/bytes.ts'

/** A position in bytes; every read throws a RangeError when the bytes end before it does. */
export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#at = at
  }

  /** Bytes read so far, counted from the first. */
  get position(): number {
    return this.#at
  }

  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  byte(): number {
    return this.#view.getUint8(this.#skip(1))
  }

  uint16(): number {
    return this.#view.getUint16(this.#skip(2), true)
  }

  uint32(): number {
    return this.#view.getUint32(this.#skip(4), true)
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.#skip(8), true)
  }

  /** A CompactSize; longer forms of small numbers count. */
  compactSize(): bigint {
    const first = this.byte()
    if (first < 0xfd) return BigInt(first)
    if (first === 0xfd) return BigInt(this.uint16())
    if (first === 0xfe) return BigInt(this.uint32())
    return BigInt.asUintN(64, this.int64())
  }

  /** A CompactSize that counts things of at least `size` bytes, which must all fit the rest. */
  count(size: number): number {
    // Nearly all are one byte: a transaction may have a million.
    const count = (this.#bytes[this.#at] ?? 0) < 0xfd ? this.byte() : Number(this.compactSize())
    if (count * size > this.remaining) throw new RangeError('a count exceeds the bytes that follow')
    return count
  }

  /** A part of the bytes: not to be written to. */
  bytes(length: number): Uint8Array {
    const start = this.#skip(length)
    return length === 0 ? EMPTY : this.#bytes.subarray(start, start + length)
  }

  /** A byte string after its length. */
  string(): Uint8Array {
    return this.bytes(this.count(1))
  }

  #skip(length: number): number {
    if (length > this.remaining) throw new RangeError('the bytes end too early')
    const start = this.#at
    this.#at += length
    return start
  }
}
