/**
 * A plot of a run as SVG: panels one below another on one axis of time, with marks where something happened. The library
 * that draws SVG without a browser (echarts) installs 67 MB, and its options for these panels are as long as this file.
 */
import { type Point, quantile } from './series.ts'

/** One line of a panel. */
export interface Line {
  /** Empty for what accompanies another line. */
  readonly label: string
  readonly colour: string
  readonly points: readonly Point[]
  readonly isThin?: boolean
}

/** One panel. */
export interface Panel {
  readonly title: string
  readonly lines: readonly Line[]
  /** Each step of the axis is ten times the one before; for values that lie far apart. */
  readonly isLogarithmic?: boolean
}

/** Something that happened, drawn through all panels. */
export interface Mark {
  readonly at: number
  readonly colour: string
}

/** A whole picture. */
export interface Plot {
  readonly title: string
  readonly subtitle: string
  /** Seconds. */
  readonly length: number
  readonly panels: readonly Panel[]
  readonly marks: readonly Mark[]
  /** The meaning of the colours of marks. */
  readonly legend: readonly { readonly label: string; readonly colour: string }[]
}

const WIDTH = 960
const LEFT = 64
const RIGHT = 24
const TOP = 76
const PANEL = 190
const GAP = 56
/** A gap of so many seconds, and of so many usual distances between points, breaks a line: nothing was measured there. */
const GAP_SECONDS = 3
const GAP_DISTANCES = 1.5
const INNER = WIDTH - LEFT - RIGHT

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (mark) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }[mark]};`)

const round = (number: number): string => String(Math.round(number * 10) / 10)

/** About five round steps from 0 to beyond the largest value. */
function steps(largest: number): number[] {
  const rough = Math.max(largest, 1e-9) / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) as number)
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, i) => i * step)
}

/** Powers of ten around all values above 0. */
function powers(values: readonly number[]): number[] {
  const positive = values.filter((value) => value > 0)
  if (positive.length === 0) return [1, 10]
  const low = Math.floor(Math.log10(positive.reduce((a, b) => Math.min(a, b))))
  const high = Math.ceil(Math.log10(positive.reduce((a, b) => Math.max(a, b))))
  return Array.from({ length: Math.max(high - low, 1) + 1 }, (_, i) => 10 ** (low + i))
}

function text(x: number, y: number, words: string, attributes = ''): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(words)}</text>`
}

/** Entries side by side, each a stroke of its colour and its name. */
function legend(entries: readonly { label: string; colour: string }[], right: number, y: number): string {
  let x = right
  return entries
    .toReversed()
    .map(({ label, colour }) => {
      x -= label.length * 6.6 + 30
      const line = `<line x1="${round(x)}" x2="${round(x + 14)}" y1="${y - 4}" y2="${y - 4}" stroke="${colour}" stroke-width="3"/>`
      return line + text(x + 19, y, label)
    })
    .join('')
}

function panel({ title, lines, isLogarithmic = false }: Panel, top: number, length: number): string {
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value))
  const ticks = isLogarithmic
    ? powers(values)
    : steps(values.reduce((largest, value) => Math.max(largest, value), 0))
  const scale = (value: number) => (isLogarithmic ? Math.log10(Math.max(value, ticks[0] as number)) : value)
  const [low, high] = [scale(ticks[0] as number), scale(ticks.at(-1) as number) || 1]
  const x = (at: number) => LEFT + (at / length) * INNER
  const y = (value: number) => top + PANEL - ((scale(value) - low) / (high - low)) * PANEL
  const grid = ticks.map((tick) => {
    const line = `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(tick))}" y2="${round(y(tick))}" stroke="#e3e3e3"/>`
    return line + text(LEFT - 8, y(tick) + 4, String(Number(tick.toPrecision(3))), 'text-anchor="end"')
  })
  const drawn = lines
    .filter(({ points }) => points.length > 0)
    .map(({ colour, points, isThin }) => {
      const distances = points.slice(1).map(([at], i) => at - (points[i] as Point)[0])
      const gap = Math.max(GAP_SECONDS, GAP_DISTANCES * (quantile(distances, 0.5) ?? 0))
      const path = points
        .map(([at, value], i) => {
          const isNew = i === 0 || (distances[i - 1] as number) > gap
          return `${isNew ? 'M' : 'L'}${round(x(at))} ${round(y(value))}`
        })
        .join('')
      return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${isThin ? 1 : 1.8}" stroke-linejoin="round"/>`
    })
  const named = lines.filter(({ label }) => label !== '')
  const heading = text(LEFT, top - 12, title, 'font-weight="600"')
  return [heading, legend(named, WIDTH - RIGHT, top - 12), ...grid, ...drawn].join('\n')
}

/** Draws it. */
export function drawPlot({ title, subtitle, length, panels, marks, legend: meanings }: Plot): string {
  const tops = panels.map((_, i) => TOP + 34 + i * (PANEL + GAP))
  const bottom = (tops.at(-1) ?? TOP) + PANEL
  const x = (at: number) => LEFT + (at / length) * INNER
  const seconds = steps(length).filter((at) => at <= length)
  const axis = seconds.map((at) => text(x(at), bottom + 18, `${at} s`, 'text-anchor="middle"'))
  const happened = marks.map(
    ({ at, colour }) =>
      `<line x1="${round(x(at))}" x2="${round(x(at))}" y1="${tops[0]}" y2="${bottom}" stroke="${colour}" stroke-width="1" opacity="0.35"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${bottom + 34}" viewBox="0 0 ${WIDTH} ${bottom + 34}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#333">
<rect width="100%" height="100%" fill="#fff"/>
${text(LEFT, 30, title, 'font-size="17" font-weight="600"')}
${text(LEFT, 52, subtitle, 'fill="#666"')}
${legend(meanings, WIDTH - RIGHT, 52)}
${happened.join('\n')}
${panels.map((one, i) => panel(one, tops[i] as number, length)).join('\n')}
${axis.join('\n')}
</svg>
`
}
