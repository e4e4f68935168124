/** Finds the bits of a word that something answers, by asking with other words. */

/** Bits of a word. */
export interface WordField {
  /** From the low end. */
  readonly offset: number
  readonly bits: number
}

/** The answer for a word; `undefined` where there is none. */
type Ask = (word: bigint) => Promise<bigint | undefined>

const WORD_BITS = 256
const ONES = (1n << 256n) - 1n
/** Words whose bytes are all different and not zero, so that a part of one occurs in one place only. */
const PATTERNS = [
  0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20n,
  0x5153555759616365676971737577798183858789919395979da3a5a7a9b1b3b5n,
] as const
/** Fewer bits hold no amount; a flag of one bit would be found by chance. */
const LEAST_BITS = 8
/** A word whose bytes are all 2: values that count as absent while they are zero are present in it. */
const PRESENT = 0x0202020202020202020202020202020202020202020202020202020202020202n

/** The word with a value in the bits of a field. The value has to fit. */
export function withField(word: bigint, { offset, bits }: WordField, value: bigint): bigint {
  const mask = ((1n << BigInt(bits)) - 1n) << BigInt(offset)
  return (word ^ (word & mask)) | (value << BigInt(offset))
}

const fieldOf = (word: bigint, { offset, bits }: WordField): bigint =>
  BigInt.asUintN(bits, word >> BigInt(offset))

/** Number of bits of a word whose low bits alone are set; 0 for any other. */
function lowBits(word: bigint): number {
  return word > 0n && (word & (word + 1n)) === 0n ? word.toString(2).length : 0
}

/** Asks with whole words. Finds any bits, provided that the answer does not depend on the other bits. */
async function byWholeWords(ask: Ask): Promise<WordField | undefined> {
  const bits = lowBits((await ask(ONES)) ?? 0n)
  if (bits < LEAST_BITS) return undefined
  let left = Array.from({ length: WORD_BITS - bits + 1 }, (_, offset) => ({ offset, bits }))
  for (const pattern of PATTERNS) {
    const answer = await ask(pattern)
    left = left.filter((field) => fieldOf(pattern, field) === answer)
  }
  return left.length === 1 ? left[0] : undefined
}

/** Finds the bytes whose lowest bit changes the answer by a power of 256; all other bytes keep their values. */
async function byBytes(word: bigint, base: bigint, ask: Ask): Promise<WordField | undefined> {
  const before = (await ask(base)) ?? 0n
  let offset = 0
  let bits = 0
  for (let bit = 0; bit < WORD_BITS; bit += 8) {
    const answer = await ask(base ^ (1n << BigInt(bit)))
    if (answer !== undefined && (answer ^ before) === 1n << BigInt(bits)) {
      if (bits === 0) offset = bit
      bits += 8
    } else if (bits > 0) break
  }
  if (bits < LEAST_BITS) return undefined
  const field = { offset, bits }
  for (const pattern of PATTERNS) {
    const value = BigInt.asUintN(bits, pattern)
    if ((await ask(withField(word, field, value))) !== value) return undefined
  }
  return field
}

/**
 * The bits of a word that `ask` answers whatever they are, while the word's other bits stay; `undefined` where there are
 * none, as where the answer is computed.
 */
export async function findField(word: bigint, ask: Ask): Promise<WordField | undefined> {
  const found = (await byWholeWords(ask)) ?? (await byBytes(word, word, ask))
  return found ?? (word === 0n ? byBytes(word, PRESENT, ask) : undefined)
}
