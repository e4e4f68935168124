/** Keys of the table of compiled codes. */
import type { Hex } from '../encoding/hex.ts'

const LENGTH_DIGITS = 8
const ID_DIGITS = 64
const INDEX_DIGITS = 8

const digits = (value: number, count: number): string => value.toString(16).padStart(count, '0')

/** The first key of codes of a length, in bytes without metadata. */
export function codesOfLength(length: number): Hex {
  return `0x${digits(length, LENGTH_DIGITS)}`
}

/** The key of the code of a compilation's contract. */
export function codeEntryKey(length: number, compilation: Hex, index: number): Hex {
  return `${codesOfLength(length)}${compilation.slice(2)}${digits(index, INDEX_DIGITS)}`
}

/** The id of the compilation in a key. */
export function compilationOf(key: Hex): Hex {
  return `0x${key.slice(2 + LENGTH_DIGITS, 2 + LENGTH_DIGITS + ID_DIGITS)}`
}
