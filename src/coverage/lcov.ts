/**
 * Coverage as LCOV's tracefile (geninfo(1)), in the order in which istanbul writes it. Its package istanbul-reports loads
 * reports by their path at run time, so it cannot be part of a bundle.
 */
import type { CoverageMap, FileCoverage } from './model.ts'
import { lineCounts, summaryOf } from './summary.ts'

/** A path or name in a line of its own. */
const inLine = (text: string): string => text.replace(/[\r\n]/g, ' ')

function record(coverage: FileCoverage): string[] {
  const { fnMap, f, branchMap, b, path } = coverage
  const { lines, functions, branches } = summaryOf(coverage)
  const named = Object.entries(fnMap)
  const ways = Object.entries(branchMap).flatMap(([key, { line }]) =>
    (b[key] ?? []).map((count, way) => `BRDA:${line},${key},${way},${count}`),
  )
  return [
    'TN:',
    `SF:${inLine(path)}`,
    ...named.map(([, { name, decl }]) => `FN:${decl.start.line},${inLine(name)}`),
    `FNF:${functions.total}`,
    `FNH:${functions.covered}`,
    ...named.map(([key, { name }]) => `FNDA:${f[key] ?? 0},${inLine(name)}`),
    ...lineCounts(coverage).map(([line, count]) => `DA:${line},${count}`),
    `LF:${lines.total}`,
    `LH:${lines.covered}`,
    ...ways,
    `BRF:${branches.total}`,
    `BRH:${branches.covered}`,
    'end_of_record',
  ]
}

/** The tracefile of files, which `genhtml` turns into pages. */
export function lcovText(files: CoverageMap): string {
  return Object.values(files)
    .flatMap(record)
    .map((line) => `${line}\n`)
    .join('')
}
