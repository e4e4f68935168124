/** Timing and tables of `npm run bench:micro`. */

/** Samples of each figure. */
export const SAMPLES = 7

/** Median, least and most of `SAMPLES` figures. */
export function spreadOf(figures) {
  const sorted = [...figures].sort((a, b) => a - b)
  return { median: sorted[SAMPLES >> 1], least: sorted[0], most: sorted[SAMPLES - 1] }
}

/** Microseconds of processor time of `run`, by operation, over several samples. */
export function time(operations, run) {
  const figures = []
  for (let sample = 0; sample < SAMPLES; sample++) {
    const before = process.cpuUsage()
    run(sample)
    const { user, system } = process.cpuUsage(before)
    figures.push((user + system) / operations)
  }
  return spreadOf(figures)
}

const short = (figure) => figure.toFixed(figure >= 100 ? 0 : figure >= 10 ? 1 : figure >= 1 ? 2 : 3)

/** Prints a line of a table. */
export const row = (...cells) => console.log(`| ${cells.join(' | ')} |`)

/** The cells of a figure: its median and its spread. */
export const timed = ({ median, least, most }) => [short(median), `${short(least)}–${short(most)}`]
