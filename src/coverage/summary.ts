/** Totals of the coverage of a file. */
import type { FileCoverage } from './model.ts'

/** How many there are, and how many ran. */
export interface Part {
  readonly total: number
  readonly covered: number
}

/** The totals of a file, or of several. */
export interface CoverageSummary {
  readonly statements: Part
  readonly branches: Part
  readonly functions: Part
  readonly lines: Part
}

const partOf = (counts: readonly number[]): Part => ({
  total: counts.length,
  covered: counts.filter((count) => count > 0).length,
})

/** How often each line with a statement ran, in order: as often as the statement that begins there and ran most often. */
export function lineCounts({ statementMap, s }: FileCoverage): readonly (readonly [number, number])[] {
  const lines = new Map<number, number>()
  for (const [key, { start }] of Object.entries(statementMap)) {
    lines.set(start.line, Math.max(lines.get(start.line) ?? 0, s[key] ?? 0))
  }
  return [...lines].sort(([a], [b]) => a - b)
}

/** The totals of a file. */
export function summaryOf(coverage: FileCoverage): CoverageSummary {
  return {
    statements: partOf(Object.values(coverage.s)),
    branches: partOf(Object.values(coverage.b).flat()),
    functions: partOf(Object.values(coverage.f)),
    lines: partOf(lineCounts(coverage).map(([, count]) => count)),
  }
}

/** The sums of totals. */
export function sumOf(summaries: readonly CoverageSummary[]): CoverageSummary {
  const sum = (partIn: (summary: CoverageSummary) => Part): Part => ({
    total: summaries.reduce((total, summary) => total + partIn(summary).total, 0),
    covered: summaries.reduce((covered, summary) => covered + partIn(summary).covered, 0),
  })
  return {
    statements: sum(({ statements }) => statements),
    branches: sum(({ branches }) => branches),
    functions: sum(({ functions }) => functions),
    lines: sum(({ lines }) => lines),
  }
}

/** Percent with two digits, rounded down; 100 of nothing. */
export function percent({ total, covered }: Part): number {
  return total === 0 ? 100 : Math.floor((covered * 10_000) / total) / 100
}

/** The lines that did not run, as `3,7-9`. Lines without a statement in between do not end a range. */
export function uncoveredLines(coverage: FileCoverage): string {
  const ranges: [number, number][] = []
  let isOpen = false
  for (const [line, count] of lineCounts(coverage)) {
    const last = ranges.at(-1)
    if (count > 0) isOpen = false
    else if (isOpen && last !== undefined) last[1] = line
    else {
      ranges.push([line, line])
      isOpen = true
    }
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',')
}
