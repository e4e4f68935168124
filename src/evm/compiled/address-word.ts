/** Addresses as compiled code has them; they are kept, since the same few contracts run again and again. */
import type { Hex } from '../../encoding/hex.ts'
import { RecentMap } from '../../state/recent-map.ts'

const addressWords = new RecentMap<Hex, Uint32Array>(1024)

/** An address as a word: 32 bits at a time, the lowest first. */
export function addressWord(address: Hex): Uint32Array {
  let word = addressWords.get(address)
  if (word === undefined) {
    word = new Uint32Array(8)
    for (let i = 0; i < 5; i++) word[i] = Number.parseInt(address.slice(34 - 8 * i, 42 - 8 * i), 16)
    addressWords.set(address, word)
  }
  return word
}
