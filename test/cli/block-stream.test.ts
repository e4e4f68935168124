import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRawBlocks } from '../../src/cli/block-stream.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'

/** The bytes in pieces of these lengths, the last one for the rest. */
async function* inPieces(bytes: Uint8Array, lengths: readonly number[]) {
  let at = 0
  for (const length of lengths) {
    yield bytes.subarray(at, at + length)
    at += length
  }
  yield bytes.subarray(at)
}

async function read(bytes: Uint8Array, lengths: readonly number[] = []) {
  const found: { raw: Hex; place: string; end: number }[] = []
  let error: unknown
  try {
    for await (const { bytes: raw, place, end } of readRawBlocks(inPieces(bytes, lengths))) {
      found.push({ raw: toHex(raw), place, end })
    }
  } catch (thrown) {
    error = thrown
  }
  return { found, error }
}

const lists = fc.array(
  fc.array(fc.uint8Array({ maxLength: 90 }), { maxLength: 8 }).map((strings) => encodeRlp(strings)),
)
const pieces = fc.array(fc.nat({ max: 40 }))

describe('readRawBlocks', () => {
  it('finds the blocks of RLP and of lines, however the stream is split', async () => {
    await fc.assert(
      fc.asyncProperty(lists, pieces, fc.array(fc.nat({ max: 3 })), async (blocks, lengths, forms) => {
        const expected = blocks.map(toHex)
        const rlp = await read(concat(...blocks), lengths)
        expect(rlp.error).toBeUndefined()
        expect(rlp.found.map(({ raw }) => raw)).toEqual(expected)
        expect(rlp.found.at(-1)?.end ?? 0).toBe(concat(...blocks).length)
        const text = expected.map((raw, i) => {
          const written = [raw, `"${raw}"`, JSON.stringify({ raw, number: i }), `  ${raw}\r`]
          return `${written[forms[i] ?? 0]}${i === expected.length - 1 ? '' : '\n'}`
        })
        const lines = await read(new TextEncoder().encode(text.join('')), lengths)
        expect(lines.error).toBeUndefined()
        expect(lines.found.map(({ raw }) => raw)).toEqual(expected)
      }),
      { numRuns: 50 },
    )
  })

  it('names the place of an invalid block, after the blocks before it', async () => {
    const EXPECTED = 'expected a hex string, or an object with one as "raw".'
    const block = encodeRlp([Uint8Array.of(1, 2, 3)])
    const cases: [Uint8Array, number, string][] = [
      [
        concat(block, block.subarray(0, 2)),
        1,
        `The block at byte ${block.length} is cut off at the end of the input.`,
      ],
      [concat(block, Uint8Array.of(0x80)), 1, `There is no RLP list at byte ${block.length}.`],
      [Uint8Array.of(0xff, 1, 0, 0, 0, 0, 0, 0, 0), 0, 'The RLP list at byte 0 is longer than any block.'],
      [
        new TextEncoder().encode(`${toHex(block)}\n{"raw":7}\n`),
        1,
        `There is no raw block in line 2: ${EXPECTED}`,
      ],
      [new TextEncoder().encode('0xabc'), 0, `There is no raw block in line 1: ${EXPECTED}`],
    ]
    for (const [bytes, count, message] of cases) {
      const { found, error } = await read(bytes)
      expect(found).toHaveLength(count)
      expect(error).toMatchObject({ kind: 'invalid-block', message })
    }
    expect(await read(new Uint8Array())).toEqual({ found: [], error: undefined })
  })
})
