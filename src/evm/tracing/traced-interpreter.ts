/** The loop of `interpreter.ts` with a tracer called around each opcode; every opcode runs from the table. */
import { EvmFailure, FAILURE, fail } from '../failure.ts'
import type { Frame } from '../frame.ts'
import type { OpcodeTable } from '../opcodes/table.ts'
import type { Tracer } from './tracer.ts'

/** The gas that the failing opcode required, as far as it was computed. */
function costOfFailure(frame: Frame, opcode: number, gasBefore: number, { fees }: OpcodeTable): number {
  const spent = gasBefore - frame.gas
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(spent + frame.lacking, fees[opcode] as number, 0))
}

/** Runs one opcode. Throws `EvmFailure` when it ends the frame with a failure. */
function runOne(frame: Frame, opcode: number, { fees, needs, room, run }: OpcodeTable): void {
  const fee = fees[opcode] as number
  if (fee < 0) fail(FAILURE.INVALID_OPCODE)
  if (frame.sp < (needs[opcode] as number)) fail(FAILURE.STACK_UNDERFLOW)
  if (frame.sp > (room[opcode] as number)) fail(FAILURE.STACK_OVERFLOW)
  if (fee > frame.gas) fail(FAILURE.OUT_OF_GAS)
  frame.gas -= fee
  ;(run[opcode] as (frame: Frame) => void)(frame)
}

/**
 * Runs until `frame.status` is no longer `running`, or the clock requires a pause.
 * Throws `EvmFailure` when the code fails and `limit-exceeded` when time is up.
 */
export function advanceTraced(frame: Frame, table: OpcodeTable, tracer: Tracer): void {
  const { clock } = frame.session
  const { code } = frame.analysis
  for (;;) {
    const opcode = frame.pc < code.length ? (code[frame.pc] as number) : 0
    const gasBefore = frame.gas
    tracer.step?.(frame, opcode)
    try {
      runOne(frame, opcode, table)
    } catch (error) {
      if (error instanceof EvmFailure) {
        tracer.stepped?.(frame, costOfFailure(frame, opcode, gasBefore, table), error.reason)
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
