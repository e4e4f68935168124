/** Rows of a section against plain sets. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Clauses,
  GrowingRows,
  positionsWhere,
  readRows,
  SECTION_BLOCKS,
} from '../../../src/engine/index/section.ts'

const term = fc.oneof(fc.nat(5), fc.constantFrom(2048, 0x1_ffff, 2 ** 32 - 1))
const clauses: fc.Arbitrary<Clauses> = fc.array(
  fc.array(fc.array(term, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  { maxLength: 3 },
)
/** Blocks as a few kinds repeated, so that dense rows come about as well as sparse ones. */
const blocks = fc
  .record({
    kinds: fc.array(fc.array(term, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
    picks: fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }),
    count: fc.integer({ min: 1, max: SECTION_BLOCKS }),
  })
  .map(({ kinds, picks, count }) =>
    Array.from({ length: count }, (_, i) => kinds[(picks[i % picks.length] as number) % kinds.length] ?? []),
  )

function bruteForce(contents: readonly (readonly number[])[], asked: Clauses, first: number, last: number) {
  const positions: number[] = []
  for (let i = first; i <= Math.min(last, contents.length - 1); i++) {
    const held = new Set(contents[i])
    if (asked.every((items) => items.some((terms) => terms.every((one) => held.has(one))))) positions.push(i)
  }
  return positions
}

describe('rows of a section', () => {
  it('find the same as a scan: growing, truncated, grown again, encoded and decoded', () => {
    fc.assert(
      fc.property(blocks, blocks, fc.nat(SECTION_BLOCKS), clauses, (first, second, cut, asked) => {
        const rows = new GrowingRows()
        for (const terms of first) rows.add((mark) => terms.forEach(mark))
        rows.truncate(cut)
        const contents = first.slice(0, cut)
        for (const terms of second.slice(0, SECTION_BLOCKS - contents.length)) {
          rows.add((mark) => terms.forEach(mark))
          contents.push(terms)
        }
        expect(rows.count).toBe(contents.length)
        const [from, to] = [cut >> 1, contents.length - 1]
        const expected = bruteForce(contents, asked, from, to)
        expect(positionsWhere(rows, asked, from, to)).toEqual(expected)
        expect(positionsWhere(readRows(rows.encode()), asked, from, to)).toEqual(expected)
      }),
    )
  })

  it('take few bytes when few blocks have a term', () => {
    const rows = new GrowingRows()
    for (let i = 0; i < SECTION_BLOCKS; i++) rows.add((mark) => i % 512 === 0 && mark(7))
    expect(rows.encode()).toHaveLength(4 + 8 + 2 * 2)
  })

  it('contain no block before the first one', () => {
    const rows = new GrowingRows(100)
    rows.add((mark) => mark(1))
    expect(rows.count).toBe(101)
    expect(positionsWhere(rows, [[[1]]], 0, 1023)).toEqual([100])
  })
})
