/** The step that runs: one object serves all steps of a transaction. */
import type { ListedSlots, Step } from './step.ts'
import type { FrameView } from './tracer.ts'

export const SLOAD = 0x54
export const SSTORE = 0x55
/** Opcodes that write to memory; an expansion alone shows in the number of words. */
const WRITES_MEMORY: ReadonlySet<number> = new Set([
  0x37, 0x39, 0x3c, 0x3e, 0x52, 0x53, 0x5e, 0xf1, 0xf2, 0xf4, 0xfa,
])

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
    this.writesMemory = WRITES_MEMORY.has(opcode)
  }
}
