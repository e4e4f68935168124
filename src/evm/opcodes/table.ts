/** All opcodes by number, as flat arrays that the loop indexes. */
import type { Frame } from '../frame.ts'
import type { RuleSet } from '../message.ts'
import { vmRules } from '../rules.ts'
import { ARITHMETIC } from './arithmetic.ts'
import { CALLS } from './calls.ts'
import { CONTROL } from './control.ts'
import { SURROUNDINGS } from './environment.ts'
import { MEMORY } from './memory.ts'
import type { Operation } from './operation.ts'
import { STORAGE } from './storage.ts'

const STACK_LIMIT = 1024

/** The opcodes of one rule set, each array indexed by opcode. */
export interface OpcodeTable {
  /** Gas; -1 where there is no such opcode. */
  readonly fees: Int32Array
  /** Words that must be on the stack before. */
  readonly needs: Int32Array
  /** Words that may at most be on the stack before. */
  readonly room: Int32Array
  readonly run: readonly ((frame: Frame) => void)[]
  readonly names: readonly (string | undefined)[]
}

const OPERATIONS: readonly Operation[] = [
  ...ARITHMETIC,
  ...SURROUNDINGS,
  ...MEMORY,
  ...STORAGE,
  ...CONTROL,
  ...CALLS,
]

function absent(): void {
  throw new Error('the loop refuses this opcode before it runs')
}

function makeTable(ruleSet: RuleSet): OpcodeTable {
  const table = {
    fees: new Int32Array(256).fill(-1),
    needs: new Int32Array(256),
    room: new Int32Array(256).fill(STACK_LIMIT),
    run: new Array<(frame: Frame) => void>(256).fill(absent),
    names: new Array<string | undefined>(256).fill(undefined),
  }
  const { absentOpcodes } = vmRules(ruleSet)
  for (const { code, name, fee, pops, pushes, run } of OPERATIONS) {
    if (absentOpcodes.includes(code)) continue
    table.fees[code] = fee
    table.needs[code] = pops
    table.room[code] = STACK_LIMIT - Math.max(pushes - pops, 0)
    table.run[code] = run
    table.names[code] = name
  }
  return table
}

const TABLES: Record<RuleSet, OpcodeTable> = {
  chain: makeTable('chain'),
  petersburg: makeTable('petersburg'),
}

/** The opcodes of a rule set; the same record each time. */
export function opcodeTable(ruleSet: RuleSet): OpcodeTable {
  return TABLES[ruleSet]
}
