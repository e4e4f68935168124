/** The picture of a recorded run: for each limit Tandem's ratio as a bar on a logarithmic scale, the limit as a mark. */
import { short } from './report.mjs'
import { judge } from './statistics.mjs'

/** Pixels. */
const [LABELS, PLOT, FIGURES, ROW, HEAD] = [440, 420, 70, 22, 44]
/** Ends of the scale, ratios. */
const [LEAST, MOST] = [0.05, 20]
const GRID = [0.1, 0.2, 0.5, 1, 2, 5, 10]

const STYLE = `text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.grid { stroke: #d1d9e0 } .one { stroke: #59636e } .limit { stroke: #1f2328; stroke-width: 2 }
.holds { fill: #2da44e } .exceeds { fill: #cf222e }
@media (prefers-color-scheme: dark) {
text { fill: #d1d7e0 } .grid { stroke: #3d444d } .one { stroke: #9198a1 } .limit { stroke: #f0f6fc } }`

/** The position of a ratio, pixels from the left; ratios beyond the scale are at its end. */
export function position(ratio) {
  const share = Math.log(ratio / LEAST) / Math.log(MOST / LEAST)
  return LABELS + PLOT * Math.min(1, Math.max(0, share))
}

const x = (ratio) => position(ratio).toFixed(1)

function bar({ name, node, of, row, ratio, most, holds }, index) {
  const top = HEAD + index * ROW
  const own = node === 'tandem' ? '' : ` (${node})`
  const label = `${name}${own} / ${row === undefined ? of : `${of} in ${row}`}`
  const width = (position(ratio) - LABELS).toFixed(1)
  const mark = `x1="${x(most)}" x2="${x(most)}" y1="${top}" y2="${top + ROW - 2}"`
  return `<text x="${LABELS - 8}" y="${top + 15}" text-anchor="end">${label}</text>
<rect class="${holds ? 'holds' : 'exceeds'}" x="${LABELS}" y="${top + 3}" width="${width}" height="${ROW - 8}"/>
<line class="limit" ${mark}/>
<text x="${LABELS + PLOT + 8}" y="${top + 15}">${short(ratio)}</text>`
}

/**
 * @param {object[]} rows of a run
 * @returns {string} SVG
 */
export function chart(rows) {
  const judged = rows.flatMap((row) => judge(row, rows).map((one) => ({ ...one, name: row.name })))
  const height = HEAD + judged.length * ROW + 10
  const lines = GRID.map((ratio) => {
    const place = `x1="${x(ratio)}" x2="${x(ratio)}" y1="${HEAD - 6}" y2="${height - 8}"`
    const label = `<text x="${x(ratio)}" y="${HEAD - 12}" text-anchor="middle">${ratio}</text>`
    return `<line class="${ratio === 1 ? 'one' : 'grid'}" ${place}/>${label}`
  })
  const size = `${LABELS + PLOT + FIGURES} ${height}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" role="img">
<title>Tandem's figure as a multiple of another one's; the marks are the limits</title>
<style>${STYLE}</style>
<text x="8" y="16">Tandem as a multiple of the other; the mark is the limit</text>
${lines.join('\n')}
${judged.map(bar).join('\n')}
</svg>
`
}
