/** The loop of `interpreter.ts` with a count of each instruction; every opcode runs from the table. */
import { opcodeAt } from '../code-analysis.ts'
import type { Frame } from '../frame.ts'
import { TICKS_PER_RUN } from '../interpreter.ts'
import type { OpcodeTable } from '../opcodes/operation.ts'
import type { InstructionCounts } from './instruction-counts.ts'
import { runOne } from './traced-interpreter.ts'

const JUMPI = 0x57

/**
 * Runs until `frame.status` is no longer `running`, or the clock requires a pause.
 * Throws `EvmFailure` when the code fails and `limit-exceeded` when time is up.
 */
export function advanceCounted(frame: Frame, table: OpcodeTable, counts: InstructionCounts): void {
  const { clock } = frame.session
  const { code } = frame.analysis
  let { runs } = counts
  for (;;) {
    const { pc } = frame
    const opcode = opcodeAt(code, pc)
    if (pc >= runs.length) runs = counts.reach(pc)
    runs[pc] = (runs[pc] ?? 0) + 1
    runOne(frame, table[opcode])
    // A jump leaves the pc in front of its destination.
    if (opcode === JUMPI && frame.pc !== pc) counts.jumps[pc] = (counts.jumps[pc] ?? 0) + 1
    frame.pc++
    if (frame.status !== 'running') return
    clock.ticks -= TICKS_PER_RUN
    if (clock.ticks <= 0 && clock.mustPause()) return
  }
}
