/** Stretches of code that are charged and checked as one: up to a jump, or an opcode that reads or charges gas itself. */
import { opcodeAt, sizeOf } from '../code-analysis.ts'
import type { OpcodeTable } from '../opcodes/operation.ts'

/** What a stretch needs before it starts; heights are relative to the stack pointer at its start. */
export interface Segment {
  readonly gas: number
  /** How many words it takes from below the stack pointer. */
  readonly depth: number
  /** How many words the stack grows by at most. */
  readonly growth: number
  /** The program counter behind it. */
  readonly end: number
}

/** Opcodes of a segment at most, so that to look through it takes no longer than to compile them. */
const MAX_OPCODES = 256

/** The stretch that starts at `start`; empty where an opcode is for the interpreter. */
export function segmentAt(code: Uint8Array, start: number, table: OpcodeTable): Segment {
  let [pc, gas, depth, growth, height] = [start, 0, 0, 0, 0]
  for (let opcodes = 0; opcodes < MAX_OPCODES; opcodes++) {
    const opcode = opcodeAt(code, pc)
    const row = table[opcode]
    if (row === undefined || row.compiled.flow === 'interpret') break
    gas += row.fee
    depth = Math.max(depth, row.pops - height)
    height += row.pushes - row.pops
    growth = Math.max(growth, height)
    pc += sizeOf(opcode)
    if (row.compiled.flow !== 'next') break
  }
  return { gas, depth, growth, end: pc }
}
