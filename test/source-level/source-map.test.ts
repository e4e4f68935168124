/** Source maps as solc's documentation describes them, and malformed ones. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SourceFile } from '../../src/source-level/source-file.ts'
import { readSourceMap, type SourceMap } from '../../src/source-level/source-map.ts'

const entries = (map: SourceMap) =>
  Array.from({ length: map.length }, (_, index) => [
    map.starts[index],
    map.lengths[index],
    map.files[index],
    map.jumpAt(index),
  ])

describe('readSourceMap', () => {
  it('reads the example of the documentation', () => {
    // docs.soliditylang.org, "Source Mappings": these two maps are the same.
    const whole = readSourceMap('1:2:1:-;1:9:1:-;2:1:2:-;2:1:2:-;2:1:2:-', 10)
    const short = readSourceMap('1:2:1:-;:9;2:1:2;;', 10)
    expect(entries(short)).toEqual(entries(whole))
    expect(entries(whole)).toEqual([
      [1, 2, 1, 'none'],
      [1, 9, 1, 'none'],
      [2, 1, 2, 'none'],
      [2, 1, 2, 'none'],
      [2, 1, 2, 'none'],
    ])
  })

  it('reads jumps, and the depth of modifiers behind them', () => {
    expect(entries(readSourceMap('5:1:0:-:0;::::1;:::i;:::o', 10)).map((entry) => entry[3])).toEqual([
      'none',
      'none',
      'in',
      'out',
    ])
  })

  it('has no range for an incomplete first entry', () => {
    expect(entries(readSourceMap(';1:2:3:-', 10))).toEqual([
      [0, 0, -1, 'none'],
      [1, 2, 3, 'none'],
    ])
  })

  it.each(['1:2:0:-;x:2', '1:2:0:-;1:2:0:q', '1:2:0:-;99999999999:1'])(
    'ends before a malformed entry: %s',
    (text) => {
      expect(entries(readSourceMap(text, 10))).toEqual([[1, 2, 0, 'none']])
    },
  )

  it('reads no more entries than the code has instructions', () => {
    expect(readSourceMap('1:1:0:-;;;;', 2).length).toBe(2)
    expect(readSourceMap('', 2).length).toBe(0)
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(20), (text, most) => {
        expect(readSourceMap(text, most).length).toBeLessThanOrEqual(most)
      }),
    )
  })
})

describe('SourceFile', () => {
  const text = 'contract Ü {\r\n  // 漢字\n  x;\n}'
  const file = new SourceFile('a.sol', text)

  it('counts lines and columns of characters by bytes', () => {
    const at = (part: string) => file.positionOf(Buffer.byteLength(text.slice(0, text.indexOf(part))))
    expect(at('{')).toEqual({ line: 1, column: 12 })
    expect(at('字')).toEqual({ line: 2, column: 7 })
    expect(at('x;')).toEqual({ line: 3, column: 3 })
    expect(file.lineCount).toBe(4)
    expect(file.lineText(1)).toBe('contract Ü {')
    expect(file.lineText(4)).toBe('}')
    expect(file.lineText(5)).toBeUndefined()
  })

  it('counts the characters of lines of any length as JavaScript does', () => {
    const piece = fc.constantFrom('x', 'Ü', '字', '😀', '\n', 'y'.repeat(1023), '漢'.repeat(2000))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(), (pieces, chosen) => {
        const before = pieces.slice(0, chosen % (pieces.length + 1)).join('')
        const lines = before.split('\n')
        expect(new SourceFile('a.sol', pieces.join('')).positionOf(Buffer.byteLength(before))).toEqual({
          line: lines.length,
          column: (lines.at(-1) ?? '').length + 1,
        })
      }),
    )
  })

  it('finds the function around a range', () => {
    const facts = {
      isPayable: false,
      changesState: true,
      isExternal: true,
      arity: 0,
      kind: 'function',
    } as const
    const ranges = [20, 0, 10].map((start) => ({ file, start, end: start + 5 }))
    for (const range of ranges) file.declare({ ...facts, name: `from ${range.start}`, range })
    const nameAt = (start: number, end: number) => file.functionAround({ file, start, end })?.name
    expect([nameAt(0, 5), nameAt(12, 13), nameAt(24, 25)]).toEqual(['from 0', 'from 10', 'from 20'])
    expect([nameAt(4, 6), nameAt(7, 8), nameAt(25, 26)]).toEqual([undefined, undefined, undefined])
  })

  it('puts what is behind the end on the last line', () => {
    expect(file.positionOf(1000).line).toBe(4)
  })
})
