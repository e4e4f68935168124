/** Whose turn it is: between two looks of the event loop at its sockets and timers, long runs together get one slice. */

/** Milliseconds that long runs may keep the event loop to themselves. */
const SLICE_MS = 2

/** What a run is for: building and checking blocks, or answering somebody. Neither lane waits for all of the other. */
export type Lane = 'chain' | 'query'

/** Who waits for a slice; one process has one event loop, and so one queue. */
const waiting: Readonly<Record<Lane, (() => void)[]>> = { chain: [], query: [] }
let preferred: Lane = 'chain'
let isScheduled = false
/** When the running slice began; `undefined` when nothing long has run since the event loop's last turn. */
let sliceStart: number | undefined

/** Runs once a turn of the event loop as long as somebody waits, and hands the next slice to one of them. */
function turn(): void {
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
  setImmediate(turn)
}

/**
 * Is the slice of this turn used up, by whomever? `runStart` is when the asking run began or was resumed, on the clock
 * of `performance.now()`: with it begins the slice of a turn in which nobody asked before.
 */
export function isSliceOver(now: number, runStart: number): boolean {
  if (sliceStart === undefined) {
    sliceStart = runStart
    schedule()
  }
  return now - sliceStart >= SLICE_MS
}

/** Resolves when all sockets and timers that were ready had their turn, and those that waited longer their slices. */
export function nextSlice(lane: Lane): Promise<void> {
  return new Promise((resume) => {
    waiting[lane].push(resume)
    schedule()
  })
}
