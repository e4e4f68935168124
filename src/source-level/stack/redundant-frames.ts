/** Call sites around the next frame, which say nothing that it does not. */
import type { Place, StackFrame } from './stack-frame.ts'

const byteOf = ({ range, at }: Place): number => at ?? range.start

const isSameLine = (a: Place, b: Place): boolean =>
  a.range.file.positionOf(byteOf(a)).line === b.range.file.positionOf(byteOf(b)).line

const isSameBytes = (a: Place, b: Place): boolean =>
  a.range.start === b.range.start && a.range.end === b.range.end

function isRedundant(frames: readonly StackFrame[], index: number): boolean {
  const [frame, next, afterNext] = frames.slice(index, index + 3)
  const place = frame?.place
  const nextPlace = next?.place
  if (frame === undefined || next === undefined || place === undefined || nextPlace === undefined)
    return false
  const isOfCall = afterNext?.kind === 'return-data-size' || afterNext?.kind === 'account-without-code'
  const last = isOfCall ? afterNext.place : undefined
  if (frame.kind === 'call' && last && isSameBytes(place, last) && isSameLine(place, last)) return true
  if (place.function === 'constructor' && nextPlace.function !== 'constructor') return false
  const isRecursion =
    index > 0 && frame.kind === next.kind && isSameBytes(place, nextPlace) && isSameLine(place, nextPlace)
  if (isRecursion) return false
  return place.range.start <= nextPlace.range.start && nextPlace.range.end <= place.range.end
}

/** The frames without those around their next one. */
export function withoutRedundant(frames: readonly StackFrame[]): StackFrame[] {
  return frames.filter((_, index) => !isRedundant(frames, index))
}
