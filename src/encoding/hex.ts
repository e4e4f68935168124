/** `0x` text and bytes, both ways. Inside the node, hashes and addresses are lower-case `0x` text, so `===` compares them. */
import { fromBigInt } from './bytes.ts'

/** Lower-case `0x` text with two digits per byte, unless a function states otherwise. */
export type Hex = `0x${string}`

/** Texts and byte strings up to this many bytes take the short way: hashes, addresses, words. */
const SHORT = 64
/** ASCII of the two digits of a byte, high digit in the high byte. */
const DIGITS_OF = Uint16Array.from({ length: 256 }, (_, byte) => {
  const text = byte.toString(16).padStart(2, '0')
  return (text.charCodeAt(0) << 8) | text.charCodeAt(1)
})
/** `0x` and room for the digits of a short text; written and read out within one call. */
const text = Buffer.from(`0x${'0'.repeat(2 * SHORT)}`, 'latin1')

/** Bytes to `0x` text; empty is `0x`. */
export function toHex(bytes: Uint8Array): Hex {
  return sliceHex(bytes, 0, bytes.length)
}

/** The bytes from `start` to `end` (not included) to `0x` text. */
export function sliceHex(bytes: Uint8Array, start: number, end: number): Hex {
  const length = end - start
  if (length > SHORT)
    return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString('hex')}`
  let at = 2
  for (let i = start; i < end; i++) {
    const digits = DIGITS_OF[bytes[i] ?? 0] ?? 0
    text[at++] = digits >> 8
    text[at++] = digits & 0xff
  }
  // One flat string: a concatenation of '0x' and the digits would be flattened at every lookup in a map.
  return text.toString('latin1', 0, at) as Hex
}

/**
 * The value of a hex digit by its character code. A branch between numbers and letters is mispredicted too often: the
 * digits of hashes are random.
 */
const DIGIT = new Uint8Array(128)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  DIGIT[digit.charCodeAt(0)] = value
  DIGIT[digit.toUpperCase().charCodeAt(0)] = value
}

/** `0x` text (an even number of valid digits, already checked) to bytes. */
export function fromHex(hex: string): Uint8Array {
  const length = (hex.length - 2) >> 1
  if (length > SHORT) {
    const buffer = Buffer.from(hex.slice(2), 'hex')
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
  }
  const bytes = new Uint8Array(length)
  writeHex(bytes, 0, hex)
  return bytes
}

/** Writes the bytes of a short `0x` text (an even number of valid digits, already checked) at `start`. */
export function writeHex(into: Uint8Array, start: number, hex: string): void {
  for (let i = start, at = 2; at < hex.length; i++, at += 2) {
    into[i] = ((DIGIT[hex.charCodeAt(at)] ?? 0) << 4) | (DIGIT[hex.charCodeAt(at + 1)] ?? 0)
  }
}

/** Is the text `0x` text, by its prefix? */
export function isHex(text: string): text is Hex {
  return text.startsWith('0x')
}

/** Hex digits of any case, with `0x` in front or without, as `Hex`; the digits are already checked. */
export function lowerCaseHex(text: string): Hex {
  const lower = text.toLowerCase()
  return isHex(lower) ? lower : `0x${lower}`
}

/** Is this text hex digits only (no prefix), of any case? The empty text is. */
export function isHexDigits(text: string): boolean {
  return /^[0-9a-fA-F]*$/.test(text)
}

/** QUANTITY: `0x` and minimal lower-case digits; zero is `0x0`. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** An unsigned integer as `0x` text of `bytes` bytes, zeros in front. */
export function toFixedHex(value: bigint, bytes: number): Hex {
  return `0x${value.toString(16).padStart(bytes * 2, '0')}`
}

/** The unsigned integer that a `0x` byte text spells; `0x` is 0. */
export function hexToBigInt(hex: Hex): bigint {
  return hex.length === 2 ? 0n : BigInt(hex)
}

/** Minimal big-endian bytes of an unsigned integer, as `0x` text; zero is `0x`. */
export function bigIntToHex(value: bigint): Hex {
  return toHex(fromBigInt(value))
}
