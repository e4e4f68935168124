/** Moves through an execution: where each of them ends. */
import type { Execution } from './execution.ts'
import type { Statement } from './function-scope.ts'
import { isShown, shownAround } from './shown-frames.ts'
import type { SourceFrame, SourceSteps } from './source-steps.ts'

/** A move: to the next statement, also of a function that is called; of this function or its callers; to the caller; one instruction; to the next breakpoint. */
export type MoveKind = 'into' | 'over' | 'out' | 'instruction' | 'continue'

/** Which way. */
export type Direction = 'forward' | 'back'

/** Why the execution stands where it does. */
export type StopReason = 'step' | 'breakpoint' | 'event' | 'failure' | 'start' | 'end'

/** At what `continue` ends, beside the ends of the execution. */
export interface Breakpoints {
  /** Does a statement begin at one? */
  isAt(statement: Statement): boolean
  /** Steps of events, ascending. */
  readonly events: readonly number[]
  /** Last steps of messages that failed, ascending. */
  readonly failures: readonly number[]
}

/** Where a move ends. */
export interface Moved {
  readonly step: number
  readonly reason: StopReason
}

/** What moves are made in. */
export interface MoveParts {
  readonly execution: Execution
  readonly steps: SourceSteps
}

/** Stops between two pauses of a search. */
const PAUSE_STOPS = 16_384

/** A search, which pauses at each `yield`: a long execution has millions of stops. */
export type Search<T> = Generator<void, T, void>

function isWithin(outer: SourceFrame, inner: SourceFrame): boolean {
  let frame: SourceFrame | undefined = inner
  while (frame !== undefined && frame.depth > outer.depth) frame = frame.parent
  return frame?.id === outer.id
}

/** The nearest stop that a test accepts, in a direction from a step on, which does not count. */
function* nearestStop(
  steps: SourceSteps,
  from: number,
  direction: Direction,
  accepts: (index: number) => boolean,
): Search<number | undefined> {
  const last = steps.lastUpTo(from)
  const isAtStop = last >= 0 && steps.stepAt(last) === from
  const by = direction === 'forward' ? 1 : -1
  const first = direction === 'back' && !isAtStop ? last : last + by
  for (let index = first; index >= 0 && index < steps.length; index += by) {
    if (accepts(index)) return steps.stepAt(index)
    if (index % PAUSE_STOPS === 0) yield
  }
  return undefined
}

/** The first step after one from which on a frame that a test accepts is the innermost one. */
function* nextChange(
  steps: SourceSteps,
  from: number,
  accepts: (frame: SourceFrame) => boolean,
): Search<number | undefined> {
  for (let index = steps.lastChangeUpTo(from) + 1; index < steps.changes; index++) {
    const { step, frame } = steps.changeAt(index)
    if (frame !== undefined && accepts(frame)) return step
    if (index % PAUSE_STOPS === 0) yield
  }
  return undefined
}

/** The nearest of ascending steps. */
function nearestOf(list: readonly number[], from: number, direction: Direction): number | undefined {
  return direction === 'forward' ? list.find((step) => step > from) : list.findLast((step) => step < from)
}

function edge({ execution }: MoveParts, direction: Direction): Moved {
  return direction === 'forward'
    ? { step: Math.max(0, execution.length - 1), reason: 'end' }
    : { step: 0, reason: 'start' }
}

function toStop(parts: MoveParts, direction: Direction, step: number | undefined): Moved {
  return step === undefined ? edge(parts, direction) : { step, reason: 'step' }
}

function* over(parts: MoveParts, from: number, direction: Direction): Search<Moved> {
  const { steps } = parts
  const own = shownAround(steps, from)
  const isOwn = (index: number): boolean => {
    if (own === undefined) return true
    if (steps.depthAt(index) > own.depth) return false
    const frame = steps.at(index)?.frame
    return frame !== undefined && isWithin(frame, own)
  }
  return toStop(parts, direction, yield* nearestStop(steps, from, direction, isOwn))
}

function* out(parts: MoveParts, from: number, direction: Direction): Search<Moved> {
  const { steps } = parts
  const own = shownAround(steps, from)
  let caller = own?.parent
  while (caller !== undefined && !isShown(caller)) caller = caller.parent
  if (own === undefined || caller === undefined) return edge(parts, direction)
  if (direction === 'back') return { step: own.entry - 1, reason: 'step' }
  const outer = caller
  const found = yield* nextChange(steps, from, (frame) => isWithin(frame, outer))
  return toStop(parts, direction, found)
}

function* toBreakpoint(
  parts: MoveParts,
  from: number,
  direction: Direction,
  breakpoints: Breakpoints,
): Search<Moved> {
  const { steps } = parts
  const line = yield* nearestStop(steps, from, direction, (index) => {
    const statement = steps.statementAt(index)
    return statement !== undefined && breakpoints.isAt(statement)
  })
  const found: Moved[] = []
  const add = (step: number | undefined, reason: StopReason) => {
    if (step !== undefined) found.push({ step, reason })
  }
  add(line, 'breakpoint')
  add(nearestOf(breakpoints.events, from, direction), 'event')
  add(nearestOf(breakpoints.failures, from, direction), 'failure')
  const isNearer = (a: Moved, b: Moved) => (direction === 'forward' ? a.step < b.step : a.step > b.step)
  return (
    found.reduce<Moved | undefined>((best, one) => (best && !isNearer(one, best) ? best : one), undefined) ??
    edge(parts, direction)
  )
}

/** Where a move from a step ends. */
export function* moved(
  parts: MoveParts,
  from: number,
  kind: MoveKind,
  direction: Direction,
  breakpoints: Breakpoints,
): Search<Moved> {
  switch (kind) {
    case 'instruction': {
      const step = from + (direction === 'forward' ? 1 : -1)
      return step < 0 || step >= parts.execution.length ? edge(parts, direction) : { step, reason: 'step' }
    }
    case 'into':
      return toStop(parts, direction, yield* nearestStop(parts.steps, from, direction, () => true))
    case 'over':
      return yield* over(parts, from, direction)
    case 'out':
      return yield* out(parts, from, direction)
    case 'continue':
      return yield* toBreakpoint(parts, from, direction, breakpoints)
  }
}
