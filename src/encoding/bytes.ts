/** Byte strings: joining, comparing, padding, and big-endian integers. */

/** The byte string of length zero; shared, never written to. */
export const EMPTY = new Uint8Array(0)

const SINGLE_BYTES = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))

/** The byte string of a number's lowest byte; shared, never written to. */
export function oneByte(value: number): Uint8Array {
  return SINGLE_BYTES[value & 0xff] as Uint8Array
}

/** Bytes of an array that many byte strings share. */
const SHARED = 16 << 10
let shared = new ArrayBuffer(SHARED)
let taken = 0

/** Arrays up to this many bytes lie on the JavaScript heap. */
const ON_HEAP = 64

/**
 * Zeros to write an encoding into that is hashed, stored or sent soon. Allocating an array of more than `ON_HEAP` bytes
 * takes as long as filling it. Copy out what is kept for long, since it keeps the shared array in memory.
 */
export function roomFor(length: number): Uint8Array {
  if (length <= ON_HEAP || length > SHARED >> 3) return new Uint8Array(length)
  if (taken + length > SHARED) {
    shared = new ArrayBuffer(SHARED)
    taken = 0
  }
  const room = new Uint8Array(shared, taken, length)
  taken += length
  return room
}

/** Joins byte strings in order into a new one. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return join(parts)
}

/** `concat` of a list, which may be longer than the arguments of a function. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const out = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

/** Do both hold the same bytes? */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  const { length } = a
  if (length !== b.length) return false
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Unsigned lexicographic order: negative when `a` sorts first. */
export function compare(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Zero bytes in front until `length` is reached; throws a RangeError when the input is longer. */
export function padLeft(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length === length) return bytes
  if (bytes.length > length) throw new RangeError(`${bytes.length} bytes do not fit ${length}`)
  const out = new Uint8Array(length)
  out.set(bytes, length - bytes.length)
  return out
}

/** The bytes without leading zero bytes; all zeros give the empty string. */
export function stripZeros(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length && bytes[start] === 0) start++
  return start === 0 ? bytes : bytes.subarray(start)
}

/** A word of 32 bytes; written and read out within one call. Going through text takes several times as long. */
const word = new Uint8Array(32)
const quarters = new DataView(word.buffer)

/** Unsigned big-endian bytes to an integer; empty is 0. */
export function toBigInt(bytes: Uint8Array): bigint {
  const { length } = bytes
  if (length <= 6) return BigInt(toNumber(bytes))
  if (length > word.length) {
    return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('hex')}`)
  }
  const start = word.length - length
  let at = start & ~7
  word.fill(0, at, start)
  word.set(bytes, start)
  let value = quarters.getBigUint64(at)
  for (at += 8; at < word.length; at += 8) value = (value << 64n) | quarters.getBigUint64(at)
  return value
}

/** Unsigned big-endian bytes (at most 6) to a safe integer. */
export function toNumber(bytes: Uint8Array): number {
  if (bytes.length > 6) throw new RangeError(`${bytes.length} bytes exceed a safe integer`)
  let value = 0
  for (let i = 0; i < bytes.length; i++) value = value * 256 + (bytes[i] ?? 0)
  return value
}

/** Four bytes, the highest first, as a number of 32 bits with a sign. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)
  )
}

/** Unsigned minimal big-endian bytes; 0 is the empty string. Throws a RangeError below zero. */
export function fromBigInt(value: bigint): Uint8Array {
  if (value < 0n) throw new RangeError('negative integer')
  if (value === 0n) return EMPTY
  let at = word.length
  for (let rest = value; rest !== 0n; rest >>= 64n) {
    if (at === 0) {
      const hex = value.toString(16)
      return new Uint8Array(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'))
    }
    at -= 8
    quarters.setBigUint64(at, rest)
  }
  while (word[at] === 0) at++
  return word.slice(at)
}

const LOW_64 = (1n << 64n) - 1n

/** Writes an unsigned integer below 2^256 as 32 big-endian bytes; there must be room. (`setBigUint64` keeps the low 64 bits.) */
export function writeWord(view: DataView, offset: number, word: bigint): void {
  if (word <= LOW_64) {
    view.setFloat64(offset, 0)
    view.setFloat64(offset + 8, 0)
    view.setFloat64(offset + 16, 0)
    view.setBigUint64(offset + 24, word)
    return
  }
  view.setBigUint64(offset, word >> 192n)
  view.setBigUint64(offset + 8, word >> 128n)
  view.setBigUint64(offset + 16, word >> 64n)
  view.setBigUint64(offset + 24, word)
}

/** Unsigned big-endian bytes of a fixed width; throws a RangeError when it does not fit. */
export function fromBigIntFixed(value: bigint, length: number): Uint8Array {
  return padLeft(fromBigInt(value), length)
}

/** Minimal two's complement: a leading 00 keeps the sign bit of a positive integer clear, and 0 is one 00 byte. */
export function fromBigIntSigned(value: bigint): Uint8Array {
  if (value < 0n) {
    const bits = 8 * Math.ceil(((-value - 1n).toString(2).length + 1) / 8)
    return fromBigInt(BigInt.asUintN(bits, value))
  }
  const bytes = fromBigInt(value)
  const first = bytes[0]
  if (first === undefined) return oneByte(0)
  return first >= 0x80 ? concat(oneByte(0), bytes) : bytes
}

/** The integer in two's complement; no bytes are 0. */
export function toBigIntSigned(bytes: Uint8Array): bigint {
  const value = toBigInt(bytes)
  return (bytes[0] ?? 0) < 0x80 ? value : BigInt.asIntN(8 * bytes.length, value)
}

/** How many of the bytes are zero. By index, which V8 runs faster than an iterator. */
export function countZeros(bytes: Uint8Array): number {
  let zeros = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) zeros++
  return zeros
}
