/** All opcodes of the chain, and tables of them by number. */
import { ARITHMETIC } from './arithmetic.ts'
import { CALLS } from './calls.ts'
import { CONTROL } from './control.ts'
import { ENVIRONMENT } from './environment.ts'
import { MEMORY } from './memory.ts'
import { type OpcodeTable, type Operation, operation } from './operation.ts'
import { STORAGE } from './storage.ts'

/** Every opcode of the chain (docs/internals/protocol.md#61-opcodes). */
export const OPERATIONS: readonly Operation[] = [
  ...ARITHMETIC,
  ...ENVIRONMENT,
  ...MEMORY,
  ...STORAGE,
  ...CONTROL,
  ...CALLS,
]

const PRESENT: ReadonlySet<Operation> = new Set(OPERATIONS)

/** A record that is not one of `OPERATIONS`: the loop and compiled code, which have those written out, run it from here. */
function replacing({ code, name, fee, pops, pushes, run, ...traits }: Operation): Operation {
  const { since, requests, hasDynamicGas, memory } = traits
  return operation(code, name, fee, pops, pushes, run, { since, requests, hasDynamicGas, memory })
}

/** The table of these opcodes; a later one replaces an earlier one of the same number. */
export function opcodeTable(operations: readonly Operation[]): OpcodeTable {
  const table = new Array<Operation | undefined>(256).fill(undefined)
  for (const row of operations) table[row.code] = PRESENT.has(row) ? row : replacing(row)
  return table
}
