/** Addresses as words of linear memory, both ways; they are kept, since the same few contracts run again and again. */
import type { Hex } from '../../encoding/hex.ts'
import { RecentMap } from '../../state/recent-map.ts'
import { wordToAddress } from '../word.ts'
import type { LinearMemory } from './linear-memory.ts'

/** Addresses that are kept by the low bits of their words. */
const PLACES = 256

/** Of the linear memories of a VM. */
export class AddressWords {
  readonly #words = new RecentMap<Hex, Uint32Array>(1024)
  /** Addresses that were called last, with their words, 5 x 32 bits each. */
  readonly #addresses: (Hex | undefined)[] = new Array(PLACES).fill(undefined)
  readonly #called = new Uint32Array(PLACES * 5)

  /** An address as a word: 32 bits at a time, the lowest first. */
  wordOf(address: Hex): Uint32Array {
    let word = this.#words.get(address)
    if (word === undefined) {
      word = new Uint32Array(8)
      for (let i = 0; i < 5; i++) word[i] = Number.parseInt(address.slice(34 - 8 * i, 42 - 8 * i), 16)
      this.#words.set(address, word)
    }
    return word
  }

  /** The address in the word at a place in linear memory. */
  addressAt(linear: LinearMemory, at: number): Hex {
    const { halves } = linear
    const called = this.#called
    const word = at >> 2
    const place = (halves[word] ?? 0) & (PLACES - 1)
    const known = this.#addresses[place]
    const first = place * 5
    let isKnown = known !== undefined
    for (let i = 0; i < 5 && isKnown; i++) isKnown = called[first + i] === halves[word + i]
    if (isKnown) return known as Hex
    const address = wordToAddress(linear.read(at))
    this.#addresses[place] = address
    for (let i = 0; i < 5; i++) called[first + i] = halves[word + i] ?? 0
    return address
  }
}
