/** What the bench prints, its Markdown and its picture. */
import { describe, expect, it } from 'vitest'

const script = (name: string) => new URL(`../../../scripts/bench/${name}.mjs`, import.meta.url).href

const { short, rowLines, limitLines, changeLines } = (await import(script('report'))) as {
  short(figure: number | undefined): string
  rowLines(row: object): string[]
  limitLines(rows: object[]): string[]
  changeLines(rows: object[], earlier: object): string[]
}
const { markdown } = (await import(script('markdown'))) as {
  markdown(result: object, earlier: object | undefined): string
}
const { chart, position } = (await import(script('chart'))) as {
  chart(rows: object[]): string
  position(ratio: number): number
}

const figures = (median: number) => ({ median, least: median / 2, most: median * 2 })
const node = (kind: string, cpu: number, wall: number, disturbance: number) => ({
  kind,
  samples: 3,
  cpuMs: figures(cpu),
  wallMs: figures(wall),
  disturbance,
  disturbed: disturbance > 0.1,
})
const row = {
  name: 'call',
  title: 'a call over HTTP',
  operation: 'request',
  unit: 'µs',
  limits: [{ most: 0.5 }],
  nodes: { tandem: node('tandem', 0.05, 0.1, 0.02), anvil: node('peer', 0.04, 0.2, 0.12) },
  errors: { ganache: 'ended with 1' },
}

describe('a figure', () => {
  it.each([
    [1234.5, '1235'],
    [99.4, '99.4'],
    [12.34, '12.3'],
    [1.234, '1.23'],
    [0.0456, '0.046'],
    [undefined, ''],
    [Number.NaN, ''],
  ])('%d is %j', (figure, text) => {
    expect(short(figure)).toBe(text)
  })
})

describe('the lines of a row', () => {
  it('have the unit of the row, the ratio to each node, marks and failures', () => {
    expect(rowLines(row).map((line) => line.replace(/ {2,}/g, '|'))).toEqual([
      'call: a call over HTTP; µs of processor time of one request',
      '|median|spread|wall|spread|tandem/|others',
      '|tandem|50.0|25.0–100|100|50.0–200|2 %',
      '|anvil|40.0|20.0–80.0|200|100–400|1.25|12 % (disturbed)',
      '|ganache: ended with 1',
    ])
  })

  it('have memory in MB and no wall time', () => {
    const memory = { kind: 'tandem', samples: 1, memoryMb: figures(80) }
    const lines = rowLines({ ...row, figure: 'memoryMb', unit: 'MB', nodes: { tandem: memory }, errors: {} })
    expect(lines[0]).toBe('call: a call over HTTP; MB')
    expect(lines[2]?.replace(/ {2,}/g, '|')).toBe('|tandem|80.0|40.0–160')
  })
})

it('limits state the ratio and whether it holds', () => {
  expect(limitLines([row])).toEqual(['call: tandem takes 1.25 of anvil; at most 0.5: does not hold'])
  const loose = { ...row, limits: [{ most: 1.3 }] }
  expect(limitLines([loose])).toEqual(['call: tandem takes 1.25 of anvil; at most 1.3: holds'])
})

const earlier = {
  recorded: '2026-11-01T00:00:00.000Z',
  commit: 'abc',
  machine: { processors: '2 of some' },
  rows: [{ ...row, nodes: { tandem: node('tandem', 0.1, 1, 0), anvil: node('peer', 0.05, 1, 0) } }],
}

it('an earlier run is compared with this one, row by row', () => {
  const [, ...lines] = changeLines([row, { ...row, name: 'new' }], earlier)
  expect(lines.map((line) => line.trim().split(/ +/))).toEqual([['call', '0.500', '1.25', '2.00']])
})

describe('the Markdown', () => {
  const result = {
    recorded: '2026-11-22T00:00:00.000Z',
    commit: 'def',
    machine: { processors: '2 of some', memoryGb: 8, runtime: 'Node.js v20' },
    rounds: 3,
    minutes: 40,
    nodes: { tandem: { version: '0.1.0', settings: 'in memory' } },
    rows: [row],
  }

  it('has limits, changes, settings and a section for each row', () => {
    const text = markdown(result, earlier)
    for (const line of [
      '| [call](#call) | tandem | anvil | 1.25 | 0.500 | **no** |',
      '| call | 0.500 | 1.25 | 2.00 |',
      '| tandem | 0.1.0 | in memory |',
      '### call',
      '| anvil | 40.0 | 20.0–80.0 | 200 | 100–400 | 1.25 | 12 % (disturbed) |',
      'ganache has no figure: ended with 1',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
  })

  it('states that there is no earlier run', () => {
    expect(markdown(result, undefined)).toContain('No run was recorded before.')
  })
})

describe('the picture', () => {
  it('has a bar for each limit, coloured by whether it holds', () => {
    const svg = chart([row, { ...row, name: 'other', limits: [{ most: 2 }] }])
    expect(svg.match(/<rect class="(holds|exceeds)"/g)).toEqual([
      '<rect class="exceeds"',
      '<rect class="holds"',
    ])
    expect(svg).toContain('>call / anvil</text>')
  })

  it('has equal steps for equal ratios, and clips values beyond its range', () => {
    expect(position(2) - position(1)).toBeCloseTo(position(1) - position(0.5), 9)
    expect(position(1e6)).toBe(position(20))
    expect(position(1e-6)).toBe(position(0.05))
  })
})
