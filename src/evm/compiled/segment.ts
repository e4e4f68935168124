/** Stretches of code that are charged and checked as one: up to a jump, or an opcode that reads or charges gas itself. */
import type { OpcodeTable } from '../opcodes/table.ts'

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

const PUSH1 = 0x60
const PUSH32 = 0x7f

/** Bytes of an opcode with its push data. */
export function sizeOf(opcode: number): number {
  return opcode >= PUSH1 && opcode <= PUSH32 ? opcode - PUSH1 + 2 : 1
}

/** How the compiler treats an opcode. */
export type Treatment = 'inline' | 'run' | 'gas' | 'jump' | 'interpret'

/** By form, so that `REPLACED` is for the interpreter. */
function treatments(): readonly Treatment[] {
  const all = new Array<Treatment>(256).fill('interpret')
  const set = (treatment: Treatment, ...ranges: readonly (readonly [number, number])[]) => {
    for (const [from, to] of ranges) for (let op = from; op <= to; op++) all[op] = treatment
  }
  // Arithmetic, comparison, bits; values of the call; stack and memory.
  set(
    'inline',
    [0x01, 0x09],
    [0x0b, 0x0b],
    [0x10, 0x1d],
    [0x30, 0x30],
    [0x33, 0x36],
    [0x38, 0x38],
    [0x3d, 0x3d],
  )
  set('inline', [0x50, 0x53], [0x58, 0x59], [0x5b, 0x5b], [0x5f, 0x9f])
  // Values that neither cost more than their fee nor take long.
  set('run', [0x32, 0x32], [0x3a, 0x3a], [0x40, 0x46], [0x48, 0x48])
  // Charges or reads gas, takes long, or ends the frame.
  set('gas', [0x00, 0x00], [0x0a, 0x0a], [0x20, 0x20], [0x31, 0x31], [0x37, 0x37], [0x39, 0x39], [0x3b, 0x3c])
  set('gas', [0x3e, 0x3f], [0x47, 0x47], [0x54, 0x55], [0x5a, 0x5a], [0x5c, 0x5e], [0xa0, 0xa4], [0xf0, 0xf5])
  set('gas', [0xfa, 0xfa], [0xfd, 0xfd], [0xff, 0xff])
  set('jump', [0x56, 0x57])
  return all
}

const TREATMENTS = treatments()

/** How an opcode of this table is treated: one with another row than the compiler knows is left to the interpreter. */
export function treatmentOf(opcode: number, { forms }: OpcodeTable): Treatment {
  return TREATMENTS[forms[opcode] as number] as Treatment
}

/** The stretch that starts at `start`; empty where an opcode is for the interpreter. */
export function segmentAt(code: Uint8Array, start: number, table: OpcodeTable): Segment {
  let [pc, gas, depth, growth, height] = [start, 0, 0, 0, 0]
  for (let opcodes = 0; opcodes < MAX_OPCODES; opcodes++) {
    const opcode = pc < code.length ? (code[pc] as number) : 0
    const treatment = treatmentOf(opcode, table)
    if (treatment === 'interpret') break
    gas += table.fees[opcode] as number
    depth = Math.max(depth, (table.needs[opcode] as number) - height)
    height += (table.pushes[opcode] as number) - (table.needs[opcode] as number)
    growth = Math.max(growth, height)
    pc += sizeOf(opcode)
    if (treatment !== 'inline' && treatment !== 'run') break
  }
  return { gas, depth, growth, end: pc }
}
