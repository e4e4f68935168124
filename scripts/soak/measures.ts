/** All that is measured in a run: how long calls took, memory, and what was done to the nodes. */
import { residentBytes } from './node-process.ts'
import { type Point, quantile, type Trend, trendOf, warmUp, windowed } from './series.ts'
import type { Restart } from './target.ts'

/** Measures that may drift over a run: latency in yardsticks, memory and the live heap in megabytes. */
export const LATENCY_BOUND = { share: 0.5, least: 0.5 }
export const MEMORY_BOUND = { share: 0.5, least: 100 }
export const HEAP_BOUND = { share: 0.25, least: 16 }

/** The noise of the machine up to which latency is judged. */
export const MOST_NOISE = 2

/** The name of the yardstick among the measures. */
export const YARDSTICK = 'yardstick'

/** The node that is killed. None of its processes runs long enough to warm up, so it is measured in another way. */
export const KILLED = 'killed'

/** Seconds whose median makes one point of a line. */
const WINDOW = 2
/** Seconds whose median is compared with that of the yardstick. */
const WIDE_WINDOW = 5
/** Seconds after a start in which the memory of a process is not measured. */
const YOUNG = 3
/** The age at which the processes of the killed node are compared: seconds. */
export const GROWN = 5

/** A node that was ended and came back. */
export interface TimedRestart extends Restart {
  readonly at: number
  readonly signal: 'SIGKILL' | 'SIGTERM'
}

/** One row: a kind of call on a node. Milliseconds. */
export interface CallRow {
  readonly node: string
  readonly kind: string
  readonly count: number
  readonly half: number
  readonly most: number
  /** In yardsticks; nothing for the killed node, whose processes all start cold, and where the machine is too noisy. */
  readonly trend: Trend | undefined
}

/** The notebook of one run. */
export class Measures {
  #began = performance.now()
  #isOpen = false
  #length = 0
  readonly #calls = new Map<string, Map<string, Point[]>>()
  readonly #memory = new Map<string, Point[]>()
  readonly #heap = new Map<string, Point[]>()
  readonly #firstSeen = new Map<number, number>()
  /** Processes of the killed node that have been compared, and what they weighed. */
  readonly #grown = new Map<number, Point>()
  readonly restarts: TimedRestart[] = []

  /** Starts recording, until `end`; the setup is before it, and the audit after it. */
  begin(): void {
    this.#began = performance.now()
    this.#isOpen = true
  }

  end(): void {
    this.#isOpen = false
    this.#length = this.now()
  }

  /** Seconds that the load lasted, until the last of it had ended. */
  get length(): number {
    return this.#length
  }

  /** Seconds since the load began. */
  now(): number {
    return (performance.now() - this.#began) / 1000
  }

  /** The recorder of a caller of a node. */
  timedFor(node: string): (kind: string, milliseconds: number) => void {
    const kinds = new Map<string, Point[]>()
    this.#calls.set(node, kinds)
    return (kind, milliseconds) => {
      if (!this.#isOpen) return
      const points = kinds.get(kind)
      if (points === undefined) kinds.set(kind, [[this.now(), milliseconds]])
      else points.push([this.now(), milliseconds])
    }
  }

  /** Looks at the memory of a node's process, which may have changed. */
  weigh(node: string, pid: number | undefined): void {
    if (pid === undefined) return
    const now = this.now()
    const first = this.#firstSeen.get(pid)
    if (first === undefined) this.#firstSeen.set(pid, now)
    const bytes = residentBytes(pid)
    if (bytes === undefined || now - (first ?? now) < YOUNG) return
    const point: Point = [now, bytes / 2 ** 20]
    if (node === KILLED && now - (first ?? now) >= GROWN && !this.#grown.has(pid)) this.#grown.set(pid, point)
    const points = this.#memory.get(node)
    if (points === undefined) this.#memory.set(node, [point])
    else points.push(point)
  }

  /** Adds a measurement of the live heap of a node, bytes. */
  noteHeap(node: string, bytes: number): void {
    const points = this.#heap.get(node)
    const point: Point = [this.now(), bytes / 2 ** 20]
    if (points === undefined) this.#heap.set(node, [point])
    else points.push(point)
  }

  /** Megabytes of live heap over time. */
  heap(node: string): readonly Point[] {
    return this.#heap.get(node) ?? []
  }

  /** Megabytes over time. */
  memory(node: string): readonly Point[] {
    return this.#memory.get(node) ?? []
  }

  /** Milliseconds over time, of one kind or of all: the median of each moment, or another share. */
  latency(node: string, kind?: string, share = 0.5): Point[] {
    return windowed(this.#points(node, kind), WINDOW, share)
  }

  /**
   * How many times longer the yardstick took in bad moments than in good ones, leaving out a tenth on either side and
   * the time of warming up in a run of so many seconds. On a machine that is busy with other work now and then latency cannot be judged.
   */
  noise(seconds: number): number {
    const values = windowed(this.#points(YARDSTICK), WIDE_WINDOW)
      .filter(([at]) => at >= warmUp(seconds))
      .map(([, value]) => value)
    return (quantile(values, 0.9) ?? 1) / (quantile(values, 0.1) ?? 1)
  }

  /** Latency of a kind over time, in yardsticks. */
  #relative(node: string, kind: string): Point[] {
    const yardstick = new Map(windowed(this.#points(YARDSTICK), WIDE_WINDOW))
    return windowed(this.#points(node, kind), WIDE_WINDOW).flatMap(([at, value]): Point[] => {
      const unit = yardstick.get(at)
      return unit === undefined ? [] : [[at, value / unit]]
    })
  }

  #points(node: string, kind?: string): Point[] {
    const kinds = this.#calls.get(node)
    return kind === undefined ? [...(kinds?.values() ?? [])].flat() : (kinds?.get(kind) ?? [])
  }

  /** Calls in a second over time, of some kinds. */
  rate(node: string, kinds: readonly string[]): Point[] {
    const counts = new Map<number, number>()
    const points = kinds.flatMap((kind) => this.#points(node, kind))
    const last = Math.floor(this.#length / WINDOW)
    for (let window = 0; window < last; window++) counts.set(window, 0)
    for (const [at] of points) {
      const window = Math.floor(at / WINDOW)
      if (counts.has(window)) counts.set(window, (counts.get(window) as number) + 1)
    }
    return [...counts].map(([window, count]) => [(window + 0.5) * WINDOW, count / WINDOW])
  }

  /** The calls of a node, the most frequent kind first. */
  rows(node: string, seconds: number): CallRow[] {
    const isJudged = node !== KILLED && node !== YARDSTICK && this.noise(seconds) <= MOST_NOISE
    return [...(this.#calls.get(node) ?? [])]
      .map(([kind, points]) => {
        const values = points.map(([, value]) => value)
        return {
          node,
          kind,
          count: values.length,
          half: quantile(values, 0.5) ?? 0,
          most: quantile(values, 0.99) ?? 0,
          trend: isJudged ? trendOf(this.#relative(node, kind), seconds, LATENCY_BOUND) : undefined,
        }
      })
      .toSorted((a, b) => b.count - a.count)
  }

  /** How a node's memory went; that of the killed one from process to process, at the same age. */
  memoryTrend(node: string, seconds: number): Trend {
    const points = node === KILLED ? [...this.#grown.values()] : this.memory(node)
    return trendOf(points, seconds, MEMORY_BOUND)
  }

  /** The trend of a node's live heap; none for the killed one. */
  heapTrend(node: string, seconds: number): Trend | undefined {
    return node === KILLED ? undefined : trendOf(this.heap(node), seconds, HEAP_BOUND)
  }
}
