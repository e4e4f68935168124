/** 256-bit words: addresses in them, and their bytes in memory. */
import type { Hex } from '../encoding/hex.ts'

/** 2^256. */
export const MODULUS = 1n << 256n

/** The largest word. */
export const MAX_WORD = MODULUS - 1n

/** Java's `Long.MAX_VALUE`. */
export const MAX_LONG = 2n ** 63n - 1n

const ADDRESS_MASK = (1n << 160n) - 1n

/** The address in the low 20 bytes of a word. */
export function wordToAddress(word: bigint): Hex {
  return `0x${(word & ADDRESS_MASK).toString(16).padStart(40, '0')}`
}

/** 32 bytes as a word; they must all be there. */
export function readWord(view: DataView, offset: number): bigint {
  const low = view.getBigUint64(offset + 24)
  if (isZero(view, offset)) return low
  const high = (view.getBigUint64(offset) << 64n) | view.getBigUint64(offset + 8)
  return (high << 128n) | (view.getBigUint64(offset + 16) << 64n) | low
}

/** Are the first 24 bytes of a word 0? Most words are small, and small integers are cheap to make. */
function isZero(view: DataView, offset: number): boolean {
  return (
    (view.getInt32(offset + 20) | view.getInt32(offset + 16) | view.getInt32(offset + 12)) === 0 &&
    (view.getInt32(offset + 8) | view.getInt32(offset + 4) | view.getInt32(offset)) === 0
  )
}
