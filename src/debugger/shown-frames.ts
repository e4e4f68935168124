/** The call stack at a step as it is shown: functions of the sources, and contracts without sources. */
import type { Hex } from '../encoding/hex.ts'
import type { Execution } from './execution.ts'
import type { FrameAt } from './frame-variables.ts'
import type { SourceFrame, SourceSteps } from './source-steps.ts'

/** A frame of the call stack; what is not known is absent. */
export interface ShownFrame {
  readonly contract?: string
  readonly function?: string
  readonly file?: string
  /** From 1, as columns. The end is behind the last character. */
  readonly line?: number
  readonly column?: number
  readonly endLine?: number
  readonly endColumn?: number
  /** Whose storage the code uses. */
  readonly address?: Hex
}

/** Is a frame shown, and not code that the compiler generated around functions? */
export function isShown({ function: called, mapped }: SourceFrame): boolean {
  return called !== undefined || mapped === undefined
}

/** The innermost frame that is shown at a step. */
export function shownAround(steps: SourceSteps, step: number): SourceFrame | undefined {
  let frame = steps.frameAt(step)
  while (frame !== undefined && !isShown(frame)) frame = frame.parent
  return frame ?? steps.frameAt(step)
}

/** The frames that are open at a step, innermost first, each with its own step and statement. */
export function framesAround(steps: SourceSteps, step: number): FrameAt[] {
  const found: FrameAt[] = []
  let at = step
  for (let frame = steps.frameAt(step); frame !== undefined; frame = frame.parent) {
    if (isShown(frame) || (frame.parent === undefined && found.length === 0)) {
      found.push({ frame, step: at, statement: steps.lastOf(frame, at)?.statement })
    }
    at = frame.entry - 1
  }
  return found
}

/** A frame as it is shown. */
export function shownFrame({ frame, statement }: FrameAt, execution: Execution): ShownFrame {
  const { mapped, message } = frame
  const address = execution.parties(message)?.address ?? message.to
  const common = { ...(mapped && { contract: mapped.code.name }), ...(address && { address }) }
  const around = statement?.file.functionAround(statement)
  // Where no statement has begun yet, the function begins.
  const range = statement ?? frame.function?.range
  const name = around?.kind === 'modifier' ? around.name : (frame.function ?? around)?.name
  if (range === undefined) return { ...common, ...(name !== undefined && { function: name }) }
  const start = range.file.positionOf(range.start)
  const end = range.file.positionOf(statement === undefined ? range.start : range.end)
  return {
    ...common,
    ...(name !== undefined && { function: name }),
    file: range.file.path,
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
  }
}
