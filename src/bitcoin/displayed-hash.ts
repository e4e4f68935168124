/** Hashes as Bitcoin's tools write them: hex digits of the reversed bytes, without `0x`. */
import { fromHex, toHex } from '../encoding/hex.ts'
import { reversed } from './hash.ts'

/** Text of a hash in raw order. */
export function displayed(hash: Uint8Array): string {
  return toHex(reversed(hash)).slice(2)
}

/** The hash in raw order that a text of 64 hex digits, already checked, stands for. */
export function fromDisplayed(text: string): Uint8Array {
  return reversed(fromHex(`0x${text}`))
}

/** Bytes as hex digits without `0x`. */
export function digitsOf(bytes: Uint8Array): string {
  return toHex(bytes).slice(2)
}

/** The bytes of an even number of hex digits, already checked. */
export function fromDigits(digits: string): Uint8Array {
  return fromHex(`0x${digits}`)
}
