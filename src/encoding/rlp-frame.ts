/** RLP written around bytes that are at hand: strings, and lists whose items are encoded already. */
const STRING = 0x80
const LIST = 0xc0
/** Payloads up to this many bytes have their length in the first byte. */
const SHORT = 55

function lengthBytes(length: number): number {
  if (length < 0x100) return 1
  if (length < 0x1_0000) return 2
  return length < 0x100_0000 ? 3 : 4
}

/** How many bytes a payload of `length` bytes takes as a list, or as a string of two bytes or more. */
export function framedLength(length: number): number {
  return length + 1 + (length <= SHORT ? 0 : lengthBytes(length))
}

/** Writes the prefix of a payload at `at` and tells where the payload goes. */
function writePrefix(out: Uint8Array, at: number, kind: typeof STRING | typeof LIST, length: number): number {
  if (length <= SHORT) {
    out[at] = kind + length
    return at + 1
  }
  const width = lengthBytes(length)
  out[at] = kind + SHORT + width
  for (let i = 0; i < width; i++) out[at + width - i] = (length >>> (8 * i)) & 0xff
  return at + 1 + width
}

/** Single bytes below 0x80 are their own encoding. */
function isBare(bytes: Uint8Array): boolean {
  return bytes.length === 1 && (bytes[0] as number) < STRING
}

/** RLP of one byte string, the same bytes as `encodeRlp` gives. */
export function frameString(bytes: Uint8Array): Uint8Array {
  if (isBare(bytes)) return bytes
  const out = new Uint8Array(framedLength(bytes.length))
  out.set(bytes, writePrefix(out, 0, STRING, bytes.length))
  return out
}

/** RLP of the list whose items, each already RLP, follow one another in `items`. */
export function frameList(items: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const item of items) length += item.length
  const out = new Uint8Array(framedLength(length))
  let at = writePrefix(out, 0, LIST, length)
  for (const item of items) {
    out.set(item, at)
    at += item.length
  }
  return out
}

/** RLP of a list of byte strings. */
export function frameStrings(strings: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const bytes of strings) length += isBare(bytes) ? 1 : framedLength(bytes.length)
  const out = new Uint8Array(framedLength(length))
  let at = writePrefix(out, 0, LIST, length)
  for (const bytes of strings) {
    if (!isBare(bytes)) at = writePrefix(out, at, STRING, bytes.length)
    out.set(bytes, at)
    at += bytes.length
  }
  return out
}
