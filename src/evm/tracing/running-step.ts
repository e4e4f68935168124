/** The step that runs: one object serves all steps of a transaction. */
import { CHAIN_RULES } from '../rules.ts'
import type { ListedSlots, Step } from './step.ts'
import type { FrameView } from './tracer.ts'

/** Characters that take as long to write as a step takes to run; memory may be megabytes of text in every step. */
export const CHARACTERS_PER_TICK = 4096

/** A step whose members recorders set. */
export class RunningStep implements Step {
  frame: FrameView
  opcode = 0
  name: string | undefined
  pc = 0
  gas = 0
  writesMemory = false
  cost = 0
  refund = 0
  failure: string | undefined
  slots: ListedSlots | undefined

  constructor(frame: FrameView) {
    this.frame = frame
  }

  /** Takes what stands in the frame before its opcode runs. */
  begin(frame: FrameView, opcode: number): void {
    this.frame = frame
    this.opcode = opcode
    this.pc = frame.pc
    this.gas = frame.gas
    this.writesMemory = CHAIN_RULES.opcodes[opcode]?.memory?.access === 'write'
  }
}
