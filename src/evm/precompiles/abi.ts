/** Arguments and results of precompiled methods, as the reference node reads and writes them: its oddities are consensus. */
import { concat, EMPTY, fromBigIntFixed, toBigInt, wordAt } from '../../encoding/bytes.ts'

const WORD = 32

/** `size` bytes from `from`; throws a RangeError unless the data hold them all. */
function take(data: Uint8Array, from: number, size: number): Uint8Array {
  if (from < 0 || size < 0 || from + size > data.length) throw new RangeError('argument outside the data')
  return data.subarray(from, from + size)
}

/** An int256 at `offset`. Data of no bytes at all hold nothing but zeros; otherwise the word must be there. */
export function readInt(data: Uint8Array, offset: number): bigint {
  return data.length === 0 ? 0n : BigInt.asIntN(256, toBigInt(take(data, offset, WORD)))
}

/** A length or position: the node looks at the low 32 bits of the word only, as a signed integer. */
function readIndex(data: Uint8Array, offset: number): number {
  if (data.length === 0) return 0
  // Lists may have millions of them, and are read before anything is paid.
  return wordAt(take(data, offset, WORD), WORD - 4)
}

/** Where a dynamic argument is, by its head: of that word the node takes what the data hold, and zeros for the rest. */
function readHead(data: Uint8Array, head: number): number {
  if (head > data.length) throw new RangeError('argument outside the data')
  const end = head + WORD - 4
  return data.length >= head + WORD
    ? wordAt(data, end)
    : wordAt(concat(data.subarray(end), new Uint8Array(4)), 0)
}

/** A `bytes32` at `offset`. Throws a RangeError when it is not all there. */
export function readWord(data: Uint8Array, offset: number): Uint8Array {
  return take(data, offset, WORD)
}

function readBytesAt(data: Uint8Array, offset: number): Uint8Array {
  const length = readIndex(data, offset)
  return take(data, offset + WORD, length)
}

/** `bytes` or the UTF-8 of a `string`, whose position stands in the word at `head`. Throws a RangeError when it is not all there. */
export function readBytes(data: Uint8Array, head: number): Uint8Array {
  return readBytesAt(data, readHead(data, head))
}

function readArray(
  data: Uint8Array,
  head: number,
  readMember: (first: number, index: number) => Uint8Array,
): readonly Uint8Array[] {
  if (data.length === 0) return []
  const start = readHead(data, head)
  const count = readIndex(data, start)
  const first = start + WORD
  // One byte a member is all that is asked of the count itself; the members then check themselves.
  take(data, first, count)
  return Array.from({ length: count }, (_, i) => readMember(first, i))
}

/** `bytes[]`, whose position stands in the word at `head`. Throws a RangeError when it is not all there. */
export function readBytesArray(data: Uint8Array, head: number): readonly Uint8Array[] {
  return readArray(data, head, (first, i) => readBytesAt(data, first + readIndex(data, first + WORD * i)))
}

/** `bytes32[]`, whose position stands in the word at `head`. Throws a RangeError when it is not all there. */
export function readWordArray(data: Uint8Array, head: number): readonly Uint8Array[] {
  return readArray(data, head, (first, i) => readWord(data, first + WORD * i))
}

/** One `bytes` or `string` result. Nothing still takes a word of padding, so an empty result is 96 bytes long. */
export function encodeBytes(bytes: Uint8Array): Uint8Array {
  const padding = bytes.length === 0 ? WORD : -bytes.length & (WORD - 1)
  return concat(
    encodeUnsigned(BigInt(WORD)),
    encodeUnsigned(BigInt(bytes.length)),
    bytes,
    padding === 0 ? EMPTY : new Uint8Array(padding),
  )
}

/** One signed integer result, a word in two's complement. */
export function encodeInt(value: bigint | number): Uint8Array {
  return encodeUnsigned(BigInt.asUintN(256, BigInt(value)))
}

/** One unsigned integer result, a word. */
export function encodeUnsigned(value: bigint): Uint8Array {
  return fromBigIntFixed(value, WORD)
}
