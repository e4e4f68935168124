/**
 * Cooperative scheduling of long runs: between two passes of the event loop over its sockets and timers, all of them
 * together get one time slice. The clock of a run also holds its deadline.
 */
import { NodeError } from '../errors.ts'

/** Milliseconds that long runs may keep the event loop to themselves. */
const SLICE_MS = 2

/** Jumps and calls between two readings of the clock. */
const TICKS_PER_CHECK = 1024

/** A call counts as much time as this many jumps. */
export const TICKS_PER_CALL = 32

/** What a run is for: building and checking blocks, or answering a query. Slices alternate between waiting lanes. */
export type Lane = 'chain' | 'query'

/** Runs that wait for a slice; one process has one event loop, and so one queue. */
const waiting: Readonly<Record<Lane, (() => void)[]>> = { chain: [], query: [] }
let preferred: Lane = 'chain'
let isScheduled = false
/** When the running slice began; `undefined` when nothing long has run since the last pass of the event loop. */
let sliceStart: number | undefined

/** Runs once per pass of the event loop while runs wait, and starts the slice of one of them. */
function startSlice(): void {
  isScheduled = false
  sliceStart = undefined
  const other: Lane = preferred === 'chain' ? 'query' : 'chain'
  const lane = waiting[preferred].length > 0 ? preferred : other
  const resume = waiting[lane].shift()
  if (resume === undefined) return
  preferred = lane === 'chain' ? 'query' : 'chain'
  sliceStart = performance.now()
  schedule()
  resume()
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(startSlice)
}

/**
 * Is the slice of this pass used up, by any run? `runStart` is when the asking run began or was resumed, on the clock
 * of `performance.now()`: it begins the slice of a pass in which no run asked before.
 */
export function isSliceOver(now: number, runStart: number): boolean {
  if (sliceStart === undefined) {
    sliceStart = runStart
    schedule()
  }
  return now - sliceStart >= SLICE_MS
}

/** Resolves after the sockets and timers that were ready, and after the slices of runs that waited longer. */
export function nextSlice(lane: Lane): Promise<void> {
  return new Promise((resume) => {
    waiting[lane].push(resume)
    schedule()
  })
}

/** The clock of one run; all its frames share it. */
export class RunClock {
  readonly #deadline: number
  readonly #lane: Lane
  #start: number
  /** Jumps and calls left until the next reading of the clock; the interpreter counts them down. */
  ticks = TICKS_PER_CHECK

  /** `deadlineMs` is a budget of wall clock from now; absent is no limit, and means that the chain itself runs. */
  constructor(deadlineMs: number | undefined) {
    this.#start = performance.now()
    this.#deadline = deadlineMs === undefined ? Number.POSITIVE_INFINITY : this.#start + deadlineMs
    this.#lane = deadlineMs === undefined ? 'chain' : 'query'
  }

  /** Is the slice used up? Throws `limit-exceeded` past the deadline. */
  mustPause(): boolean {
    this.ticks = TICKS_PER_CHECK
    const now = performance.now()
    if (now > this.#deadline) throw new NodeError('limit-exceeded', 'Execution has got timeout out.')
    return isSliceOver(now, this.#start)
  }

  /** Waits for the next slice. */
  async pause(): Promise<undefined> {
    await nextSlice(this.#lane)
    this.#start = performance.now()
  }
}
