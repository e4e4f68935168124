/** RLP around bytes that are at hand: strings, lists whose items are encoded already, and lists of strings read back. */
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

/** Where the payload of a list or string of two bytes or more begins and ends; `undefined` when its prefix is not the shortest. */
function payloadAt(
  bytes: Uint8Array,
  at: number,
  kind: typeof STRING | typeof LIST,
): [number, number] | undefined {
  const size = (bytes[at] as number) - kind
  if (size <= SHORT) return [at + 1, at + 1 + size]
  const start = at + 1 + size - SHORT
  let length = 0
  for (let i = at + 1; i < start; i++) length = length * 256 + (bytes[i] ?? 0)
  return length <= SHORT || bytes[at + 1] === 0 ? undefined : [start, start + length]
}

/**
 * The byte strings of a list that holds nothing else, as views into `bytes`; `undefined` when these are anything but that
 * list in its one right form. For what is read often; whoever wants to know what is wrong asks the general decoder.
 */
export function readFlatStrings(bytes: Uint8Array): Uint8Array[] | undefined {
  if (bytes.length === 0 || (bytes[0] as number) < LIST) return undefined
  const list = payloadAt(bytes, 0, LIST)
  if (list === undefined || list[1] !== bytes.length) return undefined
  const strings: Uint8Array[] = []
  for (let at = list[0]; at < bytes.length; ) {
    const prefix = bytes[at] as number
    if (prefix >= LIST) return undefined
    if (prefix < STRING) {
      strings.push(bytes.subarray(at, at + 1))
      at++
      continue
    }
    const string = payloadAt(bytes, at, STRING)
    if (string === undefined || string[1] > bytes.length) return undefined
    const [start, end] = string
    // A single byte below 0x80 is written without a prefix.
    if (end - start === 1 && (bytes[start] as number) < STRING) return undefined
    strings.push(bytes.subarray(start, end))
    at = end
  }
  return strings
}
