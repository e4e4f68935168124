/** Measurements over time, and whether they stay level: a straight line through them that no outlier can bend. */

/** Seconds since the start, and the measured value. */
export type Point = readonly [seconds: number, value: number]

/** The value below which a share of all values lies; `undefined` without values. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** The median of the values in each stretch of so many seconds, at its middle. */
export function windowed(points: readonly Point[], seconds: number, share = 0.5): Point[] {
  const windows = new Map<number, number[]>()
  for (const [at, value] of points) {
    const window = Math.floor(at / seconds)
    const values = windows.get(window)
    if (values === undefined) windows.set(window, [value])
    else values.push(value)
  }
  return [...windows]
    .toSorted(([a], [b]) => a - b)
    .map(([window, values]) => [(window + 0.5) * seconds, quantile(values, share) as number])
}

/** Change in a second: the median of the slopes between any two points (Theil and Sen). */
export function slope(points: readonly Point[]): number {
  const slopes: number[] = []
  points.forEach(([at, value], i) => {
    for (const [later, other] of points.slice(i + 1))
      if (later > at) slopes.push((other - value) / (later - at))
  })
  return quantile(slopes, 0.5) ?? 0
}

/** How far something may drift over the part of a run that is judged: a share of its median, and never less than `least`. */
export interface Bound {
  readonly share: number
  readonly least: number
}

/** The trend of a series after warming up. */
export interface Trend {
  readonly median: number
  /** Change over the judged part of the run, in the unit of the values. */
  readonly change: number
  readonly allowed: number
  /** `short` where too little was measured to tell. */
  readonly verdict: 'level' | 'rising' | 'short'
}

/** Seconds that have to be measured after warming up before a line means anything. */
const LEAST_SECONDS = 60

/** Seconds that a run of such length warms up: caches fill, code is compiled, the heap finds its size. */
export function warmUp(seconds: number): number {
  return Math.max(60, seconds / 4)
}

/** Judges a series of a run of so many seconds. Falling is as good as level. */
export function trendOf(points: readonly Point[], seconds: number, { share, least }: Bound): Trend {
  const judged = points.filter(([at]) => at >= warmUp(seconds))
  const span = (judged.at(-1)?.[0] ?? 0) - (judged[0]?.[0] ?? 0)
  const median = quantile(
    judged.map(([, value]) => value),
    0.5,
  )
  const change = slope(judged) * span
  const allowed = Math.max(least, (median ?? 0) * share)
  if (median === undefined || span < LEAST_SECONDS)
    return { median: median ?? 0, change, allowed, verdict: 'short' }
  return { median, change, allowed, verdict: change > allowed ? 'rising' : 'level' }
}
