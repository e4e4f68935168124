import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Point, quantile, slope, trendOf, windowed } from '../../scripts/soak/series.ts'

const line = (length: number, of: (at: number) => number): Point[] =>
  Array.from({ length }, (_, at) => [at, of(at)])
const BOUND = { share: 0.25, least: 40 }

describe('a slope', () => {
  it('is that of the line, with any outliers in a fifth of the points', () => {
    const whole = fc.integer({ min: -1000, max: 1000 })
    fc.assert(
      fc.property(whole, whole, fc.array(whole, { minLength: 4, maxLength: 4 }), (rise, start, astray) => {
        const points = line(20, (at) => start + rise * at)
        const bent = points.map(
          ([at, value], i): Point => (i % 5 === 4 ? [at, value + (astray[(i - 4) / 5] ?? 0)] : [at, value]),
        )
        expect(slope(bent)).toBe(rise)
      }),
    )
  })

  it('is 0 without points, and for points of one moment', () => {
    expect(slope([])).toBe(0)
    expect(
      slope([
        [1, 5],
        [1, 9],
      ]),
    ).toBe(0)
  })
})

describe('a series', () => {
  it('is evaluated by the median of each interval', () => {
    const points: Point[] = [
      [0.1, 1],
      [1.9, 100],
      [0.7, 2],
      [4.5, 7],
    ]
    expect(windowed(points, 2)).toEqual([
      [1, 2],
      [5, 7],
    ])
    expect(windowed(points, 2, 0.99)).toEqual([
      [1, 100],
      [5, 7],
    ])
    expect(quantile([], 0.5)).toBeUndefined()
  })

  it('is level when it warms up, rises within its bound, or falls', () => {
    expect(
      trendOf(
        line(300, (at) => (at < 60 ? at * 4 : 240)),
        300,
        BOUND,
      ).verdict,
    ).toBe('level')
    expect(
      trendOf(
        line(300, (at) => 100 + at * 0.1),
        300,
        BOUND,
      ),
    ).toMatchObject({ verdict: 'level', allowed: 40 })
    expect(
      trendOf(
        line(300, (at) => 1000 - at),
        300,
        BOUND,
      ).verdict,
    ).toBe('level')
  })

  it('rises when it keeps growing, by a share of a large value or by a minimum of a small one', () => {
    const much = trendOf(
      line(300, (at) => 400 + at),
      300,
      BOUND,
    )
    expect(much).toMatchObject({ verdict: 'rising', change: 224 })
    expect(
      trendOf(
        line(300, (at) => 400 + at * 0.3),
        300,
        BOUND,
      ).verdict,
    ).toBe('level')
    expect(
      trendOf(
        line(300, (at) => 10 + at * 0.3),
        300,
        BOUND,
      ).verdict,
    ).toBe('rising')
  })

  it('has no figures for a short run', () => {
    expect(
      trendOf(
        line(20, (at) => at * 1000),
        20,
        BOUND,
      ).verdict,
    ).toBe('short')
    expect(trendOf([], 300, BOUND).verdict).toBe('short')
  })
})
