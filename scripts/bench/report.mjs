/** The output of a run, and the Markdown of a recorded one. */
import { againstBestPeer, figureOf, judge } from './statistics.mjs'

/** A figure with three digits. */
export function short(figure) {
  if (figure === undefined || Number.isNaN(figure)) return ''
  if (figure >= 100) return figure.toFixed(0)
  if (figure >= 10) return figure.toFixed(1)
  return figure.toFixed(figure >= 1 ? 2 : 3)
}

const percent = (share) => `${Math.round(share * 100)} %`

/** Factors from a row's stored figure, ms or MB, to its unit. */
const SCALES = { ns: 1e6, µs: 1e3, ms: 1, s: 1e-3, MB: 1 }
const scaleOf = (row) => SCALES[row.unit ?? 'ms']

/** What a row measures, in its unit. */
export function unitOf(row) {
  if (row.figure === 'memoryMb') return 'MB'
  return `${row.unit ?? 'ms'} of processor time of one ${row.operation}`
}

/** States a limit and whether it holds. */
function verdict({ node, of, row, ratio, most, holds }) {
  const other = row === undefined ? of : `${of} in ${row}`
  return `${node} takes ${ratio.toFixed(2)} of ${other}; at most ${most}: ${holds ? 'holds' : 'does not hold'}`
}

/**
 * The cells of a row's table.
 * @returns {{ node: string, median: string, spread: string, wall: string, wallSpread: string, ratio: string,
 *   others: string }[]} `ratio`: Tandem's figure as a multiple of this one; `others`: the highest share that others had
 */
export function cellsOf(row) {
  const scale = scaleOf(row)
  const text = (summary) => ({
    median: short(summary.median * scale),
    spread: `${short(summary.least * scale)}–${short(summary.most * scale)}`,
  })
  const own = figureOf(row, row.nodes.tandem)
  return Object.entries(row.nodes).map(([node, summary]) => {
    const wall = row.figure === undefined ? text(summary.wallMs) : { median: '', spread: '' }
    const others = summary.disturbance === undefined ? '' : percent(summary.disturbance)
    return {
      node,
      ...text(summary[row.figure ?? 'cpuMs']),
      wall: wall.median,
      wallSpread: wall.spread,
      ratio: own === undefined || node === 'tandem' ? '' : short(own / figureOf(row, summary)),
      others: `${others}${summary.disturbed ? ' (disturbed)' : ''}`,
    }
  })
}

/** The lines that a row prints in the terminal. */
export function rowLines(row) {
  const widths = [12, 9, 15, 9, 15, 9, 0]
  const line = (cells) => `  ${cells.map((cell, i) => cell.padEnd(widths[i])).join('')}`.trimEnd()
  return [
    `${row.name}: ${row.title}; ${unitOf(row)}`,
    line(['', 'median', 'spread', 'wall', 'spread', 'tandem/', 'others']),
    ...cellsOf(row).map((cells) => line(Object.values(cells))),
    ...Object.entries(row.errors).map(([name, message]) => `  ${name}: ${message}`),
  ]
}

/** The lines about limits that follow when all rows are known. */
export function limitLines(rows) {
  return rows.flatMap((row) => judge(row, rows).map((one) => `${row.name}: ${verdict(one)}`))
}

/**
 * Tandem's ratios of a run beside those of an earlier one: rows that both have.
 * @returns {{ name: string, own: number, ratio?: number, before?: number }[]} `own`: Tandem's figure as a multiple of
 *   the earlier one; `ratio` and `before`: to the best peer, now and then
 */
export function compare(rows, earlier) {
  return rows.flatMap((row) => {
    const old = earlier.find(({ name }) => name === row.name)
    const now = figureOf(row, row.nodes.tandem)
    const then = old === undefined ? undefined : figureOf(old, old.nodes.tandem)
    if (now === undefined || then === undefined) return []
    return [
      {
        name: row.name,
        own: now / then,
        ratio: againstBestPeer(row)?.ratio,
        before: againstBestPeer(old)?.ratio,
      },
    ]
  })
}

/** The lines about an earlier run. */
export function changeLines(rows, earlier) {
  return [
    `Against the run of ${earlier.recorded} (${earlier.commit}): Tandem now/then, ratio to the best peer now, then`,
    ...compare(rows, earlier.rows).map(({ name, own, ratio, before }) =>
      `  ${name.padEnd(24)}${short(own).padEnd(8)}${short(ratio).padEnd(8)}${short(before)}`.trimEnd(),
    ),
  ]
}
