/** Medians, spreads, ratios and limits of the samples of a row. */
import { MOST_DISTURBANCE } from './measure.mjs'

/** The middle of some figures, the mean of the two middle ones when their number is even; NaN of none. */
export function median(figures) {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length === 0) return Number.NaN
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** @returns {{ median: number, least: number, most: number }} */
function spread(figures) {
  return { median: median(figures), least: Math.min(...figures), most: Math.max(...figures) }
}

/**
 * What the samples of one node in one row come to: for each figure that they have (`cpuMs`, `wallMs`, `memoryMb`) its
 * median, least and most, the highest disturbance, and whether that is too much.
 */
export function summarize(samples) {
  const summary = { samples: samples.length }
  for (const name of ['cpuMs', 'wallMs', 'memoryMb']) {
    const figures = samples.map((sample) => sample[name]).filter((figure) => figure !== undefined)
    if (figures.length > 0) summary[name] = spread(figures)
  }
  const shares = samples.map((sample) => sample.disturbance).filter((share) => share !== undefined)
  if (shares.length > 0) {
    summary.disturbance = Math.max(...shares)
    summary.disturbed = summary.disturbance > MOST_DISTURBANCE
  }
  return summary
}

/** The figure by which a row is judged. */
export const figureOf = (row, summary) => summary?.[row.figure ?? 'cpuMs']?.median

/**
 * Nodes that a limit compares with: those named, or all peers, each in the row of the limit.
 * @returns {{ name: string, kind: string, figure: number }[]} the best first
 */
function candidates(limit, row, rows) {
  const other = limit.row === undefined ? row : rows.find(({ name }) => name === limit.row)
  if (other === undefined) return []
  return Object.entries(other.nodes)
    .filter(([name, { kind }]) => (limit.of === undefined ? kind === 'peer' : limit.of.includes(name)))
    .map(([name, node]) => ({ name, kind: node.kind, figure: figureOf(other, node) }))
    .filter(({ figure }) => figure !== undefined)
    .sort((a, b) => a.figure - b.figure)
}

/** The nodes that a limit judges: the one that it names, or Tandem; against a peer, on every release of Node.js in the row. */
function judgedNodes(limit, row, { kind }) {
  if (limit.node !== undefined) return [limit.node]
  const releases = Object.keys(row.nodes).filter((name) => name.startsWith('tandem-node-'))
  return kind === 'peer' ? ['tandem', ...releases] : ['tandem']
}

/**
 * Judges a row by its limits: Tandem's figure against the best of the nodes that the limit names.
 * @param {object} row with its `limits` and the summaries of its nodes
 * @param {object[]} rows all rows of the run, since a limit may name another one
 * @returns {{ node: string, of: string, row?: string, ratio: number, most: number, holds: boolean }[]}
 */
export function judge(row, rows) {
  return (row.limits ?? []).flatMap((limit) => {
    const [best] = candidates(limit, row, rows)
    if (best === undefined) return []
    const where = limit.row === undefined ? {} : { row: limit.row }
    return judgedNodes(limit, row, best).flatMap((node) => {
      const own = figureOf(row, row.nodes[node])
      if (own === undefined) return []
      const ratio = own / best.figure
      return [{ node, of: best.name, ...where, ratio, most: limit.most, holds: ratio <= limit.most }]
    })
  })
}

/**
 * Tandem's ratio to the best peer in the same row; undefined in rows without peers.
 * @returns {{ of: string, ratio: number } | undefined}
 */
export function againstBestPeer(row, node = 'tandem') {
  const own = figureOf(row, row.nodes[node])
  const [best] = candidates({}, row, [])
  return own === undefined || best === undefined ? undefined : { of: best.name, ratio: own / best.figure }
}
