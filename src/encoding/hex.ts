/** `0x` text and bytes, both ways. Inside the node, hashes and addresses are lower-case `0x` text, so `===` compares them. */
import { fromBigInt } from './bytes.ts'

/** Lower-case `0x` text with two digits per byte, unless a function says otherwise. */
export type Hex = `0x${string}`

/** Bytes to `0x` text; empty is `0x`. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}

/** `0x` text (an even number of valid digits, already checked) to bytes. */
export function fromHex(hex: string): Uint8Array {
  const buffer = Buffer.from(hex.slice(2), 'hex')
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
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
