/**
 * Reverts without an entry in the map: solc 0.6.3 to 0.6.8 names no source for them
 * (https://github.com/ethereum/solidity/issues/9006). The nearest place is given instead.
 */
import type { Instruction } from '../code-map.ts'
import { isSameRange } from '../source-file.ts'
import { type MessageRun, OP } from './message-run.ts'
import { constructorPlace, type Place, placeOf, type StackFrame, startOf } from './stack-frame.ts'

/** May the last instruction be such a revert? */
export function mayBeUnmapped(run: MessageRun): boolean {
  return run.code.isSince(0, 6, 3) && !run.code.isSince(0, 7, 0) && run.last?.opcode === OP.REVERT
}

const isRevert = (text: string | undefined): boolean => /require|revert/.test(text ?? '')

/** The next line that is not empty, if only that one holds `require` or `revert`. */
function corrected(place: Place): Place {
  const { file, start } = place.range
  const { line } = file.positionOf(place.at ?? start)
  if (isRevert(file.lineText(line))) return place
  for (let next = line + 1; next <= file.lineCount; next++) {
    const text = file.lineText(next) ?? ''
    if (text.trim() === '') continue
    return isRevert(text) ? { ...place, at: file.lineStart(next) + text.search(/\S/) } : place
  }
  return place
}

const nearest = (place: Place): StackFrame => ({ kind: 'revert', place, isNearest: true })

/** With an instruction behind the revert: that one, or the one before, whichever is in the same function. */
function besideNext(
  run: MessageRun,
  before: Instruction | undefined,
  next: Instruction,
): StackFrame | undefined {
  const { code } = run
  const placeBefore = placeOf(code, before?.range)
  const placeNext = placeOf(code, next.range)
  // A `require`: its condition and what follows have one range.
  if (placeBefore && placeNext && isSameRange(placeBefore.range, placeNext.range)) return nearest(placeNext)
  const place = placeBefore ?? placeNext
  return place && nearest(corrected(place))
}

/** The nearest place of a revert within a function. */
export function unmappedRevert(run: MessageRun): StackFrame | undefined {
  const index = run.lastMapped()
  const before = index === undefined ? undefined : run.at(index)
  const next = run.last && run.code.at(run.last.pc + 1)
  // INVALID stands behind the code, in front of data.
  if (next !== undefined && next.opcode !== OP.INVALID) return besideNext(run, before, next)
  if (before === undefined) return undefined
  const place = placeOf(run.code, before.range)
  if (place !== undefined) return nearest(corrected(place))
  // Behind a revert that always happens the compiler emits nothing.
  const start = run.isCreation ? constructorPlace(run.code) : undefined
  return start && nearest(start)
}

/** The nearest place of a revert before any function was entered: in the fallback function, or in `receive`. */
export function unmappedRevertBeforeFunction(run: MessageRun): StackFrame | undefined {
  const found = unmappedRevert(run)
  if (found !== undefined) return found
  const { contract } = run.code
  const isEmpty = run.message.input.length === 0
  const declared = isEmpty && contract?.receive !== undefined ? contract.receive : contract?.fallback
  return declared && nearest(corrected(startOf(run.code, declared)))
}
