/** Paths of the binary trie: bits, one per element, and their bytes; lengths as the parent chain's CompactSize. */

/** The bits of a byte string, most significant first, one per element. */
export function bitsOf(key: Uint8Array): Uint8Array {
  const bits = new Uint8Array(key.length * 8)
  for (let i = 0; i < key.length; i++) {
    const byte = key[i] ?? 0
    const at = i * 8
    for (let bit = 0; bit < 8; bit++) bits[at + bit] = (byte >> (7 - bit)) & 1
  }
  return bits
}

/** Bits, one per element, as bytes, most significant first; the last byte is filled with zeros. */
export function packedBits(bits: Uint8Array): Uint8Array {
  const out = new Uint8Array((bits.length + 7) >> 3)
  writeBits(out, 0, bits)
  return out
}

/** Writes bits as bytes; the result is where they end. */
function writeBits(into: Uint8Array, start: number, bits: Uint8Array): number {
  const { length } = bits
  let at = start
  let byte = 0
  for (let i = 0; i < length; i++) {
    byte = (byte << 1) | (bits[i] ?? 0)
    if ((i & 7) !== 7) continue
    into[at++] = byte
    byte = 0
  }
  if ((length & 7) !== 0) into[at++] = byte << (8 - (length & 7))
  return at
}

/** Length of a number in the parent chain's CompactSize, bytes. */
export function compactSizeBytes(value: number): number {
  if (value < 0xfd) return 1
  return value <= 0xffff ? 3 : value <= 0xffff_ffff ? 5 : 9
}

/** Writes a number as CompactSize at `at`; the result is where it ends. */
export function writeCompactSize(into: Uint8Array, at: number, value: number): number {
  const length = compactSizeBytes(value)
  if (length === 1) {
    into[at] = value
    return at + 1
  }
  into[at] = length === 3 ? 0xfd : length === 5 ? 0xfe : 0xff
  let rest = value
  for (let i = 1; i < length; i++) {
    into[at + i] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return at + length
}

/** Bytes that the length of a path of so many bits takes. */
export function pathLengthBytes(bits: number): number {
  return bits <= 32 || (bits >= 160 && bits <= 382) ? 1 : 1 + compactSizeBytes(bits)
}

/** Writes the length of a path and its bits at `start`; the result is where they end. */
export function writePath(into: Uint8Array, start: number, path: Uint8Array): number {
  const bits = path.length
  let at = start
  if (bits <= 32) into[at++] = bits - 1
  else if (bits >= 160 && bits <= 382) into[at++] = bits - 128
  else {
    into[at] = 0xff
    at = writeCompactSize(into, at + 1, bits)
  }
  return writeBits(into, at, path)
}
