import { describe, expect, it } from 'vitest'
import { drawPlot, type Panel } from '../../scripts/soak/plot.ts'
import type { Point } from '../../scripts/soak/series.ts'
import { textTable } from '../../scripts/soak/table.ts'

const drawn = (panel: Omit<Panel, 'title'>): string =>
  drawPlot({
    title: 'A & <B>',
    subtitle: '',
    length: 100,
    marks: [],
    legend: [],
    panels: [{ title: 'ms', ...panel }],
  })

/** Where the only line of a plot goes. */
function path(points: readonly Point[], isLogarithmic = false): number[][] {
  const svg = drawn({ isLogarithmic, lines: [{ label: 'node', colour: '#123456', points }] })
  const [, d] = /<path d="([^"]+)"/.exec(svg) as unknown as [string, string]
  return d.split(/(?=[ML])/).map((step) => step.slice(1).split(' ').map(Number))
}

describe('a plot', () => {
  it('draws higher values higher, later ones further right, and all points within its frame', () => {
    const [first, second, third] = path([
      [0, 0],
      [1, 50],
      [2, 100],
    ]) as [number[], number[], number[]]
    expect(first[0]).toBeLessThan(second[0] as number)
    expect((first[1] as number) - (second[1] as number)).toBeCloseTo(
      (second[1] as number) - (third[1] as number),
      0,
    )
    expect((third[0] as number) - (first[0] as number)).toBeCloseTo((2 / 100) * (960 - 64 - 24), 0)
  })

  it('gives each power of ten the same length on a logarithmic axis', () => {
    const heights = path(
      [
        [0, 1],
        [1, 10],
        [2, 100],
      ],
      true,
    ).map(([, y]) => y as number) as [number, number, number]
    expect(heights[0] - heights[1]).toBeCloseTo(heights[1] - heights[2], 0)
  })

  it('interrupts a line where values are missing', () => {
    const svg = drawn({
      lines: [
        {
          label: 'node',
          colour: '#123456',
          points: [
            [0, 1],
            [1, 1],
            [2, 1],
            [50, 1],
          ],
        },
      ],
    })
    expect(/<path d="(M[^LM]+L[^LM]+L[^LM]+M[^LM]+)"/.test(svg)).toBe(true)
  })

  it('is valid without values, and escapes its texts', () => {
    const svg = drawn({ lines: [{ label: 'node', colour: '#123456', points: [] }], isLogarithmic: true })
    expect(svg).toContain('A &amp; &lt;B&gt;')
    expect(svg).not.toMatch(/NaN|Infinity|undefined/)
  })
})

describe('a table', () => {
  it('has columns, with names left-aligned and numbers right-aligned', () => {
    expect(
      textTable(
        [
          ['node', 'count'],
          ['a', '12'],
          ['steady', '3'],
        ],
        1,
      ).split('\n'),
    ).toEqual(['node    count', '──────  ─────', 'a          12', 'steady      3'])
  })
})
