/**
 * What an opcode is: its price, its use of the stack, and what it does. The loop has the commonest ones written out
 * again; the traced loop, which is as right and slower, runs everything from here.
 */
import type { Frame } from '../frame.ts'

/** One opcode. The loop charges `fee` and checks the stack before `run`. */
export interface Operation {
  readonly code: number
  /** As the chain's own traces name it (docs/internals/protocol.md#61-opcodes). */
  readonly name: string
  /** Gas whatever the operands; `run` charges the rest. */
  readonly fee: number
  readonly pops: number
  readonly pushes: number
  readonly run: (frame: Frame) => void
}

/** Makes an entry of the table. */
export function operation(
  code: number,
  name: string,
  fee: number,
  pops: number,
  pushes: number,
  run: (frame: Frame) => void,
): Operation {
  return { code, name, fee, pops, pushes, run }
}

/** Jumps that take about as long as reading something of the state that nobody has read before. */
export const STATE_TICKS = 16
