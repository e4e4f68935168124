/** Medians, spreads, marks of disturbance, and limits of the bench. */
import { describe, expect, it } from 'vitest'

const script = (name: string) => new URL(`../../../scripts/bench/${name}.mjs`, import.meta.url).href

interface Row {
  name: string
  figure?: string
  limits?: { most: number; node?: string; of?: string[]; row?: string }[]
  nodes: Record<string, { kind: string; cpuMs?: { median: number }; memoryMb?: { median: number } }>
}
interface Judgement {
  node: string
  of: string
  row?: string
  ratio: number
  most: number
  holds: boolean
}
const { median, summarize, judge, againstBestPeer } = (await import(script('statistics'))) as {
  median(figures: number[]): number
  summarize(samples: object[]): Record<string, unknown>
  judge(row: Row, rows: Row[]): Judgement[]
  againstBestPeer(row: Row): { of: string; ratio: number } | undefined
}
const { disturbance } = (await import(script('measure'))) as {
  disturbance(times: { busyMs: number; ownMs: number; wallMs: number; processors: number }): number
}

const cpu = (kind: string, figure: number) => ({ kind, cpuMs: { median: figure } })

describe('the median', () => {
  it.each([
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 8, 100, 1], 9],
    [[7], 7],
  ])('of %j is %d', (figures, expected) => {
    expect(median(figures)).toBe(expected)
  })

  it('of an empty list is NaN, and the list is unchanged', () => {
    expect(median([])).toBeNaN()
    const figures = [3, 1, 2]
    median(figures)
    expect(figures).toEqual([3, 1, 2])
  })
})

describe('the share of the machine that other processes used', () => {
  it.each([
    ['half of two processors', { busyMs: 300, ownMs: 100, wallMs: 100, processors: 2 }, 1],
    ['a quarter', { busyMs: 150, ownMs: 100, wallMs: 100, processors: 2 }, 0.25],
    [
      'none, when coarse ticks show less than we took',
      { busyMs: 90, ownMs: 100, wallMs: 100, processors: 2 },
      0,
    ],
    ['never more than all', { busyMs: 900, ownMs: 0, wallMs: 100, processors: 2 }, 1],
  ])('%s', (_, times, expected) => {
    expect(disturbance(times)).toBe(expected)
  })
})

describe('the summary of samples', () => {
  it('has the median and the ends of each figure, and the worst disturbance', () => {
    const samples = [
      { cpuMs: 3, wallMs: 5, disturbance: 0.01 },
      { cpuMs: 1, wallMs: 6, disturbance: 0.1 },
      { cpuMs: 2, wallMs: 4, disturbance: 0.02 },
    ]
    expect(summarize(samples)).toEqual({
      samples: 3,
      cpuMs: { median: 2, least: 1, most: 3 },
      wallMs: { median: 5, least: 4, most: 6 },
      disturbance: 0.1,
      disturbed: false,
    })
  })

  it('is marked when one sample was disturbed beyond a tenth', () => {
    const samples = [
      { cpuMs: 1, disturbance: 0.02 },
      { cpuMs: 1, disturbance: 0.11 },
    ]
    expect(summarize(samples)).toMatchObject({ disturbance: 0.11, disturbed: true })
  })

  it('has only figures that the samples have', () => {
    expect(summarize([{ memoryMb: 90 }])).toEqual({
      samples: 1,
      memoryMb: { median: 90, least: 90, most: 90 },
    })
  })
})

describe('a limit', () => {
  const nodes = {
    tandem: cpu('tandem', 2),
    'tandem-disk': cpu('tandem', 1.5),
    anvil: cpu('peer', 5),
    'hardhat-3': cpu('peer', 4),
    http: cpu('floor', 1),
  }

  it('compares with the best peer, not with floors or Tandem itself', () => {
    const row = { name: 'row', limits: [{ most: 0.5 }], nodes }
    expect(judge(row, [row])).toEqual([
      { node: 'tandem', of: 'hardhat-3', ratio: 0.5, most: 0.5, holds: true },
    ])
    expect(againstBestPeer(row)).toEqual({ of: 'hardhat-3', ratio: 0.5 })
  })

  it('compares with the best of the nodes that it names', () => {
    const limits = [
      { most: 1.2, of: ['http'] },
      { node: 'tandem-disk', most: 0.3, of: ['anvil', 'tandem'] },
    ]
    const row = { name: 'row', limits, nodes }
    expect(judge(row, [row])).toEqual([
      { node: 'tandem', of: 'http', ratio: 2, most: 1.2, holds: false },
      { node: 'tandem-disk', of: 'tandem', ratio: 0.75, most: 0.3, holds: false },
    ])
  })

  it('judges every release of Node.js against a peer, and the first alone against a floor', () => {
    const limits = [
      { most: 1, of: ['anvil'] },
      { most: 1.2, of: ['http'] },
      { node: 'tandem-disk', most: 1 },
    ]
    const row = { name: 'row', limits, nodes: { ...nodes, 'tandem-node-26': cpu('tandem', 1) } }
    const judged = judge(row, [row]).map(({ node, of, holds }) => [node, of, holds])
    expect(judged).toEqual([
      ['tandem', 'anvil', true],
      ['tandem-node-26', 'anvil', true],
      ['tandem', 'http', false],
      ['tandem-disk', 'hardhat-3', true],
    ])
  })

  it('compares with another row of the same run', () => {
    const own = { tandem: cpu('tandem', 0.3) }
    const row = { name: 'in-process', limits: [{ most: 0.3, of: ['anvil'], row: 'row' }], nodes: own }
    const [judgement] = judge(row, [row, { name: 'row', nodes }])
    expect(judgement).toMatchObject({ of: 'anvil', row: 'row', holds: true })
    expect(judgement?.ratio).toBeCloseTo(0.06, 12)
  })

  it('compares memory when the row measures memory', () => {
    const memory = {
      tandem: { kind: 'tandem', cpuMs: { median: 9 }, memoryMb: { median: 80 } },
      'hardhat-3': { kind: 'peer', cpuMs: { median: 1 }, memoryMb: { median: 160 } },
    }
    const row = { name: 'memory', figure: 'memoryMb', limits: [{ most: 1 }], nodes: memory }
    expect(judge(row, [row])).toMatchObject([{ ratio: 0.5, holds: true }])
  })

  it('has no result without both figures', () => {
    const limits = [{ most: 1 }, { most: 1, of: ['tandem'], row: 'absent' }, { node: 'ganache', most: 1 }]
    const row = { name: 'row', limits, nodes: { tandem: cpu('tandem', 1) } }
    expect(judge(row, [row])).toEqual([])
    expect(againstBestPeer(row)).toBeUndefined()
  })
})
