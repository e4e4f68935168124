/** All opcodes by number, as flat arrays that the interpreter indexes. */
import type { Frame } from '../frame.ts'
import { ARITHMETIC } from './arithmetic.ts'
import { CALLS } from './calls.ts'
import { CONTROL } from './control.ts'
import { ENVIRONMENT } from './environment.ts'
import { MEMORY } from './memory.ts'
import type { Operation } from './operation.ts'
import { STORAGE } from './storage.ts'

/** Words that the stack of a frame holds. */
export const STACK_LIMIT = 1024

/** A set of opcodes; each array is indexed by opcode. */
export interface OpcodeTable {
  /** Gas; -1 where there is no such opcode. */
  readonly fees: Int32Array
  /** Words that must be on the stack before. */
  readonly needs: Int32Array
  /** Words that it leaves in their place. */
  readonly pushes: Int32Array
  /** Words that may at most be on the stack before. */
  readonly room: Int32Array
  readonly run: readonly ((frame: Frame) => void)[]
  /**
   * The opcode itself where its row is that of `OPERATIONS`, from which the interpreter and the compiler have opcodes
   * written out; `REPLACED` where it is another, which runs from the table.
   */
  readonly forms: Uint8Array
  readonly names: readonly (string | undefined)[]
}

/** Every opcode of the chain (docs/internals/protocol.md#61-opcodes). */
export const OPERATIONS: readonly Operation[] = [
  ...ARITHMETIC,
  ...ENVIRONMENT,
  ...MEMORY,
  ...STORAGE,
  ...CONTROL,
  ...CALLS,
]

/** The form of an opcode whose row is not that of `OPERATIONS`; no opcode has this number. */
export const REPLACED = 0x0c

const PRESENT_ROWS: ReadonlyMap<number, Operation> = new Map(OPERATIONS.map((row) => [row.code, row]))

function absent(): void {
  throw new Error('an absent opcode is refused before it runs')
}

/** The table of these opcodes; a later one replaces an earlier one of the same number. */
export function opcodeTable(operations: readonly Operation[]): OpcodeTable {
  const table = {
    fees: new Int32Array(256).fill(-1),
    needs: new Int32Array(256),
    pushes: new Int32Array(256),
    room: new Int32Array(256).fill(STACK_LIMIT),
    run: new Array<(frame: Frame) => void>(256).fill(absent),
    forms: new Uint8Array(256).fill(REPLACED),
    names: new Array<string | undefined>(256).fill(undefined),
  }
  for (const row of operations) {
    const { code, name, fee, pops, pushes, run } = row
    table.forms[code] = row === PRESENT_ROWS.get(code) ? code : REPLACED
    table.fees[code] = fee
    table.needs[code] = pops
    table.pushes[code] = pushes
    table.room[code] = STACK_LIMIT - Math.max(pushes - pops, 0)
    table.run[code] = run
    table.names[code] = name
  }
  return table
}
