/** What a run prints, and the Markdown of a recorded one. */
import { againstBestPeer, figureOf, judge } from './statistics.mjs'

/** A figure with three digits. */
export function short(figure) {
  if (figure === undefined || Number.isNaN(figure)) return ''
  if (figure >= 100) return figure.toFixed(0)
  if (figure >= 10) return figure.toFixed(1)
  return figure >= 1 ? figure.toFixed(2) : figure.toPrecision(2)
}

const percent = (share) => `${Math.round(share * 100)} %`

/** What a row is judged by, with its unit. */
const UNITS = { cpuMs: 'ms of processor time', wallMs: 'ms', memoryMb: 'MB resident' }
const unitOf = (row) => `${UNITS[row.figure ?? 'cpuMs']} of one ${row.operation}`

const spreadOf = ({ least, most }) => `${short(least)}–${short(most)}`

/** A limit and whether it holds, in a sentence. */
function verdict({ node, of, row, ratio, most, holds }) {
  const other = row === undefined ? of : `${of} in ${row}`
  return `${node} takes ${ratio.toFixed(2)} of ${other}; at most ${most}: ${holds ? 'holds' : 'does not hold'}`
}

/** Cells of each node of a row: name, figure, spread, wall time, its spread, ratio to tandem, disturbance. */
function cellsOf(row) {
  const own = figureOf(row, row.nodes.tandem)
  return Object.entries(row.nodes).map(([name, node]) => {
    const figure = figureOf(row, node)
    const ratio = own === undefined || name === 'tandem' ? '' : (own / figure).toFixed(2)
    const marked = node.disturbance === undefined ? '' : percent(node.disturbance)
    const wall = row.figure === undefined && node.wallMs !== undefined
    return [
      name,
      short(figure),
      spreadOf(node[row.figure ?? 'cpuMs']),
      wall ? short(node.wallMs.median) : '',
      wall ? spreadOf(node.wallMs) : '',
      ratio,
      `${marked}${node.disturbed ? ' (disturbed)' : ''}`,
    ]
  })
}

/** The lines that a row prints in the terminal. */
export function rowLines(row) {
  const widths = [12, 9, 15, 9, 15, 8, 0]
  const head = ['', 'median', 'spread', 'wall, ms', 'spread', 'tandem/', 'others']
  const line = (cells) => `  ${cells.map((cell, i) => cell.padEnd(widths[i])).join('')}`.trimEnd()
  return [
    `${row.name}: ${row.title}; ${unitOf(row)}`,
    line(head),
    ...cellsOf(row).map(line),
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
