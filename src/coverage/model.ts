/** Coverage as istanbul writes it (https://github.com/istanbuljs/istanbuljs, `coverage-final.json`). */

/** Lines count from 1, columns from 0. */
interface CoveredPlace {
  line: number
  column: number
}

/** A range of a source. */
export interface CoveredRange {
  start: CoveredPlace
  end: CoveredPlace
}

/** The coverage of a file. Keys are places in its syntax tree; counts are how often something ran. */
export interface FileCoverage {
  path: string
  /** SHA-256 of the source. */
  hash: string
  statementMap: Record<string, CoveredRange>
  fnMap: Record<string, { name: string; decl: CoveredRange; loc: CoveredRange; line: number }>
  branchMap: Record<string, { type: string; loc: CoveredRange; locations: CoveredRange[]; line: number }>
  s: Record<string, number>
  f: Record<string, number>
  b: Record<string, number[]>
}

/** The coverage of files by path. */
export type CoverageMap = Record<string, FileCoverage>
