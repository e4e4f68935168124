/** The loop of `interpreter.ts` with a tracer called around each opcode; every opcode runs from the table. */
import { opcodeAt } from '../code-analysis.ts'
import { EvmFailure, FAILURE, fail } from '../failure.ts'
import type { Frame } from '../frame.ts'
import type { OpcodeTable, Operation } from '../opcodes/operation.ts'
import type { Tracer } from './tracer.ts'

/** The gas that the failing opcode required, as far as it was computed. */
function costOfFailure(frame: Frame, row: Operation | undefined, gasBefore: number): number {
  const spent = gasBefore - frame.gas
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(spent + frame.lacking, row?.fee ?? 0))
}

/** Runs one opcode. Throws `EvmFailure` when it ends the frame with a failure. */
export function runOne(frame: Frame, row: Operation | undefined): void {
  if (row === undefined) fail(FAILURE.INVALID_OPCODE)
  if (frame.sp < row.pops) fail(FAILURE.STACK_UNDERFLOW)
  if (frame.sp > row.room) fail(FAILURE.STACK_OVERFLOW)
  if (row.fee > frame.gas) fail(FAILURE.OUT_OF_GAS)
  frame.gas -= row.fee
  row.run(frame)
}

/**
 * Runs until `frame.status` is no longer `running`, or the clock requires a pause.
 * Throws `EvmFailure` when the code fails and `limit-exceeded` when time is up.
 */
export function advanceTraced(frame: Frame, table: OpcodeTable, tracer: Tracer): void {
  const { clock } = frame.session
  const { code } = frame.analysis
  for (;;) {
    const opcode = opcodeAt(code, frame.pc)
    const row = table[opcode]
    const gasBefore = frame.gas
    tracer.step?.(frame, opcode)
    try {
      runOne(frame, row)
    } catch (error) {
      if (error instanceof EvmFailure) {
        tracer.stepped?.(frame, costOfFailure(frame, row, gasBefore), error.reason)
      }
      throw error
    }
    const cost = gasBefore - frame.gas + frame.passedGas
    tracer.stepped?.(frame, cost, frame.reverted ? FAILURE.REVERT : undefined)
    frame.pc++
    if (frame.status !== 'running') return
    if (--clock.ticks <= 0 && clock.mustPause()) return
  }
}
