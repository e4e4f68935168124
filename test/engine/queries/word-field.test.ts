/** The search for bits of a word, held against functions that read known bits. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findField, withField } from '../../../src/engine/queries/word-field.ts'

const word = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })
const field = fc
  .tuple(fc.integer({ min: 1, max: 32 }), fc.nat(31))
  .filter(([size, at]) => size + at <= 32)
  .map(([size, at]) => ({ offset: at * 8, bits: size * 8 }))

describe('findField', () => {
  it('finds the bytes that are answered, in whatever word', () =>
    fc.assert(
      fc.asyncProperty(word, field, async (present, known) => {
        const ask = async (asked: bigint) => BigInt.asUintN(known.bits, asked >> BigInt(known.offset))
        expect(await findField(present, ask)).toEqual(known)
      }),
    ))

  it('finds them where there is an answer only while all others stay', () =>
    fc.assert(
      fc.asyncProperty(word, field, word, async (present, known, value) => {
        const { bits } = known
        const others = withField(present, known, 0n)
        const ask = async (asked: bigint) =>
          withField(asked, known, 0n) === others
            ? BigInt.asUintN(bits, asked >> BigInt(known.offset))
            : undefined
        expect(await findField(present, ask)).toEqual(known)
        const fitting = BigInt.asUintN(bits, value)
        expect(await ask(withField(present, known, fitting))).toBe(fitting)
      }),
    ))

  it.each<[string, (asked: bigint) => bigint | undefined]>([
    ['the answer is a multiple', (asked) => BigInt.asUintN(256, asked * 3n)],
    ['the answer is a part', (asked) => asked / 3n],
    ['the answer is always the same', () => 5n],
    ['the answer is a flag', (asked) => asked & 1n],
    ['there is no answer', () => undefined],
    ['the answer is another one by one bit', (asked) => asked ^ 1n],
  ])('finds nothing where %s', (_, ask) =>
    fc.assert(
      fc.asyncProperty(word, async (present) => {
        expect(await findField(present, async (asked) => ask(asked))).toBeUndefined()
      }),
      { numRuns: 20 },
    ),
  )
})
