/** Coverage as a table for the terminal. */
import pc from 'picocolors'
import type { CoverageMap } from '../coverage/model.ts'
import {
  type CoverageSummary,
  type Part,
  percent,
  summaryOf,
  sumOf,
  uncoveredLines,
} from '../coverage/summary.ts'
import { plain } from './terminal-text.ts'

const HEAD = ['% stmts', '% branch', '% funcs', '% lines'] as const
/** Characters of a list of lines, which is cut from the front. */
const LONGEST_LIST = 32
/** Percent from which a figure is green, and yellow. */
const GOOD = 80
const FAIR = 50

function cell(part: Part): string {
  const value = percent(part)
  const text = `${value}`.padStart(9)
  return value >= GOOD ? pc.green(text) : value >= FAIR ? pc.yellow(text) : pc.red(text)
}

function cells({ statements, branches, functions, lines }: CoverageSummary): string {
  return [statements, branches, functions, lines].map(cell).join('')
}

function shortened(list: string): string {
  return list.length <= LONGEST_LIST ? list : `…${list.slice(1 - LONGEST_LIST)}`
}

/** The lines of the table: a file in each, and the sum in the last. */
export function coverageTable(files: CoverageMap): string[] {
  const rows = Object.values(files)
  if (rows.length === 0) return ['No coverage: the node knows no sources with syntax trees.']
  const width = Math.max('all files'.length, ...rows.map(({ path }) => path.length))
  const summaries = rows.map(summaryOf)
  const head = HEAD.map((name) => name.padStart(9)).join('')
  return [
    pc.bold(`${'file'.padEnd(width)}${head}  uncovered lines`),
    ...rows.map((coverage, index) => {
      const summary = summaries[index]
      const shown = summary === undefined ? '' : cells(summary)
      return `${plain(coverage.path).padEnd(width)}${shown}  ${pc.red(shortened(uncoveredLines(coverage)))}`.trimEnd()
    }),
    pc.bold(`${'all files'.padEnd(width)}${cells(sumOf(summaries))}`),
  ]
}
