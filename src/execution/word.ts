/** 256-bit words: addresses in them, and their bytes in memory. */
import type { Hex } from '../encoding/hex.ts'

/** 2^256. */
export const MODULUS = 1n << 256n

/** The largest word. */
export const MAX_WORD = MODULUS - 1n

const ADDRESS_MASK = (1n << 160n) - 1n

/** The address in the low 20 bytes of a word. */
export function wordToAddress(word: bigint): Hex {
  return `0x${(word & ADDRESS_MASK).toString(16).padStart(40, '0')}`
}

/** 32 bytes of memory as a word; bytes past the end are 0. */
export function readWord(bytes: Uint8Array, offset: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (offset + 32 <= bytes.length) {
    const high = (view.getBigUint64(offset) << 64n) | view.getBigUint64(offset + 8)
    const low = (view.getBigUint64(offset + 16) << 64n) | view.getBigUint64(offset + 24)
    return high === 0n ? low : (high << 128n) | low
  }
  let word = 0n
  for (let i = 0; i < 32; i++) word = (word << 8n) | BigInt(bytes[offset + i] ?? 0)
  return word
}

const LOW_64 = (1n << 64n) - 1n

/** Writes a word as 32 bytes; there must be room. (`setBigUint64` keeps the low 64 bits.) */
export function writeWord(bytes: Uint8Array, offset: number, word: bigint): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (word <= LOW_64) {
    bytes.fill(0, offset, offset + 24)
    view.setBigUint64(offset + 24, word)
    return
  }
  view.setBigUint64(offset, word >> 192n)
  view.setBigUint64(offset + 8, word >> 128n)
  view.setBigUint64(offset + 16, word >> 64n)
  view.setBigUint64(offset + 24, word)
}
