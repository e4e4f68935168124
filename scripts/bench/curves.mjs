/** Curves of figures against sizes, both on logarithmic scales, a panel for each thing that grows. */

/** Pixels: a panel's plot, what stands around it, and a line of its legend. */
const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, LINE] = [300, 170, 56, 34, 24, 16]
const PANEL = LEFT + WIDTH + RIGHT
const COLUMNS = 2
const COLORS = [
  ...['#0969da', '#cf222e', '#2da44e', '#bf8700', '#8250df', '#bc4c00'],
  ...['#1b7c83', '#59636e', '#a40e26', '#d4a72c', '#bf3989', '#4d2d00', '#0a3069', '#116329'],
]
const STYLE = `text { font: 11px system-ui, sans-serif; fill: #1f2328 } .title { font-weight: 600 } .grid { stroke: #d1d9e0 }
@media (prefers-color-scheme: dark) { text { fill: #d1d7e0 } .grid { stroke: #3d444d } }`

/** Powers of ten from the one below the least to the one above the most. */
function powers(values) {
  const from = Math.floor(Math.log10(Math.min(...values)))
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))
  return Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at))
}

/** The place of a value between the ends of a scale, 0 to 1. */
const share = (value, scale) => Math.log(value / scale[0]) / Math.log(scale.at(-1) / scale[0])

function panel({ what, rows }) {
  const names = Object.keys(rows[0].figures)
  const values = rows.flatMap(({ figures }) => Object.values(figures)).map((value) => Math.max(value, 0.01))
  const [sizes, scale] = [powers(rows.map(({ size }) => size)), powers(values)]
  const x = (size) => (LEFT + WIDTH * share(size, sizes)).toFixed(1)
  const y = (value) => (TOP + HEIGHT * (1 - share(Math.max(value, 0.01), scale))).toFixed(1)
  const across = scale.map(
    (value) => `<line class="grid" x1="${LEFT}" x2="${LEFT + WIDTH}" y1="${y(value)}" y2="${y(value)}"/>
<text x="${LEFT - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${value.toLocaleString('en')}</text>`,
  )
  const below = sizes.map(
    (size) =>
      `<text x="${x(size)}" y="${TOP + HEIGHT + 16}" text-anchor="middle">${size.toLocaleString('en')}</text>`,
  )
  const lines = names.map((name, at) => {
    const points = rows.map(({ size, figures }) => `${x(size)},${y(figures[name])}`).join(' ')
    const color = COLORS[at % COLORS.length]
    const legend = TOP + HEIGHT + 34 + at * LINE
    return `<polyline fill="none" stroke="${color}" stroke-width="1.5" points="${points}"/>
<rect x="${LEFT}" y="${legend - 8}" width="10" height="8" fill="${color}"/><text x="${LEFT + 16}" y="${legend}">${name}</text>`
  })
  return [`<text class="title" x="${LEFT}" y="20">${what}</text>`, ...across, ...below, ...lines].join('\n')
}

/**
 * @param {{ what: string, rows: { size: number, figures: Record<string, number> }[] }[]} grown
 * @returns {string} SVG
 */
export function curves(grown) {
  const most = Math.max(...grown.map(({ rows }) => Object.keys(rows[0].figures).length))
  const height = TOP + HEIGHT + 40 + most * LINE
  const panels = grown.map((one, at) => {
    const place = `${(at % COLUMNS) * PANEL} ${Math.floor(at / COLUMNS) * height}`
    return `<g transform="translate(${place})">\n${panel(one)}\n</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${COLUMNS * PANEL} ${Math.ceil(grown.length / COLUMNS) * height}" role="img">
<title>Figures of a node with a data directory against the size of what grows, logarithmic scales</title>
<style>${STYLE}</style>
${panels.join('\n')}
</svg>
`
}
