/** Addresses as words of linear memory, both ways; they are kept, since the same few contracts run again and again. */
import type { Hex } from '../../encoding/hex.ts'
import { RecentMap } from '../../state/recent-map.ts'
import { wordToAddress } from '../word.ts'
import type { LinearMemory } from './linear-memory.ts'

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

/** Addresses that were called last, by the low bits of their words, with these words, 5 x 32 bits each. */
const PLACES = 256
const called = new Uint32Array(PLACES * 5)
const addresses: (Hex | undefined)[] = new Array(PLACES).fill(undefined)

/** The address in the word at a place in linear memory. */
export function addressAt(linear: LinearMemory, at: number): Hex {
  const { halves } = linear
  const word = at >> 2
  const place = (halves[word] as number) & (PLACES - 1)
  const known = addresses[place]
  const first = place * 5
  let isKnown = known !== undefined
  for (let i = 0; i < 5 && isKnown; i++) isKnown = called[first + i] === halves[word + i]
  if (isKnown) return known as Hex
  const address = wordToAddress(linear.read(at))
  addresses[place] = address
  for (let i = 0; i < 5; i++) called[first + i] = halves[word + i] as number
  return address
}
